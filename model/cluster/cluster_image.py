"""The cluster at one moment, as an immutable value, and told as records that give an equal image again.

Parts that did not change between two images are the very same object, so a reader compares by identity first; large
mappings know what differs from those they were made of. It holds facts only: what looks wrong is derived by
`model.cluster.findings`.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

import msgspec

from model.cluster import records as r
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.image_parts import (
    CLASSIC,
    NO_DIRECTORIES,
    ZOOKEEPER,
    GroupImage,
    KraftMetadata,
    LogDir,
    Quorum,
    directory_number,
)
from model.cluster.partition_columns import AssignmentColumns, states_of
from model.cluster.topic_image import NOBODY, TopicImage, told_in, unpadded

K = TypeVar("K")
V = TypeVar("V")


class Descended(dict[K, V]):
    """A mapping that was made of another one. Never written to once an image holds it."""

    def __init__(self, base: Mapping[K, V], changes: Mapping[K, V | None]) -> None:
        """`base` with changes laid over it, None deleting."""
        super().__init__(base)
        for key, value in changes.items():
            if value is None:
                self.pop(key, None)
            else:
                self[key] = value
        self.mark = object()
        """Stands for this mapping: descendants must not keep all their ancestors."""
        self.base_mark = base.mark if isinstance(base, Descended) else None
        self.changed: Collection[K] = tuple(changes)


def descended(base: Mapping[K, V], changes: Mapping[K, V | None]) -> Mapping[K, V]:
    """`base` with changes laid over it, None deleting; `base` itself where all of them are what stands there."""
    if all(base.get(key) is value for key, value in changes.items()):
        return base
    return Descended(base, changes)


def differing_keys(before: Mapping[K, V], after: Mapping[K, V]) -> list[K]:
    """Keys of which the two have not the same object: first those that `before` has. Usually quick."""
    if before is after:
        return []
    if isinstance(before, Descended) and isinstance(after, Descended) and after.base_mark is before.mark:
        differing = [key for key in after.changed if before.get(key) is not after.get(key)]
        return sorted(differing, key=lambda key: key not in before)
    differing = [key for key, value in before.items() if after.get(key) is not value]
    return differing + [key for key in after if key not in before]


_TOO = f" ({CLASSIC})"


class BrokerImage(msgspec.Struct, frozen=True):
    """A broker's registration. `epoch` is its broker epoch (czxid, KIP-380) or None before Kafka 2.2.

    `fenced` and `in_controlled_shutdown` are KRaft's; None: nobody told.
    """

    id: int
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    epoch: int | None = None
    registered_ms: int = 0
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None


class ControllerImage(msgspec.Struct, frozen=True):
    """Who controls. `broker` None: nobody; `epoch` None: the cluster never had a controller."""

    broker: int | None = None
    epoch: int | None = None
    since_ms: int = 0


class AdminImage(msgspec.Struct, frozen=True):
    """Work asked of the controller through znodes and not yet done."""

    reassignments: Mapping[TopicPartition, tuple[int, ...]] = {}
    preferred_election: tuple[TopicPartition, ...] = ()
    delete_topics: frozenset[str] = frozenset()


class Provenance(msgspec.Struct, frozen=True):
    """Where an image comes from: source, highest zxid in it (-1 none), when it was seen, whether it is whole."""

    source: str = ""
    zxid: int = -1
    time_ms: int = 0
    complete: bool = False
    asks_brokers: bool = True
    """False: of a ZooKeeper alone, which does not know the groups that brokers coordinate."""


class ClusterImage(msgspec.Struct, frozen=True):
    """All that is known of a cluster. Mappings are never written to."""

    provenance: Provenance = Provenance()
    cluster_id: str | None = None
    generation: KafkaGeneration = "unknown"
    controller: ControllerImage = ControllerImage()
    brokers: Mapping[int, BrokerImage] = {}
    """Those that live: registered and not fenced."""
    fenced: Mapping[int, BrokerImage] = {}
    """Those that are registered and fenced, as far as the controllers of KRaft tell."""
    topics: Mapping[str, TopicImage] = {}
    groups: Mapping[str, GroupImage] = {}
    """Those whose members register in ZooKeeper, by name."""
    classic_groups: Mapping[str, GroupImage] = {}
    """Those that brokers coordinate, by name."""
    log_ends: Mapping[TopicPartition, int] = {}
    """Log end offsets, as far as they are known: of what groups read."""
    configs: Mapping[str, Mapping[str, str]] = {}
    admin: AdminImage = AdminImage()
    quorum: Quorum | None = None
    """Of a KRaft cluster."""
    metadata: KraftMetadata | None = None
    """What only the metadata log knows of a KRaft cluster; None: nobody told."""
    log_dirs: Mapping[int, tuple[LogDir, ...]] = {}
    """By broker, as far as brokers were asked."""
    offline_replicas: Mapping[TopicPartition, tuple[int, ...]] = {}
    """On brokers that live."""
    differences: Mapping[str, str] = {}
    """Subject → what its brokers tell and ZooKeeper does not."""
    unreadable: Mapping[str, str] = {}
    """Path → reason of each znode whose payload could not be used."""

    def topic_config(self, topic: str) -> Mapping[str, str]:
        """A topic's own settings, without the brokers' defaults."""
        return self.configs.get(f"topics/{topic}", {})

    def every_group(self) -> Iterator[tuple[str, GroupImage]]:
        """Groups of both kinds, each with a key: its name, or `NAME (classic)` where there are two of that name."""
        yield from self.groups.items()
        for name, group in self.classic_groups.items():
            yield f"{name}{_TOO}" if name in self.groups else name, group

    @property
    def group_count(self) -> int | None:
        """Groups of both kinds; None where nobody told of any."""
        known = len(self.groups) + len(self.classic_groups)
        return None if not known and "/consumers" in self.unreadable else known

    def group(self, key: str) -> GroupImage | None:
        """The group of a key as `every_group` says it."""
        known = self.groups.get(key) or self.classic_groups.get(key)
        return known or self.classic_groups.get(key.removesuffix(_TOO))

    @property
    def unconfirmed_brokers(self) -> tuple[int, ...]:
        """Of the brokers, those that only old metadata names: no active controller counts them, and they are silent."""
        return () if self.quorum is None else self.quorum.unconfirmed

    @property
    def partition_count(self) -> int:
        return sum(len(topic) for topic in self.topics.values())


EMPTY = ClusterImage()


def records_of(image: ClusterImage) -> Iterator[r.ClusterRecord]:
    """Every fact of an image, in an order that can be replayed."""
    if image.cluster_id is not None:
        yield r.ClusterIdentified(cluster_id=image.cluster_id)
    yield r.GenerationRecognised(generation=image.generation)
    yield from _controller(image)
    for broker in image.brokers.values():
        yield registered(broker)
    for broker in image.fenced.values():
        yield fenced(broker)
    for topic in image.topics.values():
        yield from _topic(topic)
    for _, group in image.every_group():
        yield from group_records(group)
    yield r.LogEndsRead(ends=image.log_ends)
    for entity, config in image.configs.items():
        yield r.ConfigChanged(entity=entity, config=config)
    yield r.ReassignmentsRequested(targets=image.admin.reassignments)
    yield r.PreferredElectionRequested(partitions=image.admin.preferred_election)
    for name in sorted(image.admin.delete_topics):
        yield r.TopicDeletionRequested(topic=name)
    if image.quorum is not None:
        yield r.QuorumDescribed(quorum=image.quorum)
    if image.metadata is not None:
        yield r.MetadataDescribed(metadata=image.metadata)
    for broker, folders in image.log_dirs.items():
        yield r.LogDirsDescribed(broker=broker, folders=folders)
    yield r.ReplicasWentOffline(replicas=image.offline_replicas)
    yield r.ViewsDiffered(differences=image.differences)
    for path, reason in image.unreadable.items():
        yield r.ZnodeUnreadable(path=path, reason=reason)


def registered(broker: BrokerImage) -> r.ClusterRecord:
    """A broker that lives."""
    return r.BrokerRegistered(
        broker=broker.id,
        endpoints=broker.endpoints,
        rack=broker.rack,
        epoch=broker.epoch,
        registered_ms=broker.registered_ms,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
    )


def fenced(broker: BrokerImage) -> r.ClusterRecord:
    """A broker that is fenced."""
    return r.BrokerFenced(
        broker=broker.id,
        endpoints=broker.endpoints,
        rack=broker.rack,
        epoch=broker.epoch,
        registered_ms=broker.registered_ms,
    )


def _controller(image: ClusterImage) -> Iterator[r.ClusterRecord]:
    controller = image.controller
    if controller.broker is not None:
        yield r.ControllerElected(broker=controller.broker, since_ms=controller.since_ms)
    elif controller.since_ms:
        yield r.ControllerLost(time_ms=controller.since_ms)
    if controller.epoch is not None:
        yield r.ControllerEpochChanged(epoch=controller.epoch)


def _topic(topic: TopicImage) -> Iterator[r.ClusterRecord]:
    partitions, replicas = topic.partitions, topic.replicas
    if NOBODY in replicas[:, 0]:
        is_placed = ~topic.orphaned
        partitions, replicas = partitions[is_placed], replicas[is_placed]
    if len(partitions):
        yield r.TopicAssigned(
            topic=topic.name,
            replicas=AssignmentColumns(partitions, replicas),
            topic_id=topic.topic_id,
            adding=topic.adding,
            removing=topic.removing,
        )
    states = states_of(topic)
    if len(states):
        yield r.PartitionStatesWritten(topic=topic.name, states=states)


def state_in(image: ClusterImage, name: TopicPartition) -> r.PartitionState | None:
    """A partition's state; None if it has none."""
    topic = image.topics.get(name.topic)
    row = None if topic is None else topic.row_of.get(name.partition)
    return None if topic is None or row is None or not topic.has_state[row] else state_of(topic, row)


