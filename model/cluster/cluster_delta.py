"""What changed between two images: records are replayed on a base, `apply` gives the next image.

Any split of the same records into deltas ends in an equal image. A full listing goes the same way, in as many deltas
as it comes, on what it says nothing of; then it replaces what was known, and what it does not mention is gone. The
source of groups that brokers coordinate never lists: it says which group died.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from model.cluster import records as r
from model.cluster.cluster_image import (
    EMPTY,
    AdminImage,
    BrokerImage,
    ClusterImage,
    ControllerImage,
    Provenance,
    descended,
)
from model.cluster.ids import KafkaGeneration, TopicPartition, newest
from model.cluster.image_parts import CLASSIC, REBALANCING, ZOOKEEPER, GroupImage, LogDir, Member, Rebalance
from model.cluster.topic_delta import TopicDelta

K = TypeVar("K")
V = TypeVar("V")


class GroupDelta:
    """Collects what happened to one group on top of `base`. A None value in a mapping means: gone."""

    def __init__(self, name: str, base: GroupImage | None) -> None:
        self._base = base or GroupImage(name)
        self.exists = base is not None
        self.mentioned = False
        self.members: dict[str, Member | None] = {}
        self.owners: dict[TopicPartition, str | None] = {}
        self.offsets: dict[TopicPartition, int | None] = {}
        self.rebalances: tuple[Rebalance, ...] = self._base.rebalances

    def apply(self) -> GroupImage | None:
        """The group afterwards; the same object where nothing differs, None where it is gone."""
        after = GroupImage(
            name=self._base.name,
            members=merged(self._base.members, self.members),
            owners=merged(self._base.owners, self.owners),
            offsets=merged(self._base.offsets, self.offsets),
            rebalances=self.rebalances,
        )
        if not (self.exists or self.mentioned or after.members or after.owners or after.offsets):
            return None
        return self._base if after == self._base and self.exists else after


def merged(base: Mapping[K, V], changes: Mapping[K, V | None]) -> Mapping[K, V]:
    """`base` with changes laid over it, None deleting; `base` itself where nothing differs."""
    if all(base.get(key) == value for key, value in changes.items()):
        return base
    both = {**base, **changes}
    return {key: value for key, value in both.items() if value is not None}


def unless_equal(base: Mapping[K, V], after: Mapping[K, V]) -> Mapping[K, V]:
    """What is afterwards; `base` itself where nothing differs."""
    return base if after == base else after


class ClassicGroupsDelta:
    """Collects what happened on top of `base`."""

    def __init__(self, base: Mapping[str, GroupImage]) -> None:
        self._base = base
        self._groups: dict[str, GroupImage | None] = {}

    def describe(self, record: r.GroupDescribed) -> None:
        """Takes over all but offsets. Where owners are not told, those that are still members keep what they had.

        A group that rebalances is in the generation it was in, until a new one is told.
        """
        before = self._group(record.group)
        told, rebalances = record.owners, record.state in REBALANCING
        if told is None:
            told = {read: owner for read, owner in before.owners.items() if owner in record.members}
        self._put(
            before,
            members=_kept(before.members, record.members),
            owners=_kept(before.owners, told),
            kind=record.kind,
            state=record.state,
            protocol_type=record.protocol_type,
            protocol=record.protocol,
            coordinator=record.coordinator,
            generation=before.generation if record.generation is None and rebalances else record.generation,
        )

    def commit(self, record: r.GroupOffsetsFetched) -> None:
        before = self._group(record.group)
        self._put(before, offsets=_kept(before.offsets, record.offsets))

    def remember(self, group: str, rebalances: tuple[Rebalance, ...]) -> None:
        self._put(self._group(group), rebalances=rebalances)

    def bury(self, group: str) -> None:
        self._groups[group] = None

    def apply(self) -> Mapping[str, GroupImage]:
        """All groups afterwards; the very same objects where nothing differs."""
        return merged(self._base, self._groups)

    def _group(self, name: str) -> GroupImage:
        known = self._groups[name] if name in self._groups else self._base.get(name)
        return known or GroupImage(name, kind=CLASSIC)

    def _put(self, before: GroupImage, **changed: object) -> None:
        after = msgspec.structs.replace(before, **changed)
        self._groups[before.name] = self._base[before.name] if after == self._base.get(before.name) else after


def _kept(before: Mapping[V, object], after: Mapping[V, object]) -> Mapping[V, object]:
    return before if before == after else dict(after)


class ClusterDelta:
    """Collects records on top of `base`; used once."""

    def __init__(self, base: ClusterImage) -> None:
        self._base = base
        self.brokers: dict[int, BrokerImage | None] = {}
        self.fenced: dict[int, BrokerImage | None] = {}
        self._topics: dict[str, TopicDelta] = {}
        self._groups: dict[str, GroupDelta] = {}
        self.classic = ClassicGroupsDelta(base.classic_groups)
        self.log_ends = base.log_ends
        self.configs: dict[str, dict[str, str] | None] = {}
        self.unreadable: dict[str, str | None] = {}
        self.deletions: dict[str, bool] = {}
        self.controller = base.controller
        self.reassignments: dict[TopicPartition, tuple[int, ...]] | None = None
        self.preferred: tuple[TopicPartition, ...] | None = None
        self.cluster_id: str | None = None
        self.generation: KafkaGeneration = base.generation
        self.quorum = base.quorum
        self.metadata = base.metadata
        self.log_dirs: dict[int, tuple[LogDir, ...] | None] = {}
        self.offline_replicas = base.offline_replicas
        self.differences = base.differences

    def replay(self, record: r.ClusterRecord) -> None:
        """Takes one fact in. Later facts win over earlier ones about the same thing."""
        _REPLAY[type(record)](self, record)

    def replay_all(self, records: Iterable[r.ClusterRecord]) -> "ClusterDelta":
        """Takes facts in order and returns the delta, for chaining."""
        for record in records:
            self.replay(record)
        return self

    def apply(self, provenance: Provenance) -> ClusterImage:
        """The next image. Parts without a difference are the base's own objects."""
        base = self._base
        return ClusterImage(
            provenance=provenance,
            cluster_id=base.cluster_id if self.cluster_id is None else self.cluster_id,
            generation=self.generation,
            controller=base.controller if self.controller == base.controller else self.controller,
            brokers=merged(base.brokers, self.brokers),
            fenced=merged(base.fenced, self.fenced),
            topics=descended(base.topics, {name: delta.apply() for name, delta in self._topics.items()}),
            groups=descended(base.groups, {name: delta.apply() for name, delta in self._groups.items()}),
            classic_groups=self.classic.apply(),
            log_ends=unless_equal(base.log_ends, self.log_ends),
            configs=merged(base.configs, self.configs),
            admin=self._admin(),
            quorum=base.quorum if self.quorum == base.quorum else self.quorum,
            metadata=base.metadata if self.metadata == base.metadata else self.metadata,
            log_dirs=merged(base.log_dirs, self.log_dirs),
            offline_replicas=unless_equal(base.offline_replicas, self.offline_replicas),
            differences=unless_equal(base.differences, self.differences),
            unreadable=merged(base.unreadable, self.unreadable),
        )

    def _admin(self) -> AdminImage:
        base = self._base.admin
        wanted = {topic for topic, pending in self.deletions.items() if pending}
        after = AdminImage(
            reassignments=base.reassignments if self.reassignments is None else self.reassignments,
            preferred_election=base.preferred_election if self.preferred is None else self.preferred,
            delete_topics=(base.delete_topics - self.deletions.keys()) | wanted,
        )
        return base if after == base else after

    def topic(self, name: str) -> TopicDelta:
        """The part of this delta about one topic."""
        if name not in self._topics:
            self._topics[name] = TopicDelta(name, self._base.topics.get(name))
        return self._topics[name]

    def group(self, name: str) -> GroupDelta:
        """The part of this delta about one consumer group."""
        if name not in self._groups:
            self._groups[name] = GroupDelta(name, self._base.groups.get(name))
        return self._groups[name]

    def remove_group(self, name: str) -> None:
        """With all that was known of it: below a znode that is gone nothing is left."""
        self._groups[name] = GroupDelta(name, None)


