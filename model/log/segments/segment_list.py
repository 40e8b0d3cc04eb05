"""The segments of a log in order of their base offsets, the last one being written."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from model.log.segments.segment import Segment


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
        """The oldest one."""
        return self._segments[0]

    @property
    def active(self) -> Segment:
        """The one that is appended to."""
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
