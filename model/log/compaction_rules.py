"""What of a log may be compacted, whether it is worth it, and what stays of a batch. Pure: batches in, bytes out.

Kafka 3.9 `kafka.log.LogCleanerManager`, `kafka.log.Cleaner.shouldRetainRecord`, `kafka.log.CleanedTransactionMetadata`,
`org.apache.kafka.common.record.MemoryRecords.filterTo`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from model.log.indexes import AbortedTransaction
from model.log.records import (
    Buffer,
    Codec,
    EndTransactionMarker,
    Producer,
    Record,
    RecordBatch,
    TimestampType,
    encode_batch,
)
from model.log.records import encode_message_set as encode_messages
from model.log.records.batch import crc32c
from model.log.records.layout import BATCH, BATCH_CRC_START, BATCH_SIZE, LOG_OVERHEAD, NO_PRODUCER_ID, NO_TIMESTAMP
from model.log.settings import LARGEST_RELATIVE_OFFSET, LogSettings


@dataclass(frozen=True)
class CompactableSegment:
    """A segment as compaction sees it. Times in ms, -1 when no record has one."""

    base_offset: int
    end_offset: int
    size_bytes: int
    index_bytes: int
    """The larger one of its two indexes."""
    first_timestamp_ms: int
    newest_ms: int


@dataclass(frozen=True)
class Cleanable:
    """The dirty range of a log: records from `first_dirty` to `end` have not been compacted yet and may be."""

    first_dirty: int
    end: int
    """The base of the first segment that must be left alone."""
    clean_bytes: int
    dirty_bytes: int
    overdue: bool = False
    """A dirty record is older than max.compaction.lag.ms."""

    @property
    def dirty_ratio(self) -> float:
        """Which part of what may be compacted has not been."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, settings: LogSettings) -> bool:
        """Whether enough is dirty, or something has been so for too long."""
        return self.dirty_bytes > 0 and (self.dirty_ratio > settings.min_cleanable_dirty_ratio or self.overdue)


def cleanable(
    segments: Sequence[CompactableSegment],
    *,
    cleaned_to: int | None,
    start_offset: int,
    last_stable_offset: int,
    settings: LogSettings,
    now_ms: int,
) -> Cleanable:
    """The dirty range of a log whose active segment comes last in `segments`.

    `cleaned_to` is the cleaner's checkpoint; one outside of the log counts as none. Left alone are the active segment,
    open transactions, and segments with records younger than min.compaction.lag.ms.
    """
    active = segments[-1]
    first_dirty = start_offset if cleaned_to is None else cleaned_to
    if not start_offset <= first_dirty <= active.end_offset:
        first_dirty = start_offset
    limit = min(last_stable_offset, active.base_offset)
    if settings.min_compaction_lag_ms > 0:
        young = (each.base_offset for each in segments if each.newest_ms > now_ms - settings.min_compaction_lag_ms)
        limit = min(limit, next((base for base in young if base >= first_dirty), limit))
    end = next((each.base_offset for each in segments[:-1] if each.end_offset > limit), active.base_offset)
    dirty = [each for each in segments if each.end_offset > first_dirty and each.base_offset < end]
    stamps = [each.first_timestamp_ms for each in dirty if each.first_timestamp_ms > 0]
    return Cleanable(
        first_dirty,
        max(end, first_dirty),
        sum(each.size_bytes for each in segments if each.end_offset <= first_dirty),
        sum(each.size_bytes for each in dirty),
        overdue=bool(stamps) and now_ms - min(stamps) > settings.max_compaction_lag_ms,
    )


def grouped(segments: Sequence[CompactableSegment], settings: LogSettings) -> list[list[CompactableSegment]]:
    """Segments that become one each: neighbours whose sizes, indexes and offsets fit one segment."""
    groups: list[list[CompactableSegment]] = []
    for segment in segments:
        if groups and _fit([*groups[-1], segment], settings):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _fit(group: Sequence[CompactableSegment], settings: LogSettings) -> bool:
    return (
        sum(each.size_bytes for each in group) <= settings.segment_bytes
        and sum(each.index_bytes for each in group) <= settings.segment_index_bytes
        and group[-1].end_offset - 1 - group[0].base_offset <= LARGEST_RELATIVE_OFFSET
    )


