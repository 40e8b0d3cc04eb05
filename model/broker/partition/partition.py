"""A partition as a broker that has a replica of it sees it. Values only: the rules are in the modules beside.

Source: `kafka.cluster.Partition`, `PartitionState`, `kafka.cluster.ReplicaState` (3.9).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.events import ProposedIsr
from model.controller.leader_and_isr import UNLED, LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment


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
