"""What a partition remembers of its idempotent and transactional producers (KIP-98). Pure: bytes and values.

What a producer's next batch may be, which transactions are open, and the content of a .snapshot file.

Kafka 3.9 `org.apache.kafka.storage.internals.log.ProducerStateEntry`, `ProducerAppendInfo`, `ProducerStateManager`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from struct import Struct
from typing import NamedTuple

from model.log.indexes import AbortedTransaction, Buffer
from model.log.names import LogError
from model.log.records import EndTransactionMarker, RecordBatch
from model.log.records.batch import crc32c
from model.log.records.layout import INT32_MAX, NO_SEQUENCE

_HEADER = Struct(">hIi")
_ENTRY = Struct(">qhiqiqiq")
_VERSION = 1
_CRC_END = 6


class SnapshotEntry(NamedTuple):
    """One producer. `offset_delta` is last less first offset of its last batch; -1 stands for none in every field."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int
    coordinator_epoch: int
    current_transaction_first_offset: int


def encode_snapshot(entries: Iterable[SnapshotEntry]) -> bytes:
    """The content of a file: 10 bytes when there are no producers."""
    packed = [_ENTRY.pack(*entry) for entry in entries]
    body = Struct(">i").pack(len(packed)) + b"".join(packed)
    return Struct(">hI").pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: Buffer) -> list[SnapshotEntry]:
    """The producers in a file. Raises ValueError saying what is wrong with it."""
    if len(data) < _HEADER.size:
        raise ValueError(f"{len(data)} bytes are too few for a snapshot")
    version, crc, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise ValueError(f"the version is {version}, not {_VERSION}")
    if crc != crc32c(bytes(data[_CRC_END:])):
        raise ValueError("the CRC does not match the content")
    if len(data) != _HEADER.size + count * _ENTRY.size:
        raise ValueError(f"{count} producers are promised, {(len(data) - _HEADER.size) / _ENTRY.size:g} are there")
    return [SnapshotEntry(*fields) for fields in _ENTRY.iter_unpack(data[_HEADER.size :])]


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


@dataclass(frozen=True)
class EndedTransaction:
    """A transaction whose marker is in the log at `last_offset`."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


@dataclass(frozen=True)
class ProducerUpdate:
    """What an append does to the producers; not in force before `Producers.apply`."""

    producers: tuple[ProducerState, ...] = ()
    begun: tuple[tuple[int, int], ...] = ()
    """First offset and producer id of each new transaction."""
    ended: tuple[EndedTransaction, ...] = ()
    duplicate: WrittenBatch | None = None
    """The append repeats this batch: nothing is to be written."""


@dataclass
class Producers:
    """Producers by id up to `end_offset` (exclusive), ended transactions that are not yet replicated included."""

    end_offset: int = 0
    by_id: dict[int, ProducerState] = field(default_factory=dict[int, ProducerState])
    open: dict[int, int] = field(default_factory=dict[int, int])
    """ProducerState ids by the first offset of their open transaction."""
    unreplicated: list[EndedTransaction] = field(default_factory=list[EndedTransaction])

    def check(
        self, batches: Iterable[tuple[RecordBatch, EndTransactionMarker | None]], origin: Origin
    ) -> ProducerUpdate:
        """What appending these batches, at their final offsets, would do; a marker goes with a control batch.

        Raises LogError as ProducerState does. Changes nothing.
        """
        changed: dict[int, ProducerState] = {}
        begun: list[tuple[int, int]] = []
        ended: list[EndedTransaction] = []
        for batch, marker in batches:
            if batch.producer_id == NONE:
                continue
            before = (
                changed.get(batch.producer_id) or self.by_id.get(batch.producer_id) or ProducerState(batch.producer_id)
            )
            if batch.is_control:
                if marker is None:
                    continue  # compaction has emptied it
                after = before.after_marker(batch.producer_epoch, marker, batch.max_timestamp, origin)
                if before.transaction_first_offset != NONE:
                    ended.append(_ended(before, batch, marker))
            else:
                if origin is Origin.CLIENT and (duplicate := before.duplicate_of(batch)):
                    return ProducerUpdate(duplicate=duplicate)
                after = before.after_data(batch, origin)
                if after.transaction_first_offset != before.transaction_first_offset:
                    begun.append((after.transaction_first_offset, batch.producer_id))
            changed[batch.producer_id] = after
        return ProducerUpdate(tuple(changed.values()), tuple(begun), tuple(ended))

    def apply(self, update: ProducerUpdate, end_offset: int) -> list[AbortedTransaction]:
        """Puts an update in force; the log now ends at `end_offset`. Gives those aborted, for the index."""
        self.by_id.update((producer.producer_id, producer) for producer in update.producers)
        self.open.update(update.begun)
        self.end_offset = end_offset
        aborted: list[AbortedTransaction] = []
        for each in update.ended:
            self.open.pop(each.first_offset, None)
            stable = min(self.open, default=each.last_offset + 1)
            if each.aborted:
                aborted.append(AbortedTransaction(each.producer_id, each.first_offset, each.last_offset, stable))
        self.unreplicated.extend(update.ended)
        return aborted

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """Where the oldest transaction begins that is open, or whose marker is not below the high watermark."""
        ended = (each.first_offset for each in self.unreplicated if each.last_offset >= high_watermark)
        return min((*self.open, *ended), default=None)

    def forget_replicated(self, high_watermark: int) -> None:
        """Forgets transactions whose marker lies below the high watermark."""
        if self.unreplicated:
            self.unreplicated = [each for each in self.unreplicated if each.last_offset >= high_watermark]

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forgets producers without an open transaction that wrote nothing for `expiration_ms`."""
        self.by_id = {
            number: producer
            for number, producer in self.by_id.items()
            if producer.transaction_first_offset != NONE or now_ms - producer.last_timestamp_ms < expiration_ms
        }

    def snapshot(self) -> list[SnapshotEntry]:
        """The producers as a snapshot file keeps them."""
        return [snapshot_entry(producer) for producer in self.by_id.values()]


def _ended(producer: ProducerState, marker_batch: RecordBatch, marker: EndTransactionMarker) -> EndedTransaction:
    first_offset = producer.transaction_first_offset
    return EndedTransaction(producer.producer_id, first_offset, marker_batch.last_offset, not marker.committed)


def producers_from(entries: Iterable[SnapshotEntry], end_offset: int) -> Producers:
    """The producers that a snapshot at `end_offset` tells of."""
    by_id = {entry.producer_id: producer_state_of(entry) for entry in entries}
    begun = ((each.transaction_first_offset, each.producer_id) for each in by_id.values())
    return Producers(end_offset, by_id, {first: number for first, number in begun if first != NONE})
