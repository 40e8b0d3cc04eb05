"""Offsets that do not follow each other: usual in a compacted log, suspicious in any other."""

from collections.abc import Iterator

import numpy as np

from model.log.dump.parts import Remark
from model.log.records.record_columns import Int64s


class OffsetGaps:
    """Counts places where a record's offset is not the one after the record before (DumpLogSegments does the same)."""

    def __init__(self) -> None:
        self._last = -1
        self._count = 0
        self._first = ""

    def see(self, offset: int) -> None:
        """The next record."""
        if self._last not in (-1, offset - 1):
            self._first = self._first or f"{self._last} is followed by {offset}"
            self._count += 1
        self._last = offset

    def see_all(self, offsets: Int64s) -> None:
        """The next records."""
        if not len(offsets):
            return
        self.see(int(offsets[0]))
        broken = np.flatnonzero(np.diff(offsets) != 1)
        if len(broken):
            place = int(broken[0])
            self._first = self._first or f"{offsets[place]} is followed by {offsets[place + 1]}"
            self._count += len(broken)
        self._last = int(offsets[-1])

    def remarks(self) -> Iterator[Remark]:
        """One for all gaps, so that a compacted log does not drown its reader."""
        if self._count == 1:
            yield Remark(0, f"non-consecutive offsets: {self._first}")
        elif self._count:
            yield Remark(0, f"non-consecutive offsets in {self._count:,} places, the first: {self._first}")
