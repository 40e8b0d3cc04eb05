"""The segments of a log in order, whole batches read from them as they lie on disk, and files on their way out.

Kafka 3.9 `kafka.log.LocalLog.read` and `UnifiedLog.fetchOffsetByTimestamp`. Unlike Kafka it returns half batches only
where they are asked for.
Files that are no part of a log any more are renamed at once and removed after file.delete.delay.ms: readers that have
them open, here or in another program that copies the folder, get to their end.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from model.log.indexes import AbortedTransaction
from model.log.names import DELETED
from model.log.records import Record, RecordBatch, records_of
from model.log.segment import Segment


class SegmentList:
    """Segments by base offset. Never empty once a log is open."""

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._segments = sorted(segments, key=lambda each: each.base_offset)

    def __iter__(self) -> Iterator[Segment]:
        return iter(tuple(self._segments))

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def first(self) -> Segment:
        return self._segments[0]

    @property
    def active(self) -> Segment:
        return self._segments[-1]

    def add(self, segment: Segment) -> None:
        """Puts a segment into its place; one of the same base offset makes way."""
        self.remove(segment.base_offset)
        self._segments.insert(self._after(segment.base_offset), segment)

    def remove(self, base_offset: int) -> None:
        """Takes the segment out, if it is there. Its files stay."""
        self._segments = [each for each in self._segments if each.base_offset != base_offset]

    def from_offset(self, offset: int) -> list[Segment]:
        """The segment that may hold an offset, and all after it; all when the offset lies before the first."""
        return self._segments[max(self._after(offset) - 1, 0) :]

    def before(self, offset: int) -> Segment | None:
        """The last segment that starts before an offset."""
        place = self._after(offset - 1)
        return self._segments[place - 1] if place else None

    def end_of(self, segment: Segment, log_end_offset: int) -> int:
        """The base of the segment after this one, or the log's end."""
        place = self._after(segment.base_offset)
        return self._segments[place].base_offset if place < len(self._segments) else log_end_offset

    def _after(self, offset: int) -> int:
        return bisect_right(self._segments, offset, key=lambda each: each.base_offset)


@dataclass(frozen=True)
class Fetched:
    """Whole batches of one segment. The first may start before the offset that was asked for."""

    data: bytes
    next_offset: int
    """The offset after the last batch; the one that was asked for when there is none."""


@dataclass(frozen=True)
class TimestampedOffset:
    """A record found by time."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


class Ending(Enum):
    """Where what is read may end, to use up the bytes that are allowed."""

    WHOLE = "whole batches only"
    AFTER_FIRST = "in the middle of any batch but the first"
    ANYWHERE = "in the middle of any batch"


def read_batches(
    segments: SegmentList,
    offset: int,
    *,
    max_bytes: int,
    end_offset: int,
    at_least_one: bool,
    ending: Ending = Ending.WHOLE,
) -> Fetched:
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
        if ending is not Ending.WHOLE:
            most = max(max_bytes, first.size if at_least_one else 0)
            if most < first.size and ending is Ending.AFTER_FIRST:
                break
            end = min(first.position + most, _limit(segment, end_offset))
            return Fetched(segment.log.read(first.position, end - first.position), first.next_offset)
        last = _last_batch(segment, first, max_bytes, end_offset)
        if last is None and not at_least_one:
            break
        last = last or first
        return Fetched(segment.log.read(first.position, last.end - first.position), last.next_offset)
    return Fetched(b"", offset)


def _limit(segment: Segment, end_offset: int) -> int:
    """The position of the first batch that has records from `end_offset` on, or the end of the segment."""
    beyond = segment.find_offset(end_offset)
    return segment.size_bytes if beyond is None else beyond.position


def _last_batch(segment: Segment, first: RecordBatch, max_bytes: int, end_offset: int) -> RecordBatch | None:
    """The last batch that still fits; none when the first does not. The index saves looking at those between."""
    end = min(first.position + max_bytes, _limit(segment, end_offset))
    if first.end > end:
        return None
    appended = segment.last_appended
    if appended is not None and appended.end <= end:
        return appended
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


class DoomedFiles:
    """Files called `.deleted` and when each may go. What is still there when a process ends goes at the next start."""

    def __init__(self) -> None:
        self._due: list[tuple[int, Path]] = []

    def doom(self, paths: Iterable[Path], due_ms: int) -> None:
        """Renames files; they may be removed from `due_ms` on."""
        for path in paths:
            target = path.with_name(path.name + DELETED)
            path.replace(target)
            self._due.append((due_ms, target))

    def move_to(self, folder: Path) -> None:
        """They lie in another folder: theirs was renamed."""
        self._due = [(due_ms, folder / path.name) for due_ms, path in self._due]

    def remove_due(self, now_ms: int) -> list[Path]:
        """Removes those whose time has come, and says which."""
        gone = [path for due_ms, path in self._due if due_ms <= now_ms]
        self._due = [(due_ms, path) for due_ms, path in self._due if due_ms > now_ms]
        for path in gone:
            path.unlink(missing_ok=True)
        return gone
