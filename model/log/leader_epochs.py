"""Which leader epoch wrote which offsets: the history that followers compare to find where their logs part.

`org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache` (3.9), KIP-101 and KIP-279. It writes no file itself.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from model.log.checkpoints import INT32, INT64, read_checkpoint, whole_number, write_checkpoint

NO_EPOCH = -1
NO_OFFSET = -1


class EpochStart(NamedTuple):
    """The first offset of a leader's epoch."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """Where an epoch ended: the first offset that is no more its own. Both -1: not known."""

    epoch: int
    end_offset: int


UNKNOWN_END = EpochEnd(NO_EPOCH, NO_OFFSET)


@dataclass(frozen=True)
class LeaderEpochs:
    """Epochs with their start offsets, both rising. A value: each change gives another."""

    starts: tuple[EpochStart, ...] = ()

    @property
    def latest(self) -> int | None:
        """The newest epoch; None when none is known."""
        return self.starts[-1].epoch if self.starts else None

    def assign(self, epoch: int, start_offset: int) -> "LeaderEpochs":
        """With an epoch that starts at an offset; entries that contradict it (as new, or as far on) are dropped.

        An epoch that is already the latest keeps its start.
        """
        if self.latest is not None and self.latest == epoch and start_offset >= self.starts[-1].start_offset:
            return self
        kept = tuple(each for each in self.starts if each.epoch < epoch and each.start_offset < start_offset)
        return LeaderEpochs((*kept, EpochStart(epoch, start_offset)))

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """What a leader answers when it is asked for an epoch's end (OffsetsForLeaderEpoch, Fetch's diverging epoch).

        The latest epoch ends at the log's end. An epoch newer than all is unknown. One older than all ends, by that
        name, where the first known one begins. Else the answer is for the greatest known epoch that is not newer.
        """
        if epoch == NO_EPOCH or not self.starts:
            return UNKNOWN_END
        if epoch == self.latest:
            return EpochEnd(epoch, log_end_offset)
        later = bisect_right(self.starts, epoch, key=lambda each: each.epoch)
        if later == len(self.starts):
            return UNKNOWN_END
        floor = epoch if later == 0 else self.starts[later - 1].epoch
        return EpochEnd(floor, self.starts[later].start_offset)

    def epoch_at(self, offset: int) -> int | None:
        """The epoch that wrote an offset; None before the first known one."""
        later = bisect_right(self.starts, offset, key=lambda each: each.start_offset)
        return self.starts[later - 1].epoch if later else None

    def truncate_from_end(self, end_offset: int) -> "LeaderEpochs":
        """Without epochs that start at `end_offset` or later."""
        return self._unless_same([each for each in self.starts if each.start_offset < end_offset])

    def truncate_from_start(self, start_offset: int) -> "LeaderEpochs":
        """Without what lies before `start_offset`: the epoch it lies in now starts there."""
        later = bisect_right(self.starts, start_offset, key=lambda each: each.start_offset)
        if later == 0:
            return self
        return self._unless_same([EpochStart(self.starts[later - 1].epoch, start_offset), *self.starts[later:]])

    def _unless_same(self, starts: Sequence[EpochStart]) -> "LeaderEpochs":
        kept = tuple(starts)
        return self if kept == self.starts else LeaderEpochs(kept)


def read_leader_epochs(path: Path) -> LeaderEpochs:
    """A partition's leader-epoch-checkpoint; empty when there is none. Raises DamagedFileError.

    A line that contradicts those before it wins over them, as in Kafka.
    """
    epochs = LeaderEpochs()
    for epoch, start_offset in read_checkpoint(path, _parse):
        epochs = epochs.assign(epoch, start_offset)
    return epochs


def write_leader_epochs(path: Path, epochs: LeaderEpochs, *, fsync: bool = True) -> None:
    """Replaces the checkpoint."""
    write_checkpoint(path, (f"{epoch} {start}" for epoch, start in epochs.starts), fsync=fsync)


def _parse(words: list[str]) -> EpochStart:
    epoch, start_offset = words
    return EpochStart(whole_number(epoch, INT32), whole_number(start_offset, INT64))
