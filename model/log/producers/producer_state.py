"""One producer as a partition knows it, and what its next batch may be. Pure.

Kafka 3.9 `org.apache.kafka.storage.internals.log.ProducerStateEntry` and `ProducerAppendInfo`.
"""

from dataclasses import dataclass, replace
from enum import Enum

from model.log.errors import LogError
from model.log.indexes.producer_snapshot import SnapshotEntry
from model.log.records import EndTransactionMarker, RecordBatch
from model.log.records.layout import INT32_MAX, NO_SEQUENCE

BATCHES_KEPT = 5
"""As many as a producer may have in flight; each can come again."""
NONE = -1


class Origin(Enum):
    """Who appends, which says how much is checked."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    """Group and transaction coordinators: no sequence numbers."""
    REPLICATION = "replication"
    """A leader has checked it."""


@dataclass(frozen=True)
class WrittenBatch:
    """A batch of a producer that is in the log."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    """Last offset less the first."""
    timestamp_ms: int

    @property
    def first_offset(self) -> int:
        """Where the batch starts."""
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        """Sequences count to 2^31 - 1 and go on at 0."""
        first = self.last_sequence - self.offset_delta
        return first if first >= 0 else first + INT32_MAX + 1


@dataclass(frozen=True)
class ProducerState:
    """The state of one producer; a value, each batch gives another."""

    producer_id: int
    epoch: int = NONE
    batches: tuple[WrittenBatch, ...] = ()
    """The last five, oldest first; none after a marker of a new epoch."""
    coordinator_epoch: int = NONE
    transaction_first_offset: int = NONE
    """Where the transaction under way began; -1 without one."""
    last_timestamp_ms: int = NONE

    @property
    def last_sequence(self) -> int:
        """The last one written; -1 when none is known."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        """The offset of the last record written; -1 when only markers are known."""
        return self.batches[-1].last_offset if self.batches else NONE

    def duplicate_of(self, batch: RecordBatch) -> WrittenBatch | None:
        """The batch in the log that this one repeats; None when it is new."""
        if batch.producer_epoch != self.epoch:
            return None
        sequences = batch.base_sequence, batch.last_sequence
        return next((old for old in self.batches if (old.first_sequence, old.last_sequence) == sequences), None)

    def after_data(self, batch: RecordBatch, origin: Origin) -> "ProducerState":
        """The producer once it has written a batch. Raises LogError when that batch may not follow.

        OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH (an older instance writes), INVALID_TXN_STATE.
        """
        self._check_epoch(batch.producer_epoch, origin)
        if origin is Origin.CLIENT:
            self._check_sequence(batch)
        if self.transaction_first_offset != NONE and not batch.is_transactional and origin is not Origin.REPLICATION:
            raise LogError(
                "INVALID_TXN_STATE",
                f"producer {self.producer_id} has a transaction open since offset {self.transaction_first_offset} "
                "and writes outside of it",
            )
        written = WrittenBatch(batch.last_sequence, batch.last_offset, batch.last_offset_delta, batch.max_timestamp)
        starts = batch.is_transactional and self.transaction_first_offset == NONE
        return replace(
            self,
            epoch=batch.producer_epoch,
            batches=(*(self.batches if batch.producer_epoch == self.epoch else ()), written)[-BATCHES_KEPT:],
            transaction_first_offset=batch.base_offset if starts else self.transaction_first_offset,
            last_timestamp_ms=batch.max_timestamp,
        )

    def after_marker(
        self, epoch: int, marker: EndTransactionMarker, timestamp_ms: int, origin: Origin = Origin.COORDINATOR
    ) -> "ProducerState":
        """The producer once its transaction has ended.

        Raises LogError: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED (an older coordinator ends it).
        """
        self._check_epoch(epoch, origin)
        if marker.coordinator_epoch < self.coordinator_epoch and origin is not Origin.REPLICATION:
            raise LogError(
                "TRANSACTION_COORDINATOR_FENCED",
                f"a coordinator of epoch {marker.coordinator_epoch} ends a transaction of producer {self.producer_id}, "
                f"which one of epoch {self.coordinator_epoch} has dealt with",
            )
        return replace(
            self,
            epoch=epoch,
            batches=self.batches if epoch == self.epoch else (),
            coordinator_epoch=marker.coordinator_epoch,
            transaction_first_offset=NONE,
            last_timestamp_ms=timestamp_ms,
        )

    def _check_epoch(self, epoch: int, origin: Origin) -> None:
        if epoch < self.epoch and origin is not Origin.REPLICATION:
            raise LogError(
                "INVALID_PRODUCER_EPOCH",
                f"producer {self.producer_id} writes with epoch {epoch}, but epoch {self.epoch} has taken over",
            )

    def _check_sequence(self, batch: RecordBatch) -> None:
        if self.epoch == NONE:
            return  # unknown, perhaps because all it wrote has been deleted: any sequence may follow
        last, first = self.last_sequence, batch.base_sequence
        if batch.producer_epoch != self.epoch:
            if first != 0:
                raise LogError(
                    "OUT_OF_ORDER_SEQUENCE_NUMBER",
                    f"producer {self.producer_id} begins epoch {batch.producer_epoch} with sequence {first}, not 0",
                )
        elif not (first == last + 1 or (first == 0 and last == INT32_MAX)):
            raise LogError(
                "OUT_OF_ORDER_SEQUENCE_NUMBER",
                f"producer {self.producer_id} writes sequence {first}, but {last} was the last",
            )


def snapshot_entry(producer: ProducerState) -> SnapshotEntry:
    """What a snapshot keeps: only the last batch."""
    last = producer.batches[-1] if producer.batches else WrittenBatch(NO_SEQUENCE, NONE, 0, NONE)
    return SnapshotEntry(
        producer.producer_id,
        producer.epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        producer.last_timestamp_ms,
        producer.coordinator_epoch,
        producer.transaction_first_offset,
    )


def producer_state_of(entry: SnapshotEntry) -> ProducerState:
    """The producer that a snapshot tells of."""
    last = WrittenBatch(entry.last_sequence, entry.last_offset, entry.offset_delta, entry.timestamp_ms)
    return ProducerState(
        entry.producer_id,
        entry.producer_epoch,
        (last,) if entry.last_offset >= 0 else (),
        entry.coordinator_epoch,
        entry.current_transaction_first_offset,
        entry.timestamp_ms,
    )
