"""A partition's log in memory: batches of one record, leader epochs, producers by the house's own rules. No bytes."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from model.broker.partition import LogPositions
from model.log.checkpoints import LeaderEpochs
from model.log.producers import Origin, Producers
from model.log.records import RecordBatch
from tests.simulation.violation import promise


def one_record(number: int, producer: int = -1, sequence: int = -1) -> RecordBatch:
    """A batch that no other equals, with no offset and no leader epoch yet. `number` stands where its CRC would."""
    epoch = -1 if producer == -1 else 0
    return RecordBatch(0, 0, -1, 2, number, 0, producer_id=producer, producer_epoch=epoch, base_sequence=sequence)


class MemoryLog:
    """It outlives its broker's process. `flushed`: what also outlives a power failure. `checkpoint`: of the high
    watermark."""

    def __init__(self, topic_id: str | None) -> None:
        self.topic_id = topic_id
        self.records: list[RecordBatch] = []
        self.epochs = LeaderEpochs()
        self.flushed = 0
        self.checkpoint = 0
        self._producers = Producers()

    @property
    def end(self) -> int:
        """The next offset."""
        return len(self.records)

    @property
    def positions(self) -> LogPositions:
        """What decisions know of it."""
        return LogPositions(0, len(self.records), self.epochs, self.checkpoint, self.topic_id)

    def append_as_leader(self, sent: RecordBatch, leader_epoch: int) -> int:
        """The log end to be reached before it counts as replicated: the old one for a batch that came before.

        Raises LogError for a batch that may not follow.
        """
        batch = replace(sent, base_offset=len(self.records), partition_leader_epoch=leader_epoch)
        update = self._producers.check(((batch, None),), Origin.CLIENT)
        if update.duplicate is not None:
            return update.duplicate.last_offset + 1
        self._producers.apply(update, batch.next_offset)
        self._append(batch)
        return len(self.records)

    def append_as_follower(self, fetched: Iterable[RecordBatch]) -> None:
        """What a leader sent."""
        for batch in fetched:
            promise(batch.base_offset == self.end, f"record {batch.base_offset} is appended at offset {self.end}")
            self._producers.apply(self._producers.check(((batch, None),), Origin.REPLICATION), batch.next_offset)
            self._append(batch)

    def start_epoch(self, leader_epoch: int, start_offset: int) -> None:
        """A leader begins."""
        self.epochs = self.epochs.assign(leader_epoch, start_offset)

    def truncate(self, end: int) -> None:
        """Cut it; what producers wrote is learnt again from what is left."""
        del self.records[end:]
        self.epochs = self.epochs.truncate_from_end(end)
        self.flushed = min(self.flushed, end)
        self._producers = Producers()
        for batch in self.records:
            self._producers.apply(self._producers.check(((batch, None),), Origin.REPLICATION), batch.next_offset)

    def _append(self, batch: RecordBatch) -> None:
        newest = self.records[-1].partition_leader_epoch if self.records else -1
        promise(newest <= batch.partition_leader_epoch, f"epoch {batch.partition_leader_epoch} follows epoch {newest}")
        self.epochs = self.epochs.assign(batch.partition_leader_epoch, batch.base_offset)
        self.records.append(batch)