def _register(delta: ClusterDelta, record: r.BrokerRegistered) -> None:
    facts = record.endpoints, record.rack, record.epoch, record.registered_ms
    delta.brokers[record.broker] = BrokerImage(record.broker, *facts, record.fenced, record.in_controlled_shutdown)
    delta.fenced[record.broker] = None


def _fence(delta: ClusterDelta, record: r.BrokerFenced) -> None:
    _lose(delta, record)
    facts = record.endpoints, record.rack, record.epoch, record.registered_ms
    delta.fenced[record.broker] = BrokerImage(record.broker, *facts, fenced=True)


def _lose(delta: ClusterDelta, record: r.BrokerLost | r.BrokerFenced) -> None:
    delta.brokers[record.broker] = delta.fenced[record.broker] = delta.log_dirs[record.broker] = None


def _elect(delta: ClusterDelta, broker: int | None, since_ms: int) -> None:
    delta.controller = ControllerImage(broker, delta.controller.epoch, since_ms)


def _change_epoch(delta: ClusterDelta, record: r.ControllerEpochChanged) -> None:
    delta.controller = msgspec.structs.replace(delta.controller, epoch=record.epoch)


def _see_group(delta: ClusterDelta, record: r.GroupSeen) -> None:
    delta.group(record.group).mentioned = True


