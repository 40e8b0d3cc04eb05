"""What the replication rules of a partition depend on: the release, the broker's settings, the time, who is live.

The differences between releases are one table: a row says from which release on, and what changed then. It decides
nothing itself. Sources are `kafka.cluster.Partition` at the release, and `kafka.server.KafkaConfig` for defaults.

One partition on one broker: its state, what a leader knows of its followers, their lag, and the high watermark.

What decisions need to know of a log are positions; nothing here reads or cuts one.

Source: `kafka.cluster.Partition`, `PartitionState`, `kafka.cluster.ReplicaState`, `UnifiedLog.updateHighWatermark`
(3.9); `Partition.getOutOfSyncReplicas` (0.8.0, 0.8.1, 0.9, 2.2, 3.9); `LeaderEpochFileCache` (KIP-101).
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Literal, Protocol

import msgspec

from model.cluster.ids import TopicPartition, release_numbers
from model.controller.events_and_commands import ProposedIsr
from model.controller.leader_and_isr import UNLED, LeaderAndIsr, ReplicaAssignment

LagRule = Literal["behind and silent, or too many messages", "silent, or too many messages", "not caught up"]
Truncation = Literal["high watermark", "leader epoch", "diverging fetch"]
IsrRoute = Literal["state znode", "AlterPartition"]


class ReplicationRules(msgspec.Struct, frozen=True, kw_only=True):
    """How the brokers of one span of releases replicate."""

    since: str
    """The first release of which all this is true."""
    lag: LagRule
    """When a follower leaves the ISR."""
    log_end_is_caught_up: bool
    """Whether a follower that has all never lags, so that an idle partition keeps its ISR."""
    waits_for_caught_up: bool
    """Whether the high watermark also waits for followers that are about to join the ISR."""
    joins_after_epoch_start: bool
    """Whether a follower joins the ISR only once it has reached the start of the leader's epoch."""
    joins_if_live: bool
    """Whether the leader looks if a follower is registered before it asks for it to join."""
    min_isr_is_capped: bool
    """Whether min.insync.replicas never asks for more replicas than there are."""
    stops_below_min_isr: bool
    """Whether the high watermark stands still while there are too few in-sync replicas."""
    truncation: Truncation
    """How a follower finds out where its log and the leader's part."""
    isr_route: IsrRoute
    notifies_isr_changes: bool
    """Whether a leader that wrote a state znode tells the controller so through `/isr_change_notification`."""
    leader_epochs_are_checked: bool
    """Whether fetches carry the leader epoch that their sender knows (KIP-320)."""
    lag_time_max_ms: int
    """Default of replica.lag.time.max.ms."""


_FIRST = ReplicationRules(
    since="0.8.0",
    lag="behind and silent, or too many messages",
    log_end_is_caught_up=False,
    waits_for_caught_up=False,
    joins_after_epoch_start=False,
    joins_if_live=False,
    min_isr_is_capped=False,
    stops_below_min_isr=False,
    truncation="high watermark",
    isr_route="state znode",
    notifies_isr_changes=False,
    leader_epochs_are_checked=False,
    lag_time_max_ms=10_000,
)

_CHANGES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("0.8.1", {"lag": "silent, or too many messages"}),
    ("0.9", {"lag": "not caught up", "notifies_isr_changes": True}),
    ("0.10.2", {"waits_for_caught_up": True}),
    ("0.11", {"truncation": "leader epoch"}),
    ("2.1", {"joins_after_epoch_start": True, "leader_epochs_are_checked": True}),
    ("2.2", {"log_end_is_caught_up": True}),
    ("2.5", {"lag_time_max_ms": 30_000}),
    ("2.7", {"truncation": "diverging fetch", "isr_route": "AlterPartition", "notifies_isr_changes": False}),
    ("3.3", {"joins_if_live": True}),
    ("3.7", {"min_isr_is_capped": True, "stops_below_min_isr": True}),
)

REPLICATION_RULES: tuple[ReplicationRules, ...] = tuple(
    accumulate(_CHANGES, lambda before, row: msgspec.structs.replace(before, since=row[0], **row[1]), initial=_FIRST)
)
"""Every span of releases that replicates in a way of its own, oldest first."""

LATEST = REPLICATION_RULES[-1]
"""Kafka 3.7 to 3.9, the last that knows ZooKeeper."""


@cache
def replication_rules_of(release: str) -> ReplicationRules:
    """How the brokers of a release replicate, such as `0.8.2.2` or `3.9`.

    Raises ValueError, with a line for the user, for what is no release or one before 0.8.0.
    """
    wanted = release_numbers(release)
    known = [rules for rules in REPLICATION_RULES if release_numbers(rules.since) <= wanted]
    if not known:
        raise ValueError(f"{release!r} is not a release of Kafka that kdrill knows: name one from 0.8.0 on, as 3.9")
    return known[-1]


class ReplicationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a broker, for one topic, by the names of their keys in server.properties."""

    rules: ReplicationRules = LATEST
    replica_lag_time_max_ms: int = LATEST.lag_time_max_ms
    replica_lag_max_messages: int = 4_000
    """Only looked at by the rules of 0.8."""
    min_insync_replicas: int = 1


class Conditions(msgspec.Struct, frozen=True):
    """`now_ms` since the epoch. `live_brokers`: those that the last UpdateMetadata named.

    `broker_epochs` are known in KRaft mode: who fetched in an earlier life says nothing of the log that it has now.
    """

    now_ms: int
    live_brokers: frozenset[int]
    settings: ReplicationSettings = ReplicationSettings()
    broker_epochs: Mapping[int, int] = MappingProxyType({})

    def min_isr(self, replicas: int) -> int:
        """How many in-sync replicas a partition with so many replicas needs for acks=all."""
        wanted = self.settings.min_insync_replicas
        return min(wanted, replicas) if self.settings.rules.min_isr_is_capped else wanted

    def may_join(self, follower: int, broker_epoch: int = -1) -> bool:
        """Whether a follower that fetched with this broker epoch can be in an ISR as far as its broker is concerned."""
        if broker_epoch != -1 and self.broker_epochs.get(follower, broker_epoch) != broker_epoch:
            return False
        return not self.settings.rules.joins_if_live or follower in self.live_brokers


class FollowerProgress(msgspec.Struct, frozen=True, gc=False):
    """What a leader knows of a follower, by its fetches. Offsets, and ms since the epoch."""

    log_end: int = -1
    """-1: it has not fetched yet from this leader."""
    log_start: int = -1
    leader_end_at_fetch: int = 0
    """The leader's own log end at the last fetch."""
    fetched_ms: int = 0
    caught_up_ms: int = 0
    """The last time at which it had everything the leader had."""
    broker_epoch: int = -1
    """Of the life in which it fetched last, where it said so (Fetch v15, 3.5)."""


class PendingIsr(msgspec.Struct, frozen=True, gc=False):
    """An ISR that was asked for and is not answered. `joining`: the follower that it adds, None if it removes some."""

    proposal: ProposedIsr
    joining: int | None = None


class Leading(msgspec.Struct, frozen=True, gc=False):
    """What only a leader has."""

    epoch_start_offset: int
    since_ms: int
    followers: Mapping[int, FollowerProgress] = MappingProxyType({})
    pending: PendingIsr | None = None


class Partition(msgspec.Struct, frozen=True, gc=False):
    """`state` is the committed one: as the controller said, or as it answered to a proposal."""

    partition: TopicPartition
    broker: int
    state: LeaderAndIsr = UNLED
    controller_epoch: int = 0
    assignment: ReplicaAssignment = ReplicaAssignment(())
    topic_id: str | None = None
    high_watermark: int = 0
    leading: Leading | None = None
    """None: it follows, or waits to be told."""

    @property
    def leads(self) -> bool:
        """Whether this broker takes itself for the leader."""
        return self.leading is not None

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """The ISR with the follower that was proposed to join: the larger one until the answer is known."""
        pending = self.leading.pending if self.leading else None
        if pending is None or pending.joining is None or pending.joining in self.state.isr:
            return self.state.isr
        return (*self.state.isr, pending.joining)

    def lead(self, **changes: object) -> "Partition":
        """With changes to what only a leader has. Only for one that leads."""
        assert self.leading is not None
        return msgspec.structs.replace(self, leading=msgspec.structs.replace(self.leading, **changes))


class ServedPartitions(Protocol):
    """The partitions that a broker serves, by name. They are only looked up, so any mapping will do, a lazy one too."""

    def get(self, key: TopicPartition, /) -> Partition | None:
        """None: the broker does not serve it."""
        ...


UNKNOWN_EPOCH = -1
UNKNOWN_OFFSET = -1


