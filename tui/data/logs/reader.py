"""What the screen can ask of log folders. Reads at most some MiB for a question, from files that a broker may be at."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY, ends_complaint, time_entry
from model.log.lookup.find import OffsetLookup, TimeLookup
from model.log.lookup.readable_segment import ReadableSegment
from model.log.names import INDEX, LOG, TIME_INDEX
from model.log.records import RecordBatch, SegmentFile, scan
from spark_tasks.scans.folders import NothingToScanError, find_logs
from spark_tasks.scans.parameters import FoundLogFolder, FoundPartition
from tui.data.logs.checks import Check, SegmentChecks
from tui.data.logs.contents import BatchPage, RecordPage, batch_page, record_page
from tui.data.logs.found_logs import FoundLogs
from tui.data.logs.kept_answers import KeptAnswers
from tui.data.logs.searches import look_up

CHECKED_WHOLE = 256 << 20
"""Bytes of log folders that are checked to the last batch while they are listed; of larger ones, what is opened."""
CHECK_AT_ONCE = 16 << 20
"""Bytes that one question may check."""


class SegmentFacts(msgspec.Struct, frozen=True):
    """One segment. Times are ms, -1 where there is none; entries are those of its indexes."""

    base_offset: int
    bytes: int
    is_active: bool
    first_ms: int = -1
    newest_ms: int = -1
    index_entries: int = 0
    time_entries: int = 0
    complaints: tuple[str, ...] = ()
    """What is wrong with the indexes of a segment that is not active, as far as their first and last entries tell."""
    check: Check | None = None


class Log(msgspec.Struct, frozen=True):
    """One partition folder: its segments by base offset."""

    folder: FoundLogFolder
    found: FoundPartition
    segments: tuple[SegmentFacts, ...]


class LogReader:
    """Used by one thread at a time. Every method raises OSError for what can't be read or went away."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` counts seconds."""
        self._listings = KeptAnswers(clock)
        self._listed = FoundLogs()
        self._checks = SegmentChecks()
        self._facts: dict[tuple[Path, int, int, bool], SegmentFacts] = {}

    def partitions(self, names: tuple[str, ...]) -> FoundLogs:
        """The partition folders below these folders. Raises NothingToScanError."""
        return self._listings.answer(names, lambda: self._list(names))

    def checks_of(self, found: FoundPartition) -> list[Check]:
        """What is known of a partition's segments."""
        return [check for path in _paths(found) if (check := self._checks.known(path)) is not None]

    def log(self, path: str) -> Log:
        """One partition folder as it is now; the newest segments are checked first."""
        try:
            folder = find_logs([path])[0]
        except NothingToScanError as error:
            raise OSError(None, str(error)) from None
        found = folder.partitions[0]
        self._check(reversed(_paths(found)))
        last = len(found.segments) - 1
        facts = [self._segment(found, place, is_active=place == last) for place in range(last + 1)]
        return Log(folder, found, tuple(each for each in facts if each is not None))

    def batches(self, path: str, base_offset: int, start: int) -> BatchPage:
        """A page of a segment's batches."""
        return batch_page(ReadableSegment(Path(path), base_offset).path(LOG), start)

    def records(self, path: str, base_offset: int, position: int) -> RecordPage:
        """The records of one batch."""
        return record_page(ReadableSegment(Path(path), base_offset).path(LOG), position)

    def look_up(self, path: str, wanted: str) -> OffsetLookup | TimeLookup:
        """As `searches.look_up`."""
        return look_up(Path(path), wanted)

    def _list(self, names: tuple[str, ...]) -> FoundLogs:
        found = FoundLogs(find_logs(names))
        if found != self._listed:
            self._listed = found
        if found.bytes <= CHECKED_WHOLE:
            self._check(path for _, each in found.rows for path in _paths(each))
        return self._listed

    def _check(self, paths: Iterable[Path]) -> None:
        left = CHECK_AT_ONCE
        for path in paths:
            try:
                left -= self._checks.check(path, left)[1]
            except OSError:  # went away, or is not ours to read: not known
                continue
            if left <= 0:
                return

    def _segment(self, found: FoundPartition, place: int, *, is_active: bool) -> SegmentFacts | None:
        """None for a segment that went away since it was listed."""
        base, size = found.segments[place].base_offset, found.segments[place].bytes
        segment = ReadableSegment(Path(found.path), base)
        path = segment.path(LOG)
        try:
            stamp = path, path.stat().st_mtime_ns, size, is_active
            facts = self._facts.pop(stamp, None) or _facts(segment, size, is_active=is_active)
        except FileNotFoundError:
            return None
        except OSError:
            return SegmentFacts(base, size, is_active)
        self._facts[stamp] = facts
        if len(self._facts) > 10_000:
            del self._facts[next(iter(self._facts))]
        return msgspec.structs.replace(facts, check=self._checks.known(path))


def _paths(found: FoundPartition) -> list[Path]:
    folder = Path(found.path)
    return [ReadableSegment(folder, each.base_offset).path(LOG) for each in found.segments]


def _facts(segment: ReadableSegment, size: int, *, is_active: bool) -> SegmentFacts:
    offsets, times = segment.offset_entries(), segment.time_entries()
    count = len(times) // TIME_ENTRY.size
    with SegmentFile(segment.path(LOG)) as file:
        first = next(scan(file), None)
    first_ms = first.base_timestamp if isinstance(first, RecordBatch) else -1
    newest_ms = time_entry(times, count - 1, segment.base_offset).timestamp_ms if count else -1
    return SegmentFacts(
        base_offset=segment.base_offset,
        bytes=size,
        is_active=is_active,
        first_ms=first_ms,
        newest_ms=newest_ms,
        index_entries=len(offsets) // OFFSET_ENTRY.size,
        time_entries=count,
        complaints=() if is_active else tuple(_complaints(segment)),
    )


def _complaints(segment: ReadableSegment) -> Iterator[str]:
    for kind, entry in ((INDEX, OFFSET_ENTRY), (TIME_INDEX, TIME_ENTRY)):
        path = segment.path(kind)
        try:
            data = read_whole(path, MOST_FACTS, only_file=True)
        except FileNotFoundError:
            continue
        complaint = ends_complaint(data[: entry.size], data[-entry.size :], entry, len(data))
        if complaint is not None:
            yield f"{path.name}: {complaint}"