def _join(delta: ClusterDelta, record: r.MemberJoined) -> None:
    member = Member(record.subscription, record.pattern, record.joined_ms)
    _named(delta, record.group).members[record.member] = member


def _named(delta: ClusterDelta, name: str) -> GroupDelta:
    """A group that something is told of: it is there from then on, though that may be gone before this delta ends."""
    group = delta.group(name)
    group.mentioned = True
    return group


def _remember(delta: ClusterDelta, record: r.GroupRebalancesSeen) -> None:
    if record.kind != ZOOKEEPER:
        delta.classic.remember(record.group, record.rebalances)
    else:
        group = delta.group(record.group)
        group.mentioned, group.rebalances = True, record.rebalances


def _recognise(delta: ClusterDelta, record: r.GenerationRecognised) -> None:
    delta.generation = newest(delta.generation, record.generation)


_Replay = Callable[[ClusterDelta, Any], object]

_REPLAY: dict[type[r.ClusterRecord], _Replay] = {
    r.BrokerRegistered: _register,
    r.BrokerFenced: _fence,
    r.BrokerLost: _lose,
    r.ControllerElected: lambda d, x: _elect(d, x.broker, x.since_ms),
    r.ControllerLost: lambda d, x: _elect(d, None, x.time_ms),
    r.ControllerEpochChanged: _change_epoch,
    r.TopicAssigned: lambda d, x: d.topic(x.topic).assign(x),
    r.TopicRemoved: lambda d, x: d.topic(x.topic).unassign(),
    r.PartitionStatesWritten: lambda d, x: d.topic(x.topic).write(x.states),
    r.PartitionStatesRemoved: lambda d, x: d.topic(x.topic).remove(x.partitions),
    r.ConfigChanged: lambda d, x: d.configs.update({x.entity: dict(x.config)}),
    r.ConfigRemoved: lambda d, x: d.configs.update({x.entity: None}),
    r.GroupSeen: _see_group,
    r.GroupRemoved: lambda d, x: d.remove_group(x.group),
    r.MemberJoined: _join,
    r.MemberLeft: lambda d, x: d.group(x.group).members.update({x.member: None}),
    r.PartitionClaimed: lambda d, x: _named(d, x.group).owners.update({x.partition: x.owner}),
    r.PartitionReleased: lambda d, x: d.group(x.group).owners.update({x.partition: None}),
    r.OffsetCommitted: lambda d, x: _named(d, x.group).offsets.update({x.partition: x.offset}),
    r.OffsetRemoved: lambda d, x: d.group(x.group).offsets.update({x.partition: None}),
    r.GroupDescribed: lambda d, x: d.classic.describe(x),
    r.GroupOffsetsFetched: lambda d, x: d.classic.commit(x),
    r.GroupDied: lambda d, x: d.classic.bury(x.group),
    r.GroupRebalancesSeen: _remember,
    r.LogEndsRead: lambda d, x: setattr(d, "log_ends", dict(x.ends)),
    r.ReassignmentsRequested: lambda d, x: setattr(d, "reassignments", dict(x.targets)),
    r.PreferredElectionRequested: lambda d, x: setattr(d, "preferred", x.partitions),
    r.TopicDeletionRequested: lambda d, x: d.deletions.update({x.topic: True}),
    r.TopicDeletionCleared: lambda d, x: d.deletions.update({x.topic: False}),
    r.ClusterIdentified: lambda d, x: setattr(d, "cluster_id", x.cluster_id),
    r.QuorumDescribed: lambda d, x: setattr(d, "quorum", x.quorum),
    r.MetadataDescribed: lambda d, x: setattr(d, "metadata", x.metadata),
    r.LogDirsDescribed: lambda d, x: d.log_dirs.update({x.broker: x.folders}),
    r.ReplicasWentOffline: lambda d, x: setattr(d, "offline_replicas", dict(x.replicas)),
    r.ViewsDiffered: lambda d, x: setattr(d, "differences", dict(x.differences)),
    r.GenerationRecognised: _recognise,
    r.ZnodeUnreadable: lambda d, x: d.unreadable.update({x.path: x.reason}),
    r.ZnodeReadable: lambda d, x: d.unreadable.update({x.path: None}),
}
"""Record type → what it does to a delta. A record type missing here fails the test that walks all of them."""


