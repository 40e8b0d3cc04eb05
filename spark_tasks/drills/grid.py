"""Which scenarios there are when groups of brokers die: a table of one group by another, or of one column."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spark_tasks.analysis import Arrays
from spark_tasks.drills.numbering import Column, Numbers
from spark_tasks.drills.results import Kind
from spark_tasks.drills.sums import Groups

NOBODY = -1


@dataclass(frozen=True, eq=False)
class Grid:
    """Rows are groups that die, and so are columns; without any there is one column where nobody else dies."""

    arrays: Arrays
    kind: Kind

    @cached_property
    def first(self) -> Groups:
        return _by_rack(self.arrays) if self.kind == "racks" else _by_broker(self.arrays)

    @cached_property
    def second(self) -> Groups | None:
        match self.kind:
            case "pairs":
                return self.first
            case "brokers-and-racks":
                return _by_rack(self.arrays)
            case _:
                return None

    @property
    def width(self) -> int:
        return self.second.count if self.second else 1

    def allowed(self, start: int, end: int) -> Column:
        """bool[end - start, width]: scenarios of these rows. Each is there once, and somebody outlives it."""
        rows, columns = np.arange(start, end), np.arange(self.width)
        live = int(np.count_nonzero(self.arrays["live"]))
        size = self._sizes(self.first)[rows][:, None]
        allowed = np.broadcast_to((size > 0) & (size < live), (len(rows), self.width)).copy()
        if self.second is not None:
            others = self._sizes(self.second)[None, :]
            allowed &= (others > 0) & (size + others < live)
        if self.kind == "pairs":
            allowed &= columns[None, :] > rows[:, None]
        elif self.second is not None:
            allowed &= self.second.of[rows][:, None] != columns[None, :]
        return allowed

    def with_ruler(self, start: int, end: int) -> Column:
        """bool[end - start, width]: scenarios in which the controller dies."""
        ruler = int(self.arrays["controller"][0])
        dies = np.zeros((end - start, self.width), np.bool_)
        if ruler != NOBODY:
            dies |= (np.arange(start, end) == self.first.of[ruler])[:, None]
            if self.second is not None:
                dies |= (np.arange(self.width) == self.second.of[ruler])[None, :]
        return dies

    def killed(self, row: int, column: int) -> Numbers:
        """The brokers that die in a scenario."""
        dies = self.first.of[:-1] == row
        if self.second is not None:
            dies |= self.second.of[:-1] == column
        return np.flatnonzero(dies)

    def rack(self, row: int, column: int) -> int:
        """The rack that dies as a whole; -1: none."""
        return row if self.kind == "racks" else column if self.kind == "brokers-and-racks" else NOBODY

    def _sizes(self, groups: Groups) -> Numbers:
        members = groups.of[:-1]
        return np.bincount(members[members >= 0], minlength=groups.count)


def _by_broker(arrays: Arrays) -> Groups:
    live = arrays["live"]
    return Groups(np.append(np.where(live, np.arange(len(live)), NOBODY), NOBODY), len(live))


def _by_rack(arrays: Arrays) -> Groups:
    racks = np.where(arrays["live"], arrays["rack"], NOBODY).astype(np.int64)
    return Groups(np.append(racks, NOBODY), int(racks.max(initial=NOBODY)) + 1)
