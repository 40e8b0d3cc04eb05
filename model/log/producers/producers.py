"""All producers of a partition, and which of its transactions are open.

Kafka 3.9 `org.apache.kafka.storage.internals.log.ProducerStateManager`. It touches no file: snapshots are values.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from model.log.indexes.producer_snapshot import SnapshotEntry
from model.log.indexes.transaction_index import AbortedTransaction
from model.log.producers.producer_state import (
    NONE,
    Origin,
    ProducerState,
    WrittenBatch,
    producer_state_of,
    snapshot_entry,
)
from model.log.records import EndTransactionMarker, RecordBatch


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

    def first_undecided_offset(self) -> int | None:
        """Where the oldest transaction without a marker begins; None when there is none."""
        return min(self.open, default=None)

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