LISTED = ("controller", "brokers", "fenced", "topics", "groups", "configs", "admin", "unreadable")
"""What a listing tells all of. Everything else stays until something else is said of it."""


def unlisted(image: ClusterImage) -> ClusterImage:
    """What is left of an image before a listing says anything: a listing is replayed on this."""
    return msgspec.structs.replace(image, **{name: getattr(EMPTY, name) for name in LISTED})


def relisted(before: ClusterImage, listed: ClusterImage) -> ClusterImage:
    """`listed`, with parts that are equal as the very objects they were in `before`. Groups keep their past."""
    groups = {name: _with_past(before.groups.get(name), group) for name, group in listed.groups.items()}
    return msgspec.structs.replace(
        listed,
        controller=before.controller if before.controller == listed.controller else listed.controller,
        brokers=_same_values(before.brokers, listed.brokers),
        fenced=_same_values(before.fenced, listed.fenced),
        topics=_same_values(before.topics, listed.topics),
        groups=_same_values(before.groups, groups),
        configs=_same_values(before.configs, listed.configs),
        admin=before.admin if before.admin == listed.admin else listed.admin,
        unreadable=_same_values(before.unreadable, listed.unreadable),
    )


def _with_past(before: GroupImage | None, group: GroupImage) -> GroupImage:
    if before is None or group.rebalances or not before.rebalances:
        return group
    return msgspec.structs.replace(group, rebalances=before.rebalances)


def _same_values(before: Mapping[K, V], after: Mapping[K, V]) -> Mapping[K, V]:
    """`after` with every value that is equal as the object it was; `before` itself where all are."""
    if not before:
        return after or before
    merged = {key: old if (old := before.get(key)) is new or old == new else new for key, new in after.items()}
    is_same = len(merged) == len(before) and all(before.get(key) is value for key, value in merged.items())
    return before if is_same else merged  # pyright: ignore[reportReturnType]  # old is a V wherever it equals one
