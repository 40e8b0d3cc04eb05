"""Where a fact of the cluster stands: in a znode or, on KRaft, in the metadata that its controllers keep.

Places of KRaft are those of Kafka's metadata shell, as far as brokers tell what is there (`model.sources.kafka.tree`).
"""

import re
from collections.abc import Mapping
from typing import Final

from model.cluster.kafka_generations import KafkaGeneration

_PLACES: Final[Mapping[re.Pattern[str], str]] = {
    re.compile(pattern): place
    for pattern, place in {
        r"/brokers/ids/(\d+)": r"/brokers/\1/registration",
        r"/brokers/topics/([^/]+)": r"/topics/\1",
        r"/brokers/topics/([^/]+)/partitions": r"/topics/\1",
        r"/brokers/topics/([^/]+)/partitions/(\d+)(?:/state)?": r"/topics/\1/\2/data",
        r"/admin/delete_topics/([^/]+)": r"/topics/\1",
        r"/admin/(?:reassign_partitions|preferred_replica_election)": "/topics",
        r"/config/(.+)": r"/configs/\1",
        r"/controller(?:_epoch)?": "/metadataQuorum/leader",
        r"/cluster/id": "/clusterId",
    }.items()
}


def metadata_place(path: str) -> str:
    """Where KRaft has what ZooKeeper has in this znode; what is no path of ZooKeeper's stays as it is."""
    return next((found.expand(place) for pattern, place in _PLACES.items() if (found := pattern.fullmatch(path))), path)


def kept_in(generation: KafkaGeneration, znode: str) -> tuple[str, str]:
    """What a place is called where it is shown, and the place."""
    return ("metadata", metadata_place(znode)) if generation == "kraft" else ("znode", znode)
