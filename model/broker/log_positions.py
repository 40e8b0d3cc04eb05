"""What the decisions of a broker need to know of a log. The log itself is elsewhere: nothing is read or cut here."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from model.cluster.ids import TopicPartition

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
        """There is none."""
        return None

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Nothing is known."""
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