def state_of(topic: TopicImage, row: int) -> r.PartitionState:
    """One row of a topic as a state that was written."""
    return r.PartitionState(
        partition=int(topic.partitions[row]),
        leader=int(topic.leader[row]),
        leader_epoch=int(topic.leader_epoch[row]),
        isr=unpadded(topic.isr[row]),
        controller_epoch=int(topic.controller_epoch[row]),
        version=int(topic.version[row]),
        recovering=bool(topic.recovering[row]),
        zxid=int(topic.zxid[row]),
        time_ms=int(topic.time_ms[row]),
        elr=told_in(topic.elr[row]),
        last_known_elr=told_in(topic.last_known_elr[row]),
        directories=told_in(topic.directories[row]),
    )


def directory_ids(image: "ClusterImage", topic: TopicImage, row: int) -> tuple[str, ...] | None:
    """Of each replica, the id of the log directory that holds it, or why there is none; None: nobody told."""
    numbers = told_in(topic.directories[row])
    if numbers is None or image.metadata is None:
        return None
    none, known = [*NO_DIRECTORIES.values()], image.metadata.log_dirs
    brokers = unpadded(topic.replicas[row])
    named = ({directory_number(id): id for id in known.get(broker, ())} for broker in brokers)
    pairs = zip(numbers, named, strict=False)
    return tuple(none[number] if number < len(none) else ids.get(number, "not registered") for number, ids in pairs)


