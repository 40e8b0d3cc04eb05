"""A row of the ownership graph: two layers with edges between; the cursor lies on one of the layers only."""

from dataclasses import dataclass

from rich.segment import Segment

from tui.palette import MARKS
from tui.rows import Row, Span
from tui.text import fit_line, plain
from tui.widgets.columns import GAP, cell
from tui.widgets.row_drawing import LEAD, PLACEHOLDER, RowDrawing

BAND, NODES = 3, 4
"""Columns: the edges, and the first one of the partitions' layer."""

ASCII = str.maketrans(
    "─│┌┐└┘├┤┬┴┼" + "━┃┏┓┗┛┣┫┳┻╋" + "═║╔╗╚╝╠╣╦╩╬" + "┄┆",
    "-|+++++++++" + "=##########" + "~!!!!!!!!!!" + ".:",
)
"""Edges as they are, of the focus, gained, lost: each in signs of its own, so that no colour is needed."""


@dataclass(frozen=True)
class GraphDrawing(RowDrawing):
    """What rows have in common, and on which side the cursor is."""

    among_partitions: bool
    is_ascii: bool

    def row(self, row: Row | None, indent: tuple[Span, ...], over: str, on_thumb: bool) -> list[Segment]:
        look, left = self.look, not self.among_partitions
        mark = plain(row.mark, 1, ellipsis="") if row else " "
        on_left, on_right = (over, "") if left else ("", over)
        lead = (">" if on_left else " ", "key" if on_left else "")
        segments = look.segments([lead, (mark, MARKS.get(mark, ""))], on_left)
        used = LEAD - 1
        for place, slot in enumerate(self.layout.slots):
            line = cell(row, slot, self.columns) if row else () if place else PLACEHOLDER
            if slot.column == BAND and self.is_ascii:
                line = tuple((text.translate(ASCII), style) for text, style in line)
            sign = ">" if on_right and slot.column == NODES else " " * GAP
            pieces = fit_line(line, slot.width, ellipsis=look.glyphs.ellipsis, align=slot.align)
            lies = on_left if slot.column < BAND else on_right if slot.column >= NODES else ""
            segments += look.segments([(sign, "key" if sign == ">" else ""), *pieces], lies)
            used += GAP + slot.width
        rest = look.segment(" " * (self.width - 1 - used), "", on_right)
        return [*segments, rest, look.segment(look.glyphs.thumb if on_thumb else " ", "scrollbar")]
