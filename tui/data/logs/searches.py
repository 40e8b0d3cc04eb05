"""Look-ups in the logs of a running broker, by Kafka's own steps, with a bound on what they read."""

from dataclasses import dataclass
from pathlib import Path

from model.log.lookup.find import OffsetLookup, TimeLookup, find_offset, find_time
from model.log.lookup.readable_segment import ReadableSegment, readable_segments
from model.log.names import LOG
from model.log.records import SegmentFile
from model.recordings.times import parse_time

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
