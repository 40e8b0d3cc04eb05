"""Small clusters for tests, made the way a source makes them: by replaying records."""

from collections.abc import Iterable, Sequence

import msgspec

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import GroupImage
from model.cluster.records import (
    BrokerRegistered,
    ClusterRecord,
    ControllerElected,
    ControllerEpochChanged,
    MemberJoined,
    PartitionClaimed,
    PartitionState,
    PartitionStatesWritten,
    TopicAssigned,
)

NOW_MS = 10_000_000


def image(*records: ClusterRecord, base: ClusterImage = EMPTY, zxid: int = 1, time_ms: int = NOW_MS) -> ClusterImage:
    """A whole image: the base with these records on top."""
    provenance = Provenance("test", zxid, time_ms, complete=True)
    return ClusterDelta(base).replay_all(records).apply(provenance)


def brokers(*ids: int, racks: Sequence[str] = ()) -> list[ClusterRecord]:
    """Live brokers and a controller, the first of them."""
    names = [racks[n] if racks else None for n in range(len(ids))]
    registered = [BrokerRegistered(broker=id, rack=rack) for id, rack in zip(ids, names, strict=True)]
    return [*registered, ControllerElected(broker=ids[0]), ControllerEpochChanged(epoch=1)]


def topic(name: str, replicas: Sequence[int], partitions: int = 1) -> list[ClusterRecord]:
    """A topic whose every partition has these replicas, all in sync, the preferred one leading."""
    every = {partition: tuple(replicas) for partition in range(partitions)}
    states = [state(partition, replicas[0], replicas) for partition in every]
    return [TopicAssigned(topic=name, replicas=every), written(name, *states)]


def state(
    partition: int, leader: int, isr: Iterable[int], *, epoch: int = 0, recovering: bool = False, time_ms: int = 0
) -> PartitionState:
    return PartitionState(partition, leader, epoch, tuple(isr), recovering=recovering, time_ms=time_ms)


def written(name: str, *states: PartitionState) -> ClusterRecord:
    return PartitionStatesWritten(topic=name, states=states)


def consumer(group: str, member: str, threads: int = 1, name: str = "orders", pattern: str = "static") -> ClusterRecord:
    return MemberJoined(group=group, member=member, subscription={name: threads}, pattern=pattern)


def claims(group: str, owner: str, *partitions: int, name: str = "orders") -> list[ClusterRecord]:
    return [PartitionClaimed(group=group, partition=TopicPartition(name, p), owner=owner) for p in partitions]


def without_past(told: ClusterImage) -> dict[str, GroupImage]:
    """Groups without their rebalances, which a listing of ZooKeeper says nothing of."""
    return {name: msgspec.structs.replace(group, rebalances=()) for name, group in told.groups.items()}
