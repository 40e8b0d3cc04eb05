"""Which columns of a row fit into a width, and where. Pure arithmetic: draws nothing.

The first column is pinned. A column is shown whole or not at all, as half a number would be a wrong number.
"""

from typing import NamedTuple

from tui.rows import Column, Line, Row
from tui.text import fit

GAP = 1
"""Cells between two columns."""

WHOLE = (Column("", -1),)
"""What a list without columns is laid out as."""


class Slot(NamedTuple):
    """A column's place: its number among all columns and its width in cells."""

    column: int
    width: int
    align: str


class Layout(NamedTuple):
    """The columns in view, and whether there are more on either side."""

    slots: tuple[Slot, ...]
    more_left: bool
    more_right: bool


def lay_out(columns: tuple[Column, ...], width: int, skipped: int = 0) -> Layout:
    """The first column, then as many as fit of those after the `skipped` next ones; spare cells go to the flexible."""
    columns = columns or WHOLE
    shown = [0]
    left = width - min(abs(columns[0].width), width)
    first = min(1 + skipped, len(columns))
    for index in range(first, len(columns)):
        need = GAP + abs(columns[index].width)
        if need > left:
            break
        shown.append(index)
        left -= need
    flexible = [index for index in shown if columns[index].width < 0]
    share, odd = divmod(left, len(flexible)) if flexible else (0, 0)
    widths = {index: min(abs(columns[index].width), width) for index in shown}
    for place, index in enumerate(flexible):
        widths[index] += share + (place < odd)
    slots = tuple(Slot(index, widths[index], columns[index].align or "<") for index in shown)
    return Layout(slots, first > 1, shown[-1] < len(columns) - 1 if len(shown) > 1 else first < len(columns))


def titles(columns: tuple[Column, ...], layout: Layout, sort: str, reverse: bool, ellipsis: str) -> str:
    """The header line's text; `^` marks the column sorted by, `v` the one sorted in reverse."""
    parts: list[str] = []
    for slot in layout.slots:
        column = columns[slot.column]
        if sort and column.sort == sort:
            sign = "v" if reverse else "^"
            title = fit(column.title, min(len(column.title), max(slot.width - 1, 0)), ellipsis=ellipsis) + sign
        else:
            title = column.title
        parts.append(fit(title, slot.width, ellipsis=ellipsis, align=slot.align))
    return (" " * GAP).join(parts)


def cell(row: Row, slot: Slot, columns: tuple[Column, ...]) -> Line:
    """What a row has to show in this place; without columns, all its cells one after another."""
    if columns:
        return row.cells[slot.column] if slot.column < len(row.cells) else ()
    joined: list[tuple[str, str]] = []
    for line in row.cells:
        joined += [(" ", ""), *line] if joined else line
    return tuple(joined)
