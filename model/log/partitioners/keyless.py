"""Records without a key: round robin, or one partition for a while. Values: each choice gives the next state.

`choice` is a random whole number that is not negative, of at least 31 bits; partitions are those that have a leader.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class RoundRobin:
    """Partitions in turn: the Java client 0.8.2 to 2.3 (`DefaultPartitioner`), from a random start."""

    counter: int

    def partition(self, partitions: Sequence[int]) -> tuple[int, "RoundRobin"]:
        """The partition of this record, and the state for the next. The counter goes on below 0 after 2^31 - 1."""
        following = self.counter + 1 if self.counter < 2**31 - 1 else -(2**31)
        return partitions[(self.counter & 0x7FFFFFFF) % len(partitions)], RoundRobin(following)


@dataclass(frozen=True)
class RandomForAWhile:
    """One partition until metadata is refreshed: the Scala producer of 0.8 (topic.metadata.refresh.interval.ms)."""

    chosen: int | None = None

    def partition(self, partitions: Sequence[int], choice: int) -> tuple[int, "RandomForAWhile"]:
        """The partition of this record; `choice` counts only when none is chosen, or it has no leader any more."""
        if self.chosen in partitions and self.chosen is not None:
            return self.chosen, self
        chosen = partitions[choice % len(partitions)]
        return chosen, RandomForAWhile(chosen)

    def after_refresh(self) -> "RandomForAWhile":
        """The state once metadata came anew."""
        return RandomForAWhile()


@dataclass(frozen=True)
class Sticky:
    """One partition for each batch: the Java client 2.4 to 3.2 (KIP-480, `StickyPartitionCache`)."""

    chosen: int | None = None

    def partition(self, partitions: Sequence[int], choice: int) -> tuple[int, "Sticky"]:
        """The partition of this record."""
        if self.chosen is not None:
            return self.chosen, self
        chosen = partitions[choice % len(partitions)]
        return chosen, Sticky(chosen)

    def after_new_batch(self, partitions: Sequence[int], choice: int) -> "Sticky":
        """The state once a new batch had to be begun: another partition, if there is one."""
        others = [each for each in partitions if each != self.chosen]
        return Sticky(others[choice % len(others)] if others else self.chosen)


@dataclass(frozen=True)
class UniformSticky:
    """One partition for batch.size bytes: the Java client 3.3 and later (KIP-794, `BuiltInPartitioner`)."""

    batch_size: int
    """batch.size, in bytes."""
    chosen: int | None = None
    sent_bytes: int = 0

    def partition(
        self, partitions: Sequence[int], choice: int, queue_sizes: Sequence[int] | None = None
    ) -> tuple[int, "UniformSticky"]:
        """The partition of this record.

        With the batches waiting for each partition in `queue_sizes`, one with a shorter queue is chosen more often: its
        weight is the longest queue plus one less its own.
        """
        if self.chosen is not None:
            return self.chosen, self
        chosen = partitions[_weighted(queue_sizes, choice) if queue_sizes else choice % len(partitions)]
        return chosen, UniformSticky(self.batch_size, chosen)

    def after_append(self, record_bytes: int, *, batch_ready: bool) -> "UniformSticky":
        """The state once a record went to the chosen partition.

        After batch.size bytes another one is chosen, but not before the batch is ready or twice as much was sent.
        """
        sent = self.sent_bytes + record_bytes
        if sent >= 2 * self.batch_size or (sent >= self.batch_size and batch_ready):
            return UniformSticky(self.batch_size)
        return UniformSticky(self.batch_size, self.chosen, sent)


def _weighted(queue_sizes: Sequence[int], choice: int) -> int:
    longest = max(queue_sizes)
    sums = list(accumulate(longest + 1 - size for size in queue_sizes))
    return bisect_right(sums, choice % sums[-1])
