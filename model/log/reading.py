"""Reads whole batches of a log as they lie on disk, for fetch responses and for replay. It changes nothing.

Kafka 3.9 `kafka.log.LocalLog.read` and `UnifiedLog.fetchOffsetByTimestamp`; unlike Kafka it returns no half batches.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from model.log.indexes.transaction_index import AbortedTransaction
from model.log.records import Record, RecordBatch, records_of
from model.log.segments.segment import Segment
from model.log.segments.segment_list import SegmentList


@dataclass(frozen=True)
class Fetched:
    """Whole batches of one segment. The first may start before the offset that was asked for."""

    data: bytes
    next_offset: int
    """The offset after the last batch; the one that was asked for when there is none."""
    aborted: tuple[AbortedTransaction, ...] = ()
    """Transactions that readers of committed records must leave out."""


@dataclass(frozen=True)
class TimestampedOffset:
    """A record found by time."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


def read_batches(segments: SegmentList, offset: int, *, max_bytes: int, end_offset: int, at_least_one: bool) -> Fetched:
    """Batches from the one that holds `offset` on, all below `end_offset`, as many as fit into `max_bytes`.

    `at_least_one`: a batch that is larger than that is returned all the same, so that a reader can get past it.
    """
    for segment in segments.from_offset(offset):
        if segment.base_offset >= end_offset:
            break
        first = segment.find_offset(offset)
        if first is None:
            continue  # compaction took the last batches of this one
        if first.last_offset >= end_offset:
            break
        last = _last_batch(segment, first, max_bytes, end_offset)
        if last is None and not at_least_one:
            break
        last = last or first
        return Fetched(segment.log.read(first.position, last.end - first.position), last.next_offset)
    return Fetched(b"", offset)


def _last_batch(segment: Segment, first: RecordBatch, max_bytes: int, end_offset: int) -> RecordBatch | None:
    """The last batch that still fits; none when the first does not. The index saves looking at those between."""
    end = min(first.position + max_bytes, segment.size_bytes)
    if (beyond := segment.find_offset(end_offset)) is not None:
        end = min(end, beyond.position)
    if first.end > end:
        return None
    last = first
    for batch in segment.batches(max(segment.indexed_position_before(end), first.position)):
        if batch.end > end:
            break
        last = batch
    return last


def aborted_transactions(segments: SegmentList, start_offset: int, end_offset: int) -> tuple[AbortedTransaction, ...]:
    """Aborted transactions that have records in a range of offsets (the end exclusive)."""
    found: list[AbortedTransaction] = []
    for segment in segments.from_offset(start_offset):
        for each in segment.transaction_index.aborted():
            if each.last_offset >= start_offset and each.first_offset < end_offset:
                found.append(each)
            if each.last_stable_offset >= end_offset:
                return tuple(found)
    return tuple(found)


def find_timestamp(segments: Iterable[Segment], timestamp_ms: int, start_offset: int) -> TimestampedOffset | None:
    """The first record from `start_offset` on that is not older than a time; None when there is none."""
    for segment in segments:
        if segment.max_timestamp_ms < timestamp_ms:
            continue
        batch = segment.find_timestamp(timestamp_ms, start_offset)
        while batch is not None:
            for record in records_of(segment.log, batch):
                if not isinstance(record, Record):
                    break
                if record.timestamp >= timestamp_ms and record.offset >= start_offset:
                    return TimestampedOffset(record.offset, record.timestamp, batch.partition_leader_epoch)
            batch = segment.find_timestamp(timestamp_ms, batch.next_offset)
    return None
