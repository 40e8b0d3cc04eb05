"""What the screen can ask of log folders: lists, checks, and look-ups by Kafka's own steps.

It reads at most some MiB for a question, from files that a broker may be at; it writes and locks nothing. Answers are
kept for a moment, so that a cluster in which much happens does not make the disk work for each change.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from model.analyses.scans.folders import FoundLogFolder, FoundPartition, NothingToScanError, find_logs
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.indexes import OFFSET_ENTRY, TIME_ENTRY, ends_complaint, time_entry
from model.log.lookup import OffsetLookup, ReadableSegment, TimeLookup, find_offset, find_time, readable_segments
from model.log.names import INDEX, LOG, TIME_INDEX
from model.log.records import RecordBatch, SegmentFile, scan
from model.recordings.folder import parse_time
from tui.engine.logs.segments import BatchPage, RecordPage, SegmentCheck, SegmentChecks, batch_page, record_page


class FoundLogs(msgspec.Struct, frozen=True):
    """Log folders, and the partition folders in them, in the same order."""

    folders: tuple[FoundLogFolder, ...] = ()

    @property
    def rows(self) -> list[tuple[FoundLogFolder, FoundPartition]]:
        """Partition folders with their log folders; those of one log beside each other."""
        found = [(folder, each) for folder in self.folders for each in folder.partitions]
        return sorted(found, key=lambda pair: (pair[1].topic, pair[1].partition, pair[0].path))

    @property
    def bytes(self) -> int:
        """All segments together."""
        return sum(each.bytes for folder in self.folders for found in folder.partitions for each in found.segments)


def name_of(found: FoundPartition) -> str:
    """`orders-3`; where the folder's name tells no partition, that name."""
    return found.topic if found.partition < 0 else f"{found.topic}-{found.partition}"


T = TypeVar("T")

LEAST_S = 0.5
SHARE = 10.0
"""An answer holds so many times as long as it took to work out."""
MOST_KEPT = 32


class KeptAnswers:
    """Used by one thread at a time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` counts seconds."""
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Any]] = {}

    def answer(self, question: Hashable, work_out: Callable[[], T]) -> T:
        """The answer of a moment ago to the very same question, or a new one."""
        began = self._clock()
        until, answer = self._kept.pop(question, (began, None))
        if until <= began:
            answer = work_out()
            now = self._clock()
            until = now + max(LEAST_S, SHARE * (now - began))
        self._kept[question] = until, answer
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return answer


MOST_BYTES = 64 << 20
"""What a look-up may read of a log. An index has an entry every 4 KiB (index.interval.bytes), so more is rarely due."""


class TooFar(Exception):  # noqa: N818 - reads as a fact
    """The index is of so little help that too much had to be read; the message is one line."""


class BadTarget(ValueError):  # noqa: N818 - reads as a fact
    """What is looked for is no offset and no time; the message is one line."""


class MeteredFile(SegmentFile):
    """A segment of which no more than MOST_BYTES are read."""

    _left = MOST_BYTES

    def read(self, position: int, size: int) -> bytes:
        data = super().read(position, size)
        self._left -= len(data)
        if self._left < 0:
            raise TooFar(f"stopped after {MOST_BYTES >> 20} MiB: the index leads nowhere near (kdrill scan checks it)")
        return data


@dataclass(frozen=True)
class MeteredSegment(ReadableSegment):
    """A segment that is not read without end."""

    def open_log(self) -> SegmentFile:
        return MeteredFile(self.path(LOG))


def look_up(folder: Path, wanted: str) -> OffsetLookup | TimeLookup:
    """Looks for `offset N` or `time T`. Raises BadTarget, TooFar, and OSError for what can't be read or went away."""
    kind, _, text = wanted.partition(" ")
    find, target = (find_offset, offset_of(text)) if kind == "offset" else (find_time, time_of(text))
    segments = [MeteredSegment(each.folder, each.base_offset) for each in readable_segments(folder)]
    return find(segments, target)


def offset_of(text: str) -> int:
    """A whole number, with or without commas."""
    digits = text.strip().replace(",", "")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        raise BadTarget(f"{text.strip()!r} is no offset: write a number, like :offset 1024")
    return int(digits)


def time_of(text: str) -> int:
    """ms since the epoch, or a day or time in ISO 8601, UTC where no offset is given."""
    wanted = text.strip()
    if wanted.isascii() and wanted.isdecimal() and 10 < len(wanted) < 16:
        return int(wanted)
    try:
        return parse_time(wanted)
    except (ValueError, OverflowError):
        raise BadTarget(f"{wanted!r} is no time: write :time 2026-03-01T12:03:58Z, or ms since 1970") from None


def batch_found(found: OffsetLookup | TimeLookup) -> tuple[int, int, int] | None:
    """The segment's base offset, where its scan began, and where the batch is that was found; both in bytes."""
    if found.batch is None or found.scan is None:
        return None
    if isinstance(found, TimeLookup):
        base = found.base_offset
    else:
        base = found.segments_passed[-1] if found.segments_passed else found.segment.base_offset
    return None if base is None else (base, found.scan.start, found.batch.position)


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
    check: SegmentCheck | None = None


class Log(msgspec.Struct, frozen=True):
    """One partition folder: its segments by base offset."""

    folder: FoundLogFolder
    found: FoundPartition
    segments: tuple[SegmentFacts, ...]


class LogReader:
    """Used by one thread at a time. Every method raises OSError for what can't be read or went away."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, home: str = "") -> None:
        """`clock` counts seconds; `home`: the folder that is read where none is named."""
        self.home = home
        self._listings = KeptAnswers(clock)
        self._listed = FoundLogs()
        self._checks = SegmentChecks()
        self._facts: dict[tuple[Path, int, int, bool], SegmentFacts] = {}

    def partitions(self, names: tuple[str, ...]) -> FoundLogs:
        """The partition folders below these folders. Raises NothingToScanError."""
        return self._listings.answer(names, lambda: self._list(names))

    def checks_of(self, found: FoundPartition) -> list[SegmentCheck]:
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
