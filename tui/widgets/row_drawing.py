"""One row of a list, or its header line, as segments as wide as the list. Holds no rows and no position."""

from dataclasses import dataclass

from rich.segment import Segment

from tui.palette import MARKS
from tui.rows import Column, Row, Span
from tui.text import fit_line, plain
from tui.theme import Look
from tui.widgets.columns import GAP, Layout, cell, titles

LEAD = 3
"""Cells before the first column: the cursor's sign, the row's mark, a space."""

EDGES = LEAD + 1
"""Cells that are not the columns': the lead, and the scroll bar on the right."""

PLACEHOLDER = (("...", "placeholder"),)


@dataclass(frozen=True)
class RowDrawing:
    """What rows of one list have in common."""

    look: Look
    columns: tuple[Column, ...]
    layout: Layout
    width: int

    def row(self, row: Row | None, indent: tuple[Span, ...], over: str, on_thumb: bool) -> list[Segment]:
        """A row, or dots where it has not arrived; `over` is the style of the cursor, empty where it is not."""
        look = self.look
        mark = plain(row.mark, 1, ellipsis="") if row else " "
        pieces: list[Span] = [(">" if over else " ", "key" if over else ""), (mark, MARKS.get(mark, ""))]
        used = LEAD - 1
        for place, slot in enumerate(self.layout.slots):
            line = cell(row, slot, self.columns) if row else () if place else PLACEHOLDER
            line = line if place else (*indent, *line)
            pieces.append((" " * GAP, ""))
            pieces += fit_line(line, slot.width, ellipsis=look.glyphs.ellipsis, align=slot.align)
            used += GAP + slot.width
        pieces.append((" " * (self.width - 1 - used), ""))
        bar = look.segment(look.glyphs.thumb if on_thumb else " ", "scrollbar")
        return [*look.segments(pieces, over), bar]

    def heading(self, sort: str, reverse: bool) -> list[Segment]:
        """The columns' titles; `<` and `>` say that there are columns out of view."""
        lead = "  <" if self.layout.more_left else " " * LEAD
        text = lead + titles(self.columns, self.layout, sort, reverse, self.look.glyphs.ellipsis)
        more = ">" if self.layout.more_right else " "
        return [self.look.segment(plain(text, max(self.width - 1, 0)), "heading"), self.look.segment(more, "heading")]
