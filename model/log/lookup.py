"""How a log finds an offset or a time, step by step, as values that a screen can show.

Kafka's own three steps: the segment by a search of base offsets, a place in it by a search of its index, then batch by
batch from there. The folder may belong to a running broker: files are opened to read only, and nothing is repaired.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.indexes import (
    OFFSET_ENTRY,
    TIME_ENTRY,
    OffsetEntry,
    Probe,
    TimeEntry,
    offset_entry,
    search_slots,
    time_entry,
    written_entries,
)
from model.log.names import INDEX, LOG, TIME_INDEX, NumberedFile, numbered_file
from model.log.records import Damage, Record, RecordBatch, SegmentFile, records_of, scan


@dataclass(frozen=True)
class ReadableSegment:
    """One segment; its indexes are read when they are asked for."""

    folder: Path
    base_offset: int

    def path(self, kind: str) -> Path:
        """The file of a kind, which may not exist."""
        return self.folder / str(NumberedFile(self.base_offset, kind))

    def open_log(self) -> SegmentFile:
        """The log as long as it is now. Raises OSError; FileNotFoundError when retention was quicker."""
        return SegmentFile(self.path(LOG))

    def offset_entries(self) -> bytes:
        """What is written of the offset index, without the zeros of an active one; empty without such a file."""
        return _written(self.path(INDEX), OFFSET_ENTRY)

    def time_entries(self) -> bytes:
        """What is written of the time index."""
        return _written(self.path(TIME_INDEX), TIME_ENTRY)


def readable_segments(folder: Path) -> list[ReadableSegment]:
    """The segments of a partition's folder by base offset. Raises OSError when the folder can't be read."""
    files = (numbered_file(path.name) for path in folder.iterdir())
    bases = sorted(file.offset for file in files if file and file.kind == LOG and not file.suffix)
    return [ReadableSegment(folder, base) for base in bases]


def _written(path: Path, entry: Struct) -> bytes:
    try:
        data = read_whole(path, MOST_FACTS, only_file=True)
    except FileNotFoundError:
        return b""
    return data[: written_entries(data, entry) * entry.size]


@dataclass(frozen=True)
class SegmentStep:
    """Which segment may hold an offset: the last whose base is not above it, by binary search."""

    probes: tuple[Probe, ...]
    """Places in the list of segments that were looked at, with their base offsets."""
    base_offset: int | None
    """None when the offset lies before the first segment."""


@dataclass(frozen=True)
class OffsetIndexStep:
    """Where in the segment to start: the last entry that is not above the offset, by binary search."""

    entries: int
    probes: tuple[Probe, ...]
    """Slots that were looked at, with their relative offsets."""
    entry: OffsetEntry | None
    """None when the index has no such entry: the scan starts at the segment's first byte."""

    @property
    def position(self) -> int:
        """Where the scan starts, in bytes."""
        return self.entry.position if self.entry else 0


@dataclass(frozen=True)
class ScanStep:
    """Batches that were read one after the other, up to the one that was looked for."""

    start: int
    """The position of the first one, in bytes."""
    batches: tuple[RecordBatch, ...]
    damage: Damage | None = None
    """What ended the scan, where something did."""

    @property
    def bytes_read(self) -> int:
        """From the first batch's start to the last one's end."""
        return self.batches[-1].end - self.start if self.batches else 0


@dataclass(frozen=True)
class OffsetLookup:
    """The search for an offset. `batch` is the first that ends at it or later: the one that a fetch starts with."""

    target: int
    segment: SegmentStep
    index: OffsetIndexStep | None
    scan: ScanStep | None
    segments_passed: tuple[int, ...] = ()
    """Bases of later segments that had to be scanned, for compaction took the end of the one that was found."""
    batch: RecordBatch | None = None
    record: Record | None = None
    """The record at that offset; None when compaction took it, or in a batch that can't be read."""


@dataclass(frozen=True)
class TimeLookup:
    """The search for the first record that is not older than a time."""

    target_ms: int
    segments_passed: tuple[int, ...]
    """Bases of segments that are older as a whole, by the last entry of their time index."""
    base_offset: int | None
    time_entries: int = 0
    time_probes: tuple[Probe, ...] = ()
    """Slots that were looked at, with their timestamps."""
    time_entry: TimeEntry | None = None
    """The last one before the time; None: from the segment's start."""
    index: OffsetIndexStep | None = None
    scan: ScanStep | None = None
    batch: RecordBatch | None = None
    record: Record | None = None