@dataclass(frozen=True)
class CompactionRules:
    """What holds for one pass over a log."""

    newest: Mapping[bytes, int]
    """The last offset of each key below `end`."""
    end: int
    """Records from here on are kept, for their keys were not looked at."""
    now_ms: int
    delete_retention_ms: int
    last_batches: Mapping[int, int] = field(default_factory=dict[int, int])
    """The offset of the last data of each producer, -1 for none; that batch (or the marker that is all there is) stays,
    if only as a header, for the producer's state stands in it."""
    keep_legacy_tombstones: bool = True
    """For v0 and v1, which have no place for a time of their own."""

    def keeps(self, batch: RecordBatch, record: Record) -> bool:
        """Whether a record of a data batch stays."""
        if record.offset >= self.end:
            return True
        if record.key is None or record.offset < self.newest.get(record.key, -1):
            return False
        if record.value is not None:
            return True
        return self.keep_legacy_tombstones if batch.magic < 2 else not self.is_past_horizon(batch)

    def is_past_horizon(self, batch: RecordBatch) -> bool:
        """Whether consumers had delete.retention.ms since a pass first met this tombstone or marker (KIP-534)."""
        return batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= self.now_ms

    def is_last_of_producer(self, batch: RecordBatch) -> bool:
        """Whether the producer's state stands in this batch."""
        last = self.last_batches.get(batch.producer_id)
        return last == batch.last_offset or (last == -1 and batch.is_control)


def kept_of_data(
    entry: Buffer, batch: RecordBatch, records: Sequence[Record], rules: CompactionRules, *, aborted: bool
) -> bytes:
    """What stays of a data batch, possibly nothing. Of an aborted transaction no record stays."""
    kept = [] if aborted else [record for record in records if rules.keeps(batch, record)]
    if not kept:
        return emptied(entry) if rules.is_last_of_producer(batch) else b""
    has_tombstone = any(record.value is None for record in kept)
    new_horizon = batch.magic >= 2 and has_tombstone and batch.delete_horizon_ms is None
    if len(kept) == len(records) and not new_horizon:
        return bytes(entry)
    horizon_ms = rules.now_ms + rules.delete_retention_ms if new_horizon else batch.delete_horizon_ms
    return _encoded(batch, kept, horizon_ms)


def kept_of_marker(
    entry: Buffer, batch: RecordBatch, records: Sequence[Record], rules: CompactionRules, *, without_data: bool
) -> bytes:
    """What stays of a transaction's marker: all, until its transaction has no data and its time has passed."""
    if without_data and rules.is_past_horizon(batch):
        return emptied(entry) if rules.is_last_of_producer(batch) else b""
    if without_data and batch.delete_horizon_ms is None:
        return _encoded(batch, records, rules.now_ms + rules.delete_retention_ms)
    return bytes(entry)


def emptied(entry: Buffer) -> bytes:
    """The header alone, which keeps offsets and sequence: neither codec nor delete horizon, no records."""
    (base, _, epoch, magic, _, attributes, last_delta, _, max_time, *producer, _) = BATCH.unpack_from(entry)
    attributes &= ~0x47
    length = BATCH_SIZE - LOG_OVERHEAD
    fields = (base, length, epoch, magic, 0, attributes, last_delta, NO_TIMESTAMP, max_time, *producer, 0)
    crc = crc32c(BATCH.pack(*fields)[BATCH_CRC_START:])
    return BATCH.pack(*fields[:4], crc, *fields[5:])


def _encoded(batch: RecordBatch, records: Sequence[Record], horizon_ms: int | None) -> bytes:
    codec = batch.codec or Codec.NONE
    append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    if batch.magic < 2:
        return encode_messages(records, batch.magic, codec, append_time)
    producer = Producer(batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional)
    return encode_batch(
        records,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        codec=codec,
        leader_epoch=batch.partition_leader_epoch,
        producer=None if batch.producer_id == NO_PRODUCER_ID else producer,
        control=batch.is_control,
        append_time_ms=append_time,
        delete_horizon_ms=horizon_ms,
    )


class TransactionsSeen:
    """Told of each batch in order; says of each whether its data counts."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._to_come = sorted(set(aborted), key=lambda each: each.first_offset, reverse=True)
        self._aborted: dict[int, AbortedTransaction] = {}
        self._with_data: set[int] = set()
        """Producers whose transaction, at this place, has left some data in the log."""

    def is_aborted(self, batch: RecordBatch) -> bool:
        """Whether a data batch belongs to a transaction that was aborted."""
        if not batch.is_transactional:
            return False
        self._reach(batch.last_offset)
        self._with_data.add(batch.producer_id)
        return batch.producer_id in self._aborted

    def end(self, batch: RecordBatch, marker: EndTransactionMarker) -> tuple[bool, AbortedTransaction | None]:
        """Whether a marker's transaction has no data left, and, where it has, the entry for the transaction index."""
        self._reach(batch.last_offset)
        has_data = batch.producer_id in self._with_data
        self._with_data.discard(batch.producer_id)
        aborted = None if marker.committed else self._aborted.pop(batch.producer_id, None)
        return not has_data, aborted if has_data else None

    def _reach(self, offset: int) -> None:
        while self._to_come and self._to_come[-1].first_offset <= offset:
            transaction = self._to_come.pop()
            self._aborted[transaction.producer_id] = transaction
