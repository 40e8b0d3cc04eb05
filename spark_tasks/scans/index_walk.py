"""Whether the offset and time index of a segment fit its batches, seen in the same walk over the headers.

It only tells those that fit without doubt, all at once, and only beside a log in which nothing is damaged; of others
`model.log.dump.index_checks` tells what is wrong.
"""

import numpy as np
from numpy.typing import NDArray

from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY, written_entries
from model.log.records.header_columns import HeaderColumns

Int64s = NDArray[np.int64]

_OFFSET = np.dtype([("offset", ">i4"), ("position", ">i4")])
_TIME = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])


class OffsetIndexWalk:
    """An entry fits if a batch starts at its position, and its offset is that batch's first or last one, or the last
    one of a batch before the next entry's: all that Kafka's releases have written.
    """

    width = OFFSET_ENTRY.size
    """Of an entry, in bytes."""

    def __init__(self, data: bytes, base_offset: int) -> None:
        count = written_entries(data, OFFSET_ENTRY)
        entries = np.frombuffer(data, _OFFSET, count)
        self._offsets = entries["offset"].astype(np.int64) + base_offset
        self._positions = entries["position"].astype(np.int64)
        self._starts = np.zeros(count, np.bool_)
        self._found_at = np.full(count, -1, np.int64)
        self._newest_rule = np.zeros(count, np.bool_)
        self._sane = _ends_well(data, count, OFFSET_ENTRY.size) and _rises(self._offsets, self._positions)

    def see(self, columns: HeaderColumns) -> None:
        """The next batches."""
        if not self._sane or not len(self._offsets):
            return
        at, starts = _matches(self._positions, columns.position)
        self._starts[at] = True
        is_first = self._offsets[at] == columns.base_offset[starts]
        self._found_at[at[is_first]] = self._positions[at[is_first]]
        self._newest_rule[at] = self._offsets[at] == columns.last_offset[starts]
        at, ends = _matches(self._offsets, columns.last_offset)
        self._found_at[at] = columns.position[ends]

    def fits(self) -> bool:
        """Whether all entries do, after the last batch was seen."""
        until = np.append(self._positions[1:], np.iinfo(np.int64).max)
        good = self._starts & (self._found_at >= self._positions) & (self._found_at < until)
        return self._sane and bool(good.all())

    def older(self) -> int:
        """How many entries, where all fit, do not hold their batch's last offset."""
        return int((~self._newest_rule).sum())


class TimeIndexWalk:
    """An entry fits if its timestamp is the largest up to the batch that holds its offset: as its last one, or within,
    where a leader of an older release wrote the offset of the record with that timestamp (`LogValidator` 2.1).
    """

    width = TIME_ENTRY.size
    """Of an entry, in bytes."""

    def __init__(self, data: bytes, base_offset: int) -> None:
        count = written_entries(data, TIME_ENTRY)
        entries = np.frombuffer(data, _TIME, count)
        self._timestamps = entries["timestamp"].astype(np.int64)
        self._offsets = entries["offset"].astype(np.int64) + base_offset
        self._good = np.zeros(count, np.bool_)
        self._newest_rule = np.zeros(count, np.bool_)
        self._newest = -1
        self._sane = _ends_well(data, count, TIME_ENTRY.size) and _rises(self._offsets, self._timestamps)

    def see(self, columns: HeaderColumns) -> None:
        """The next batches."""
        if not self._sane or not len(self._offsets) or not len(columns.position):
            return
        newest = np.maximum.accumulate(np.concatenate(([self._newest], columns.max_timestamp)))[1:]
        self._newest = int(newest[-1])
        (start,) = np.searchsorted(self._offsets, columns.base_offset[:1]).tolist()
        (stop,) = np.searchsorted(self._offsets, columns.last_offset[-1:], "right").tolist()
        offsets = self._offsets[start:stop]  # none where damage makes offsets go back
        holders = np.searchsorted(columns.last_offset[:-1], offsets)
        self._good[start:stop] = (columns.base_offset[holders] <= offsets) & (
            self._timestamps[start:stop] == newest[holders]
        )
        self._newest_rule[start:stop] = columns.last_offset[holders] == offsets

    def fits(self) -> bool:
        """Whether all entries do, after the last batch was seen."""
        return self._sane and bool(self._good.all())

    def older(self) -> int:
        """How many entries, where all fit, do not hold their batch's last offset."""
        return int((~self._newest_rule).sum())


def _matches(sought: Int64s, column: Int64s) -> tuple[Int64s, Int64s]:
    """Places in `sought`, which rises, and in the column where both hold the same number."""
    places = np.searchsorted(sought, column)
    same = sought[np.minimum(places, len(sought) - 1)] == column
    return places[same], np.flatnonzero(same)


def _ends_well(data: bytes, count: int, width: int) -> bool:
    """Whether there are whole entries, and nothing but zeros after those that are written."""
    return len(data) % width == 0 and data[count * width :] == bytes(len(data) - count * width)


def _rises(*columns: Int64s) -> bool:
    return all(bool((np.diff(column) > 0).all()) and (not len(column) or bool(column[0] >= 0)) for column in columns)
