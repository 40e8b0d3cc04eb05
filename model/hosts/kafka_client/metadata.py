"""What a broker says of its cluster to clients: the question, and the answer as values. Nothing is sent here."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import METADATA
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnsupportedVersionError
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import ZERO_ID, topic_id_text

NOBODY = -1
_BROKER_HEARTBEAT = 63
"""Only controllers of KRaft hear it; brokers' listeners do not offer it. Controllers know no Metadata (KIP-919)."""
NEWEST_METADATA = 12
"""The first whose topic ids can be relied on (3.1), and the last without errors that only clients of 4.0 know."""


class PartitionPlace(msgspec.Struct, frozen=True):
    """Where a partition is."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader_epoch: int = -1
    """-1 where the broker is older than 2.1."""
    offline: tuple[int, ...] = ()
    """Replicas on brokers that are down, or in log folders that failed (KIP-112)."""
    elr: tuple[int, ...] | None = None
    """Eligible leader replicas (KIP-966); None where nobody was asked, or told."""
    last_known_elr: tuple[int, ...] | None = None


class Metadata(msgspec.Struct, frozen=True):
    """One answer."""

    brokers: Mapping[int, tuple[str, int]] = {}
    """Host and port of each live broker, on the listener that was asked."""
    racks: Mapping[int, str] = {}
    cluster_id: str | None = None
    topic_ids: Mapping[str, str] = {}
    controller: int = NOBODY
    partitions: Mapping[TopicPartition, PartitionPlace] = {}

    def leaders(self) -> Iterator[tuple[TopicPartition, int]]:
        """Every partition with its leader, NOBODY for none."""
        return ((partition, place.leader) for partition, place in self.partitions.items())


def metadata_request(connection: Connection, topics: Sequence[str] | None = None) -> Entity:
    """Asks for these topics, or all; creates none. Raises UnsupportedVersionError, saying so at a controller's port."""
    if METADATA not in connection.versions and _BROKER_HEARTBEAT in connection.versions:
        raise UnsupportedVersionError("this is a controller's listener: name a broker's")
    module = shapes(METADATA, connection.newest(METADATA, NEWEST_METADATA), "request")
    named = (shaped(module.MetadataRequestTopic, name=topic, topic_id=ZERO_ID) for topic in topics or ())
    return shaped(
        module.MetadataRequest,
        topics=None if topics is None else tuple(named),
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


def metadata_of(response: Entity) -> Metadata:
    """The values of a MetadataResponse v1 to v12."""
    return Metadata(
        brokers={int(each.node_id): (each.host, int(each.port)) for each in response.brokers},
        racks={int(each.node_id): str(each.rack) for each in response.brokers if each.rack is not None},
        cluster_id=getattr(response, "cluster_id", None),
        topic_ids={
            str(topic.name): text
            for topic in response.topics
            if (text := topic_id_text(getattr(topic, "topic_id", None))) is not None
        },
        controller=int(response.controller_id),
        partitions={
            TopicPartition(str(topic.name), int(each.partition_index)): PartitionPlace(
                leader=int(each.leader_id),
                replicas=tuple(map(int, each.replica_nodes)),
                isr=tuple(map(int, each.isr_nodes)),
                leader_epoch=int(getattr(each, "leader_epoch", -1)),
                offline=tuple(map(int, getattr(each, "offline_replicas", ()))),
            )
            for topic in response.topics
            for each in topic.partitions
        },
    )