def group_records(group: GroupImage) -> Iterator[r.ClusterRecord]:
    """A group of either kind."""
    return _group(group) if group.kind == ZOOKEEPER else classic_group_records(group)


def classic_group_records(group: GroupImage) -> Iterator[r.ClusterRecord]:
    """A group that a broker coordinates, as it was described."""
    yield r.GroupDescribed(
        group=group.name,
        state=group.state,
        kind=group.kind,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        coordinator=group.coordinator,
        generation=group.generation,
        members=group.members,
        owners=group.owners,
    )
    yield r.GroupOffsetsFetched(group=group.name, offsets=group.offsets)
    yield _rebalances(group)


def _rebalances(group: GroupImage) -> r.ClusterRecord:
    return r.GroupRebalancesSeen(group=group.name, kind=group.kind, rebalances=group.rebalances)


def _group(group: GroupImage) -> Iterator[r.ClusterRecord]:
    name = group.name
    yield r.GroupSeen(group=name)
    for member, facts in group.members.items():
        yield r.MemberJoined(
            group=name,
            member=member,
            subscription=facts.subscription,
            pattern=facts.pattern,
            joined_ms=facts.joined_ms,
        )
    for partition, owner in group.owners.items():
        yield r.PartitionClaimed(group=name, partition=partition, owner=owner)
    for partition, offset in group.offsets.items():
        yield r.OffsetCommitted(group=name, partition=partition, offset=offset)
    yield _rebalances(group)
