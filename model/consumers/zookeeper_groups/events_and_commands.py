"""What can happen to a member, what it wants done, what it reports of itself, and a decision, which holds both.

Events are facts. A host carries out commands in order and decides nothing. Each happening is a value for a log, a
screen or a test, and one sentence, too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted
from model.consumers.zookeeper_groups.member_state import MemberStage, MemberState
from model.zookeeper import Answer, ZooKeeperRequest

BACKOFF = "rebalance-backoff"
AUTO_COMMIT = "auto-commit"
REGISTRATION = "registration"


class Command(msgspec.Struct, frozen=True):
    """Something to do."""


class AskZooKeeper(Command, frozen=True):
    """Send these requests pipelined and tell all answers at once, with the question itself.

    `offsets` is what a commit is about.
    """

    stage: MemberStage
    number: int
    requests: tuple[ZooKeeperRequest, ...]
    offsets: Mapping[TopicPartition, int] = {}


class StopFetching(Command, frozen=True):
    """Fetch no more, throw away what the application has not taken, and tell FetchingStopped; also if nothing runs."""


class FetchPosition(msgspec.Struct, frozen=True, gc=False):
    """Where a thread goes on in a partition; offset -1: where `auto.offset.reset` says."""

    thread: str
    offset: int


class StartFetching(Command, frozen=True):
    """Fetch these partitions from their leaders."""

    positions: Mapping[TopicPartition, FetchPosition]


class StartTimer(Command, frozen=True):
    """Tell TimerFired after this time; replaces a running timer of the same name."""

    timer: str
    after_ms: int


class CallBack(Command, frozen=True):
    """Let the application have its say, then tell CallbackReturned.

    Before partitions are released: those. Before fetching starts: all owners in the group, as this member sees it.
    """

    before: str
    """`release` or `start`."""
    owners: Mapping[TopicPartition, str]


class CloseSession(Command, frozen=True):
    """End the ZooKeeper session, which deletes the member's znodes, and then the process."""


class GiveUp(Command, frozen=True):
    """The consumer could not join: the application gets an exception (ConsumerRebalanceFailedException)."""

    why: str


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, `at_ms` since the epoch."""

    at_ms: int = 0


class MemberStarted(Event, frozen=True):
    """The process runs, and its first ZooKeeper session is open."""


class ZooKeeperAnswered(Event, frozen=True):
    """All answers to a question, in the order of its requests."""

    asked: AskZooKeeper
    answers: tuple[Answer, ...]


class WatchFired(Event, frozen=True):
    """A one-shot watch has fired and is gone. `deleted`: so is the znode."""

    path: str
    deleted: bool = False


class TimerFired(Event, frozen=True):
    """The time of a `StartTimer` is up."""

    timer: str


class RecordsConsumed(Event, frozen=True):
    """How far the application has come: the next offset to consume, by partition."""

    offsets: Mapping[TopicPartition, int]


class FetchingStopped(Event, frozen=True):
    """Nothing is fetched or handed to the application any more, and all that was has been told."""


class CallbackReturned(Event, frozen=True):
    """The application is done with a `CallBack`."""


class CommitRequested(Event, frozen=True):
    """The application commits: these offsets, or all that it has consumed."""

    offsets: Mapping[TopicPartition, int] | None = None


class SessionExpired(Event, frozen=True):
    """ZooKeeper has ended the session: its ephemeral znodes are gone."""


class SessionEstablished(Event, frozen=True):
    """A new session is open."""


class LeaveRequested(Event, frozen=True):
    """The application shuts the consumer down."""


class Happening(msgspec.Struct, frozen=True, tag_field="happening", tag=True):
    """Something worth telling. `str` gives the sentence."""


class Registered(Happening, frozen=True, tag="registered"):
    """Its id znode is there."""

    consumer_id: str

    def __str__(self) -> str:
        return f"{self.consumer_id} is registered."


class RebalanceBegan(Happening, frozen=True, tag="rebalance-began"):
    """An attempt of a rebalance begins."""

    why: str
    attempt: int

    def __str__(self) -> str:
        return f"Rebalance, attempt {self.attempt}: {self.why}."


class OffsetsCommitted(Happening, frozen=True, tag="offsets-committed"):
    """Offsets are in ZooKeeper."""

    offsets: tuple[tuple[str, int, int], ...]
    """Topic, partition, offset."""

    def __str__(self) -> str:
        return f"Offsets of {counted(len(self.offsets), 'partition')} are committed."


class PartitionsReleased(Happening, frozen=True, tag="released"):
    """Owner znodes are deleted."""

    partitions: tuple[TopicPartition, ...]

    def __str__(self) -> str:
        return f"{counted(len(self.partitions), 'partition')} released: {_named(self.partitions)}."


class GroupRead(Happening, frozen=True, tag="group-read"):
    """The member's own view, which others need not share."""

    members: tuple[str, ...]
    partitions: Mapping[str, int]

    def __str__(self) -> str:
        counts = counted(len(self.members), "member"), counted(sum(self.partitions.values()), "partition")
        return f"The group as seen from here: {counts[0]}, {counts[1]}."


