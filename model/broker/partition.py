"""One partition on one broker: its state, what a leader knows of its followers, their lag, and the high watermark.

What decisions need to know of a log are positions; nothing here reads or cuts one.

Source: `kafka.cluster.Partition`, `PartitionState`, `kafka.cluster.ReplicaState`, `UnifiedLog.updateHighWatermark`
(3.9); `Partition.getOutOfSyncReplicas` (0.8.0, 0.8.1, 0.9, 2.2, 3.9); `LeaderEpochFileCache` (KIP-101).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

import msgspec

from model.broker.replication_rules import Conditions, LagRule
from model.cluster.ids import TopicPartition
from model.controller.events import ProposedIsr
from model.controller.leader_and_isr import UNLED, LeaderAndIsr, ReplicaAssignment


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


class Held(Protocol):
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
    if not conditions.settings.rules.waits_for_caught_up or not conditions.may_join(follower):
        return False
    return is_caught_up(progress, log.end, conditions)