class EpochHistory(Protocol):
    """Which leader epoch wrote which offsets (`LeaderEpochFileCache`, KIP-101)."""

    @property
    def latest(self) -> int | None:
        """The newest epoch; None for an empty log, or one in a format without epochs."""
        ...

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The greatest known epoch that is not newer, and the offset at which it ends; -1, -1 if not known."""
        ...


class NoEpochs(msgspec.Struct, frozen=True):
    """The history of an empty log, and of any log before 0.11."""

    @property
    def latest(self) -> int | None:
        return None

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        return UNKNOWN_EPOCH, UNKNOWN_OFFSET


class LogPositions(msgspec.Struct, frozen=True):
    """A log at one moment. Offsets; `end` is the offset that the next record will get."""

    start: int = 0
    end: int = 0
    epochs: EpochHistory = NoEpochs()
    checkpointed_high_watermark: int = 0
    """From `replication-offset-checkpoint`. It counts when a partition is first taken on, and not any more."""
    topic_id: str | None = None
    """From `partition.metadata`. It counts while the partition is not taken on."""


EMPTY_LOG = LogPositions()

Logs = Callable[[TopicPartition], LogPositions | None]
"""Looks up the logs a broker has; None where there is none."""


def is_caught_up(follower: FollowerProgress, leader_end: int, conditions: Conditions) -> bool:
    """Whether it has all the leader has, or had all of it within replica.lag.time.max.ms."""
    settings = conditions.settings
    if settings.rules.log_end_is_caught_up and follower.log_end == leader_end:
        return True
    return conditions.now_ms - follower.caught_up_ms <= settings.replica_lag_time_max_ms


def why_out_of_sync(
    follower: FollowerProgress, leader_end: int, leading_since_ms: int, conditions: Conditions
) -> str | None:
    """Half a sentence to follow the name of a follower; None if it is in sync. A new leader's followers have time."""
    return _RULES[conditions.settings.rules.lag](follower, leader_end, leading_since_ms, conditions)


def _not_caught_up(follower: FollowerProgress, leader_end: int, _since_ms: int, conditions: Conditions) -> str | None:
    if is_caught_up(follower, leader_end, conditions):
        return None
    missing = leader_end - max(follower.log_end, 0)
    return f"had not caught up for {conditions.now_ms - follower.caught_up_ms} ms (it lacks {missing} records)"


def _silent_or_slow(follower: FollowerProgress, leader_end: int, since_ms: int, conditions: Conditions) -> str | None:
    silent_ms = conditions.now_ms - max(follower.fetched_ms, since_ms)
    if silent_ms > conditions.settings.replica_lag_time_max_ms:
        return f"had not fetched for {silent_ms} ms"
    missing = leader_end - follower.log_end
    if follower.log_end >= 0 and missing > conditions.settings.replica_lag_max_messages:
        return f"was {missing} messages behind"
    return None


def _stuck_or_slow(follower: FollowerProgress, leader_end: int, since_ms: int, conditions: Conditions) -> str | None:
    if follower.log_end >= leader_end:
        return None
    return _silent_or_slow(follower, leader_end, since_ms, conditions)


_RULES: Mapping[LagRule, Callable[[FollowerProgress, int, int, Conditions], str | None]] = {
    "behind and silent, or too many messages": _stuck_or_slow,
    "silent, or too many messages": _silent_or_slow,
    "not caught up": _not_caught_up,
}


def raise_high_watermark(partition: Partition, log: LogPositions, conditions: Conditions) -> Partition:
    """With a leader's high watermark as far on as its followers allow. It never goes back while this broker leads.

    The maximal ISR counts, so that a follower whose joining is not confirmed yet cannot miss a committed record.
    """
    leading = partition.leading
    if leading is None or log.end <= partition.high_watermark or not _may_advance(partition, conditions):
        return partition
    isr = partition.maximal_isr
    ends = [
        progress.log_end
        for follower, progress in leading.followers.items()
        if follower in isr or _about_to_join(follower, progress, log, conditions)
    ]
    reached = min(ends, default=log.end)
    if min(reached, log.end) <= partition.high_watermark:
        return partition
    return msgspec.structs.replace(partition, high_watermark=min(reached, log.end))


def follow_high_watermark(partition: Partition, leader_high_watermark: int, log: LogPositions) -> Partition:
    """With a follower's high watermark: its leader's, as far as its own log goes. It may go back, as the leader's may
    when the leader is another one."""
    reached = max(log.start, min(leader_high_watermark, log.end))
    if reached == partition.high_watermark:
        return partition
    return msgspec.structs.replace(partition, high_watermark=reached)


def _may_advance(partition: Partition, conditions: Conditions) -> bool:
    if not conditions.settings.rules.stops_below_min_isr:
        return True
    return len(partition.state.isr) >= conditions.min_isr(len(partition.assignment.replicas))


def _about_to_join(follower: int, progress: FollowerProgress, log: LogPositions, conditions: Conditions) -> bool:
    """Waiting for it now spares it from chasing a high watermark that it could never reach."""
    if not conditions.settings.rules.waits_for_caught_up or not conditions.may_join(follower, progress.broker_epoch):
        return False
    return is_caught_up(progress, log.end, conditions)