def find_offset(segments: Sequence[ReadableSegment], offset: int) -> OffsetLookup:
    """Looks for an offset among a log's segments. Raises OSError where one can't be read."""
    step = _segment_step(segments, offset)
    if step.base_offset is None:
        return OffsetLookup(offset, step, None, None)
    place = next(number for number, each in enumerate(segments) if each.base_offset == step.base_offset)
    index = _index_step(segments[place], offset)
    scanned = _scan(segments[place], index.position, lambda batch: batch.last_offset >= offset)
    passed: list[int] = []
    while not _found(scanned, offset) and scanned.damage is None and place + 1 < len(segments):
        place += 1
        passed.append(segments[place].base_offset)
        scanned = _scan(segments[place], 0, lambda batch: batch.last_offset >= offset)
    batch = scanned.batches[-1] if _found(scanned, offset) else None
    record = _record(segments[place], batch, lambda each: each.offset == offset) if batch else None
    return OffsetLookup(offset, step, index, scanned, tuple(passed), batch, record)


def find_time(segments: Sequence[ReadableSegment], timestamp_ms: int) -> TimeLookup:
    """Looks for the first record that is not older than a time (ms). Raises OSError where a segment can't be read."""
    passed: list[int] = []
    for number, segment in enumerate(segments):
        entries = segment.time_entries()
        count = len(entries) // TIME_ENTRY.size
        newest = time_entry(entries, count - 1, segment.base_offset).timestamp_ms if count else -1
        is_active = number == len(segments) - 1  # its time index may lag behind
        if newest < timestamp_ms and not is_active:
            passed.append(segment.base_offset)
            continue
        found = _find_time_in(segment, entries, timestamp_ms, tuple(passed))
        if found.record or is_active:
            return found
        passed.append(segment.base_offset)
    return TimeLookup(timestamp_ms, tuple(passed), None)


def _find_time_in(segment: ReadableSegment, entries: bytes, timestamp_ms: int, passed: tuple[int, ...]) -> TimeLookup:
    count = len(entries) // TIME_ENTRY.size
    search = search_slots(entries, TIME_ENTRY, count, timestamp_ms)
    entry = time_entry(entries, search.slot, segment.base_offset) if search.slot >= 0 else None
    index = _index_step(segment, entry.offset if entry else segment.base_offset)
    scanned = _scan(segment, index.position, lambda batch: batch.max_timestamp >= timestamp_ms)
    batch = scanned.batches[-1] if scanned.batches and scanned.batches[-1].max_timestamp >= timestamp_ms else None
    record = _record(segment, batch, lambda each: each.timestamp >= timestamp_ms) if batch else None
    return TimeLookup(
        timestamp_ms, passed, segment.base_offset, count, search.probes, entry, index, scanned, batch, record
    )


def _segment_step(segments: Sequence[ReadableSegment], offset: int) -> SegmentStep:
    probes: list[Probe] = []
    low, high = 0, len(segments)
    while low < high:
        middle = (low + high) // 2
        base = segments[middle].base_offset
        probes.append(Probe(middle, base))
        low, high = (low, middle) if base > offset else (middle + 1, high)
    return SegmentStep(tuple(probes), segments[low - 1].base_offset if low else None)


def _index_step(segment: ReadableSegment, offset: int) -> OffsetIndexStep:
    entries = segment.offset_entries()
    count = len(entries) // OFFSET_ENTRY.size
    search = search_slots(entries, OFFSET_ENTRY, count, offset - segment.base_offset)
    entry = offset_entry(entries, search.slot, segment.base_offset) if search.slot >= 0 else None
    return OffsetIndexStep(count, search.probes, entry)


def _scan(segment: ReadableSegment, position: int, is_it: Callable[[RecordBatch], bool]) -> ScanStep:
    batches: list[RecordBatch] = []
    with segment.open_log() as log:
        for found in scan(log, position):
            if isinstance(found, Damage):
                return ScanStep(position, tuple(batches), found)
            batches.append(found)
            if is_it(found):
                break
    return ScanStep(position, tuple(batches))


def _found(scanned: ScanStep, offset: int) -> bool:
    return bool(scanned.batches) and scanned.batches[-1].last_offset >= offset


def _record(segment: ReadableSegment, batch: RecordBatch, is_it: Callable[[Record], bool]) -> Record | None:
    with segment.open_log() as log:
        return next((each for each in records_of(log, batch) if isinstance(each, Record) and is_it(each)), None)
