"""What a broker says of its cluster to clients, as values. Nothing is asked here."""

from collections.abc import Iterator, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.hosts.wire.messages import Entity

NOBODY = -1


class PartitionPlace(msgspec.Struct, frozen=True):
    """Where a partition is."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class Metadata(msgspec.Struct, frozen=True):
    """One answer."""

    brokers: Mapping[int, tuple[str, int]] = {}
    """Host and port of each live broker, on the listener that was asked."""
    controller: int = NOBODY
    partitions: Mapping[TopicPartition, PartitionPlace] = {}

    def leaders(self) -> Iterator[tuple[TopicPartition, int]]:
        """Every partition with its leader, NOBODY for none."""
        return ((partition, place.leader) for partition, place in self.partitions.items())


def metadata_of(response: Entity) -> Metadata:
    """The values of a MetadataResponse v1 to v9."""
    return Metadata(
        brokers={int(each.node_id): (each.host, int(each.port)) for each in response.brokers},
        controller=int(response.controller_id),
        partitions={
            TopicPartition(str(topic.name), int(each.partition_index)): PartitionPlace(
                leader=int(each.leader_id),
                replicas=tuple(map(int, each.replica_nodes)),
                isr=tuple(map(int, each.isr_nodes)),
            )
            for topic in response.topics
            for each in topic.partitions
        },
    )
