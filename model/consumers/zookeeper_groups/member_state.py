"""A member of a ZooKeeper consumer group as a value: settings, what it waits for, what it owns, how it sees the group.

Source: `kafka.consumer.ConsumerConfig`, `kafka.consumer.ZookeeperConsumerConnector` and its `ZKRebalancerListener`
(0.8.2, 1.1).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

import msgspec

from model.cluster.ids import TopicPartition
from model.znodes.consumers import ConsumerRegistration

Pattern = Literal["static", "white_list", "black_list"]


class MemberSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by the names of their keys, with 1.1's defaults.

    `subscription` maps topics to streams (threads); with a list pattern it has one entry, a regular expression.
    `strategy` is one of the assignors with `zk-` in front; `call_back` asks before partitions are given up and taken.
    """

    group_id: str
    consumer_id: str
    subscription: Mapping[str, int]
    pattern: Pattern = "static"
    strategy: str = "zk-range"
    rebalance_max_retries: int = 4
    rebalance_backoff_ms: int = 2_000
    auto_commit_enable: bool = True
    auto_commit_interval_ms: int = 60_000
    zookeeper_session_timeout_ms: int = 6_000
    call_back: bool = False

    def registration(self, at_ms: int) -> bytes:
        """The payload of its id znode."""
        return ConsumerRegistration(
            subscription=self.subscription, pattern=self.pattern, timestamp=str(at_ms)
        ).to_bytes()


def new_consumer_id(group: str, host: str, at_ms: int, high_bits: int) -> str:
    """`group_host-millis-uuid8`. `high_bits`: the higher 64 of a random UUID; leading zeros are not written."""
    return f"{group}_{host}-{at_ms}-{f'{high_bits:x}'[:8]}"


class MemberStage(StrEnum):
    """From start to end; from READING_SELF to BACKING_OFF a rebalance is under way. The last ones are questions that
    anybody may ask at any time."""

    NEW = "new"
    REGISTERING = "registering"
    REGISTERED_BEFORE = "registered-before"
    """Its id is still there from an earlier session: wait, and try again."""
    LISTING_TOPICS = "listing-topics"
    SUBSCRIBING = "subscribing"
    IDLE = "idle"

    READING_SELF = "reading-self"
    STOPPING = "stopping"
    COMMITTING = "committing"
    CALLING_BEFORE_RELEASE = "calling-before-release"
    RELEASING = "releasing"
    READING_MEMBERS = "reading-members"
    READING_REGISTRATIONS = "reading-registrations"
    READING_TOPIC_NAMES = "reading-topic-names"
    READING_TOPICS = "reading-topics"
    CLAIMING = "claiming"
    CHECKING_CLAIMS = "checking-claims"
    READING_OFFSETS = "reading-offsets"
    UNDOING_CLAIMS = "undoing-claims"
    CALLING_BEFORE_START = "calling-before-start"
    BACKING_OFF = "backing-off"

    AWAITING_SESSION = "awaiting-session"
    LEAVING = "leaving"
    COMMITTING_LAST = "committing-last"
    GONE = "gone"

    SIDE_COMMIT = "side-commit"
    SIDE_WATCH = "side-watch"
    SIDE_TOPICS = "side-topics"


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


class RebalanceAttempts(msgspec.Struct, frozen=True):
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


class MemberRebalance(msgspec.Struct, frozen=True):
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
    stage: MemberStage = MemberStage.NEW
    asked: int = 0
    """The number of the last question."""
    registered: bytes = b""
    joined: bool = False
    topics: tuple[str, ...] = ()
    """What it streams; for list patterns those that the pattern allows now."""
    wanted: str = ""
    """Why another rebalance must follow; empty if none must."""
    attempts: RebalanceAttempts | None = None
    view: GroupView | None = None
    owned: Mapping[TopicPartition, str] = {}
    fetching: Mapping[TopicPartition, str] = {}
    consumed: Mapping[TopicPartition, int] = {}
    """The next offset, of what is owned; -1 where none is known yet."""
    committed: Mapping[TopicPartition, int] = {}
    rebalances: tuple[MemberRebalance, ...] = ()
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
