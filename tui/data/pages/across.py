"""Columns of one width, of which as many are in view as fit, and a cursor that goes across them. Knows no broker.

The cursor is drawn without colour: `>` before its column's name, `|` before its cells. Without one, nothing is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from tui.rows import Across, Line, Span

NOWHERE = -1
"""The column of a cursor that is not there."""

NAMED, BESIDE = ">", "|"


@dataclass(frozen=True)
class Seen:
    """The `count` columns from `first` on, each `cell` characters with the blank before it; `column` has the cursor."""

    first: int
    count: int
    cell: int
    column: int = NOWHERE

    @property
    def lead(self) -> int:
        """Characters before the first cell's own: its blank, where the cursor may have to stand."""
        return int(self.column != NOWHERE)

    @property
    def width(self) -> int:
        """Characters of all together."""
        return max(self.count * self.cell - 1 + self.lead, 0)

    @property
    def view(self) -> slice:
        """The columns in view, of all there are."""
        return slice(self.first, self.first + self.count)

    def line(self, cells: Sequence[Span]) -> Line:
        """What is in view of a row, each to the right of its cell, with the cursor's sign where it is."""
        texts = [
            ((BESIDE if place == self.column else " ") + text.rjust(self.cell - 1), style)
            for place, (text, style) in enumerate(cells, self.first)
        ]
        runs = [(style, "".join(text for text, _ in run)) for style, run in groupby(texts, lambda one: one[1])]
        skipped = 1 - self.lead
        return tuple((text if place else text[skipped:], style) for place, (style, text) in enumerate(runs))

    def title(self, names: Sequence[str]) -> str:
        """The names in view, above their cells."""
        signed = ((NAMED if place == self.column else " ") + name for place, name in enumerate(names, self.first))
        return "".join(name.rjust(self.cell) for name in signed)[1 - self.lead :]

    def across(self, names: Sequence[str], place: int) -> Across:
        """What the list has to know; `names` are all there are, `place` is the column of the list that holds them."""
        column = names[self.column] if self.column != NOWHERE else ""
        return Across(tuple(names), column, place, self.first, self.cell)


def seen(count: int, cell: int, room: int, offset: int, column: int = NOWHERE) -> Seen:
    """As many of `count` columns as fit, at least one, from the one at `offset` on, but with the cursor's in view."""
    room -= column != NOWHERE
    most = max((room + 1) // cell, 1)
    first = max(0, min(offset, count - most))
    if column != NOWHERE:
        first = max(min(first, column), column - most + 1)
    return Seen(first, min(most, count - first), cell, column)