class PartitionsClaimed(Happening, frozen=True, tag="claimed"):
    """All that was wanted is owned."""

    partitions: tuple[tuple[str, int, str], ...]
    """Topic, partition, thread."""

    def __str__(self) -> str:
        claimed = [TopicPartition(topic, number) for topic, number, _ in self.partitions]
        return f"{counted(len(claimed), 'partition')} claimed: {_named(claimed)}."


class ClaimConflicted(Happening, frozen=True, tag="conflict"):
    """An owner znode belongs to another thread."""

    partition: TopicPartition
    thread: str
    owner: str
    """Empty: it had let go when it was looked at."""

    def __str__(self) -> str:
        return f"{self.thread} cannot have {self.partition}: it belongs to {self.owner or 'somebody who just left it'}."


class AttemptFailed(Happening, frozen=True, tag="attempt-failed"):
    """All is taken back, and tried again if retries are left."""

    why: str
    attempt: int
    retries_left: int

    def __str__(self) -> str:
        return f"Attempt {self.attempt} failed: {self.why}. Retries left: {self.retries_left}."


class RebalanceEnded(Happening, frozen=True, tag="rebalance-ended"):
    """The partitions gained and lost are against those before the first attempt."""

    succeeded: bool
    attempts: int
    took_ms: int
    owned: int
    gained: tuple[TopicPartition, ...]
    lost: tuple[TopicPartition, ...]

    def __str__(self) -> str:
        outcome = "The rebalance is done" if self.succeeded else "The rebalance has failed for good"
        return (
            f"{outcome} after {counted(self.attempts, 'attempt')} in {self.took_ms:,} ms: "
            f"{counted(self.owned, 'partition')} owned, {len(self.gained)} gained, {len(self.lost)} lost."
        )


class SessionLost(Happening, frozen=True, tag="session-expired"):
    """The session has expired."""

    owned: tuple[TopicPartition, ...]

    def __str__(self) -> str:
        return f"The session has expired: {counted(len(self.owned), 'partition')} may go to others from now on."


class Left(Happening, frozen=True, tag="left"):
    """The end."""

    def __str__(self) -> str:
        return "The member leaves the group."


def _named(partitions: Sequence[TopicPartition]) -> str:
    return ", ".join(map(str, sorted(partitions))) or "none"


replace = msgspec.structs.replace


class MemberDecision(msgspec.Struct, frozen=True):
    """The member from now on, what to do, and what to tell: each happening is a sentence."""

    member: MemberState
    commands: tuple[Command, ...] = ()
    happenings: tuple[Happening, ...] = ()

    def then(self, step: Callable[[MemberState], "MemberDecision"]) -> "MemberDecision":
        """This, and what another step makes of it."""
        later = step(self.member)
        return MemberDecision(later.member, self.commands + later.commands, self.happenings + later.happenings)


Step = Callable[[MemberState, tuple[Answer, ...], int], MemberDecision]
"""What follows from the answers to the question that a member waits for, at a time in ms."""


def ask(member: MemberState, stage: MemberStage, *requests: ZooKeeperRequest, **more: Any) -> MemberDecision:
    """Ask ZooKeeper and wait for the answers in this stage. No requests: the answers come at once, and are none."""
    waiting = replace(member, stage=stage, asked=member.asked + 1)
    return MemberDecision(waiting, (AskZooKeeper(stage, waiting.asked, requests, **more),))


def aside(member: MemberState, stage: MemberStage, *requests: ZooKeeperRequest, **more: Any) -> MemberDecision:
    """Ask ZooKeeper beside whatever is waited for."""
    return MemberDecision(member, (AskZooKeeper(stage, 0, requests, **more),))
