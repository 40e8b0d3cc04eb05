"""Cells in columns that all have one width: as many as fit, each a sign, with its count where there is room."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from tui.data.pages.map.signs import NOTHING, SIGNS
from tui.data.pages.partition_map import STYLES
from tui.rows import Line

LONGEST_NAME = 10
"""Characters of a column's name: of a longer one its end is shown, for that is where racks differ."""


@dataclass(frozen=True)
class Grid:
    """The columns in view: `names` from number `first` of `total` on, `cell` characters each without the blank."""

    names: tuple[str, ...]
    cell: int
    first: int
    total: int
    counted: bool
    """Whether cells have counts beside their signs."""

    @property
    def width(self) -> int:
        """Characters of all cells together."""
        return max(len(self.names) * (self.cell + 1) - 1, 0)

    @property
    def is_cut(self) -> bool:
        """Whether there are more columns than these."""
        return len(self.names) < self.total

    @property
    def title(self) -> str:
        """The names above their cells: to the left where counts follow the signs."""
        return " ".join(name.ljust(self.cell) if self.counted else name.rjust(self.cell) for name in self.names)

    def line(self, codes: Sequence[int], counts: Sequence[int]) -> Line:
        """One row: for every column there is, its index into SIGNS and the count beside it."""
        view = slice(self.first, self.first + len(self.names))
        cells = [
            (self._cell(SIGNS[code], count), STYLES[SIGNS[code]])
            for code, count in zip(codes[view], counts[view], strict=True)
        ]
        runs = [(style, " ".join(text for text, _ in run)) for style, run in groupby(cells, lambda cell: cell[1])]
        return tuple((text if place == 0 else f" {text}", style) for place, (style, text) in enumerate(runs))

    def _cell(self, sign: str, count: int) -> str:
        if not self.counted:
            return sign.rjust(self.cell)
        return sign + (f"{count}" if sign != SIGNS[NOTHING] else "").rjust(self.cell - 1)


def grid(names: Sequence[str], width: int, offset: int, most: int) -> Grid:
    """As many columns as fit, at least one, from number `offset` on, the last page full; `most`: the largest count."""
    short = [name[-LONGEST_NAME:] for name in names]
    narrow = max(map(len, short), default=1)
    wide = max(narrow, len(str(most)) + 2)
    counted = len(short) * (wide + 1) - 1 <= width
    cell = wide if counted else narrow
    count = max((width + 1) // (cell + 1), 1)
    first = max(0, min(offset, len(short) - count))
    return Grid(tuple(short[first : first + count]), cell, first, len(short), counted)
