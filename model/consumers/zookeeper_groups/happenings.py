"""What a member tells of itself while it decides: values for a log, a screen, a test. Each is one sentence, too."""

from collections.abc import Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import counted


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
