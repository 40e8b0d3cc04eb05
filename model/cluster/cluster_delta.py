"""What changed between two images: records are replayed on a base, `apply` gives the next image.

Any split of the same records into deltas ends in an equal image. A full listing goes the same way: replay what it says,
call `finish_listing`, and everything it did not mention is gone; start-up and resynchronisation are one code path.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from model.cluster import records as r
from model.cluster.classic_groups_delta import ClassicGroupsDelta
from model.cluster.cluster_image import (
    GENERATIONS,
    AdminImage,
    BrokerImage,
    ClusterImage,
    ControllerImage,
    Provenance,
)
from model.cluster.group_delta import GroupDelta, forget, merged
from model.cluster.group_image import ZOOKEEPER, Member
from model.cluster.ids import TopicPartition
from model.cluster.topic_delta import TopicDelta


class ClusterDelta:
    """Collects records on top of `base`; used once. Records are kept, in order, for recordings."""

    def __init__(self, base: ClusterImage) -> None:
        self._base = base
        self.records: list[r.Record] = []
        self.brokers: dict[int, BrokerImage | None] = {}
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
        self.generation = base.generation
        self.controller_mentioned: set[str] = set()

    def replay(self, record: r.Record) -> None:
        """Takes one fact in. Later facts win over earlier ones about the same thing."""
        self.records.append(record)
        _REPLAY[type(record)](self, record)

    def replay_all(self, records: Iterable[r.Record]) -> "ClusterDelta":
        """Takes facts in order and returns the delta, for chaining."""
        for record in records:
            self.replay(record)
        return self

    def finish_listing(self) -> None:
        """Says that the records so far were a full listing: what they did not mention is gone.

        That is what ZooKeeper holds; of classic groups and log ends a listing says nothing.
        """
        base = self._base
        forget(self.brokers, base.brokers)
        forget(self.configs, base.configs)
        forget(self.unreadable, base.unreadable)
        for topic in base.admin.delete_topics:
            self.deletions.setdefault(topic, False)
        for name in {*base.topics, *self._topics}:
            self.topic(name).forget_unmentioned()
        for name in {*base.groups, *self._groups}:
            self.group(name).forget_unmentioned()
        self.reassignments = self.reassignments or {}
        self.preferred = self.preferred or ()
        if "broker" not in self.controller_mentioned:
            self.controller = ControllerImage(epoch=self.controller.epoch)
        if "epoch" not in self.controller_mentioned:
            self.controller = msgspec.structs.replace(self.controller, epoch=None)

    def apply(self, provenance: Provenance) -> ClusterImage:
        """The next image. Parts without a difference are the base's own objects."""
        base = self._base
        return ClusterImage(
            provenance=provenance,
            cluster_id=base.cluster_id if self.cluster_id is None else self.cluster_id,
            generation=self.generation,
            controller=base.controller if self.controller == base.controller else self.controller,
            brokers=merged(base.brokers, self.brokers),
            topics=merged(base.topics, {name: delta.apply() for name, delta in self._topics.items()}),
            groups=merged(base.groups, {name: delta.apply() for name, delta in self._groups.items()}),
            classic_groups=self.classic.apply(),
            log_ends=base.log_ends if self.log_ends == base.log_ends else self.log_ends,
            configs=merged(base.configs, self.configs),
            admin=self._admin(),
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


def _register(delta: ClusterDelta, record: r.BrokerRegistered) -> None:
    delta.brokers[record.broker] = BrokerImage(
        record.broker, record.endpoints, record.rack, record.epoch, record.registered_ms
    )


def _elect(delta: ClusterDelta, broker: int | None, since_ms: int) -> None:
    delta.controller_mentioned.add("broker")
    delta.controller = ControllerImage(broker, delta.controller.epoch, since_ms)


def _change_epoch(delta: ClusterDelta, record: r.ControllerEpochChanged) -> None:
    delta.controller_mentioned.add("epoch")
    delta.controller = msgspec.structs.replace(delta.controller, epoch=record.epoch)


def _write_states(delta: ClusterDelta, record: r.PartitionStatesWritten) -> None:
    topic = delta.topic(record.topic)
    for state in record.states:
        topic.write(state)


def _remove_states(delta: ClusterDelta, record: r.PartitionStatesRemoved) -> None:
    topic = delta.topic(record.topic)
    for partition in record.partitions:
        topic.remove(partition)


def _see_group(delta: ClusterDelta, record: r.GroupSeen) -> None:
    delta.group(record.group).mentioned = True


def _remove_group(delta: ClusterDelta, record: r.GroupRemoved) -> None:
    group = delta.group(record.group)
    group.exists = group.mentioned = False
    group.rebalances = ()


def _join(delta: ClusterDelta, record: r.MemberJoined) -> None:
    member = Member(record.subscription, record.pattern, record.joined_ms)
    delta.group(record.group).members[record.member] = member


def _remember(delta: ClusterDelta, record: r.GroupRebalancesSeen) -> None:
    if record.kind != ZOOKEEPER:
        delta.classic.remember(record.group, record.rebalances)
    else:
        group = delta.group(record.group)
        group.mentioned, group.rebalances = True, record.rebalances


def _recognise(delta: ClusterDelta, record: r.GenerationRecognised) -> None:
    delta.generation = max(delta.generation, record.generation, key=GENERATIONS.index)


_Replay = Callable[[ClusterDelta, Any], object]

_REPLAY: dict[type[r.Record], _Replay] = {
    r.BrokerRegistered: _register,
    r.BrokerLost: lambda d, x: d.brokers.update({x.broker: None}),
    r.ControllerElected: lambda d, x: _elect(d, x.broker, x.since_ms),
    r.ControllerLost: lambda d, x: _elect(d, None, x.time_ms),
    r.ControllerEpochChanged: _change_epoch,
    r.TopicAssigned: lambda d, x: d.topic(x.topic).assign(x),
    r.TopicRemoved: lambda d, x: d.topic(x.topic).unassign(),
    r.PartitionStatesWritten: _write_states,
    r.PartitionStatesRemoved: _remove_states,
    r.ConfigChanged: lambda d, x: d.configs.update({x.entity: dict(x.config)}),
    r.ConfigRemoved: lambda d, x: d.configs.update({x.entity: None}),
    r.GroupSeen: _see_group,
    r.GroupRemoved: _remove_group,
    r.MemberJoined: _join,
    r.MemberLeft: lambda d, x: d.group(x.group).members.update({x.member: None}),
    r.PartitionClaimed: lambda d, x: d.group(x.group).owners.update({x.partition: x.owner}),
    r.PartitionReleased: lambda d, x: d.group(x.group).owners.update({x.partition: None}),
    r.OffsetCommitted: lambda d, x: d.group(x.group).offsets.update({x.partition: x.offset}),
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
    r.GenerationRecognised: _recognise,
    r.ZnodeUnreadable: lambda d, x: d.unreadable.update({x.path: x.reason}),
    r.ZnodeReadable: lambda d, x: d.unreadable.update({x.path: None}),
}
"""Record type → what it does to a delta. A record type missing here fails the test that walks all of them."""
