"""A member of a ZooKeeper consumer group as a value: what it waits for, what it owns, how it sees the group.

Source: `kafka.consumer.ZookeeperConsumerConnector` and its `ZKRebalancerListener` (0.8.2, 1.1).
"""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.settings import MemberSettings
from model.consumers.zookeeper_groups.stages import Stage
from model.znodes.consumers import ConsumerRegistration

REBALANCES_KEPT = 64


class Conflict(msgspec.Struct, frozen=True):
    """A partition that a thread wanted and did not get. `owner` is empty where it had let go meanwhile."""

    partition: TopicPartition
    thread: str
    owner: str


class GroupView(msgspec.Struct, frozen=True):
    """The group as one member read it: other members may have read another one (split brain).

    `owners` is what this member makes of it for all threads of the group.
    """

    read_ms: int
    registrations: Mapping[str, ConsumerRegistration]
    partitions: Mapping[str, tuple[int, ...]]
    """By topic, ascending; topics that are not there are left out."""
    owners: Mapping[TopicPartition, str] = {}


class Attempts(msgspec.Struct, frozen=True):
    """A rebalance under way."""

    why: str
    began_ms: int
    before: Mapping[TopicPartition, str]
    """What was owned when it began."""
    joining: bool = False
    """A failure reaches the application."""
    number: int = 1
    failures: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    """Of all attempts."""
    names: tuple[str, ...] = ()
    """Members, or topics, whose znodes are being read."""
    claims: Mapping[TopicPartition, str] = {}
    """What this attempt wants: threads by partition."""
    offsets: Mapping[TopicPartition, int] = {}
    open: tuple[TopicPartition, ...] = ()
    """Claims that are not decided yet."""
    granted: frozenset[TopicPartition] = frozenset()
    parents_made: bool = False
    doomed: str = ""
    """Why this attempt fails once its claims are undone."""


class Rebalance(msgspec.Struct, frozen=True):
    """A rebalance that is over: when, why, how long, and what moved."""

    why: str
    began_ms: int
    ended_ms: int
    attempts: int
    succeeded: bool
    failures: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    gained: tuple[TopicPartition, ...]
    lost: tuple[TopicPartition, ...]


class MemberState(msgspec.Struct, frozen=True):
    """One member. `owned` is its registry of claims, `fetching` what it consumes right now: threads by partition.

    The two differ while a rebalance is under way, and after a session has expired.
    """

    settings: MemberSettings
    stage: Stage = Stage.NEW
    asked: int = 0
    """The number of the last question."""
    registered: bytes = b""
    joined: bool = False
    topics: tuple[str, ...] = ()
    """What it streams; for list patterns those that the pattern allows now."""
    wanted: str = ""
    """Why another rebalance must follow; empty if none must."""
    attempts: Attempts | None = None
    view: GroupView | None = None
    owned: Mapping[TopicPartition, str] = {}
    fetching: Mapping[TopicPartition, str] = {}
    consumed: Mapping[TopicPartition, int] = {}
    """The next offset, of what is owned; -1 where none is known yet."""
    committed: Mapping[TopicPartition, int] = {}
    rebalances: tuple[Rebalance, ...] = ()
    """The last ones, oldest first."""

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Of the rebalance under way, or else of the last one."""
        if self.attempts is not None:
            return self.attempts.conflicts
        return self.rebalances[-1].conflicts if self.rebalances else ()


def new_member(settings: MemberSettings) -> MemberState:
    """Before it has started."""
    return MemberState(settings)
