"""What a consumer's fetch asks and brings. Nothing is sent here, and no record is read.

Source: Fetch as consumers send it (3.9), without a fetch session (KIP-227).
"""

import datetime
from collections.abc import Iterator, Mapping
from itertools import groupby

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.list_offsets import CONSUMER
from model.hosts.wire.api_keys import FETCH
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

NEWEST_FETCH = 11
"""Version 12 is compact without a need, and from 13 on topics have ids."""


MOST_BYTES = (1 << 31) - 1


def fetch_request(
    connection: Connection,
    offsets: Mapping[TopicPartition, int],
    partition_bytes: int,
    *,
    wait_ms: int = 0,
    min_bytes: int = 0,
    response_bytes: int = MOST_BYTES,
) -> Entity:
    """The records from these offsets on, at most so many bytes of each partition, or one batch if that is larger.

    Waits for `min_bytes` so long; for what is there already if nothing is said.
    """
    module = shapes(FETCH, connection.newest(FETCH, NEWEST_FETCH), "request")
    topics = tuple(
        shaped(
            module.FetchTopic,
            topic=topic,
            partitions=tuple(
                shaped(
                    module.FetchPartition,
                    partition=partition.partition,
                    fetch_offset=offsets[partition],
                    partition_max_bytes=partition_bytes,
                )
                for partition in group
            ),
        )
        for topic, group in groupby(sorted(offsets), key=lambda partition: partition.topic)
    )
    return shaped(
        module.FetchRequest,
        replica_id=CONSUMER,
        max_wait=datetime.timedelta(milliseconds=wait_ms),
        min_bytes=min_bytes,
        max_bytes=response_bytes,
        topics=topics,
        forgotten_topics_data=(),
        rack_id="",
    )


def fetched_records(response: Entity) -> Iterator[tuple[TopicPartition, str, bytes]]:
    """Partition, Kafka's name of the error, and whole batches, of which the last may be cut short."""
    for topic in response.responses:
        for data in topic.partitions:
            partition = TopicPartition(str(topic.topic), int(data.partition_index))
            yield partition, error_name(data.error_code), bytes(data.records or b"")
