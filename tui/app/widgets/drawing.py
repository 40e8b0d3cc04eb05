"""The base of our widgets, and rows of a list as segments as wide as the list. Decides nothing about content.

The base draws its own lines, in styles named by the palette. It takes the place of Textual's style machinery, which
costs more than the drawing itself. The price: a border, padding, opacity or tint set on such a widget is not drawn. Put
those on a container around it. For each frame Textual wants all lines of all widgets near a change; lines that nobody
refreshed are those drawn before.

The first column of a row is pinned. A column is shown whole or not at all, as half a number would be a wrong number. A
row of the ownership graph has two layers with edges between; the cursor lies on one of the layers only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from rich.segment import Segment
from textual.geometry import NULL_SIZE, Region, Size
from textual.strip import Strip
from textual.widget import Widget

from tui.app.theme import Look, LookKey, look_of
from tui.engine.palette import MARKS
from tui.engine.rows import Column, Line, Row, Span
from tui.engine.text import cells, fit, fit_line, plain


class StripWidget(Widget):
    """A widget made of one Strip per line; subclasses give `strip_at`."""

    DEFAULT_CSS = "StripWidget { width: 1fr; height: 1fr; }"
    ALLOW_SELECT = False
    fades = True
    """Whether it loses its colours with the rest of the screen while the data is old."""

    _look: Look | None = None
    _look_key: LookKey = ()

    def __init__(self, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._lines_drawn: list[Strip] = []
        self._lines_due: set[int] = set()
        self._size_drawn = NULL_SIZE

    @property
    def size(self) -> Size:
        """Cells of the widget; as it has no padding, without asking for it on every line of every frame."""
        return self.outer_size

    @property
    def look(self) -> Look:
        """The styles of the app's theme, as of the frame being drawn."""
        return self._look or self._resolve()

    def _resolve(self) -> Look:
        look, self._look_key = look_of(self.app, self._look, self._look_key, fades=self.fades)
        if look is not self._look:
            self._look = look
            self._lines_drawn = []
            self.forget_strips()
        return look

    def strip_at(self, y: int) -> Strip:
        """Line `y` of the widget, `size.width` cells wide."""
        raise NotImplementedError

    def forget_strips(self) -> None:
        """The theme or the size changed: whatever was kept of the old one is worthless now."""

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """See Widget: these parts, or all of it, are drawn again with the next frame."""
        if regions:
            top = self.content_offset.y
            self._lines_due.update(top + y for region in regions for y in region.line_range)
        elif repaint:
            self._lines_drawn = []
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """See Widget: the lines of this part of the widget."""
        self._resolve()
        size = self.outer_size
        if size != self._size_drawn:  # Textual may draw a widget in its new size before it sends it Resize.
            self._size_drawn = size
            self._lines_drawn = []
            self.forget_strips()
        if crop != size.region:
            strips = [self.strip_at(y) for y in crop.line_range]
            return strips if crop.column_span == (0, size.width) else [each.crop(crop.x, crop.right) for each in strips]
        drawn = self._lines_drawn
        if not drawn:
            self._lines_drawn = drawn = [self.strip_at(y) for y in range(size.height)]
        else:
            for y in self._lines_due & set(range(size.height)):
                drawn[y] = self.strip_at(y)
        self._lines_due.clear()
        return drawn

    def fill(self, line: Iterable[Span], *, over: str = "", under: str = "", align: str = "<") -> Strip:
        """Untrusted pieces of text in one line as wide as the widget, all of it over and under these styles."""
        look, width = self.look, self.size.width
        pieces = fit_line(line, width, ellipsis=look.glyphs.ellipsis, align=align)
        return Strip(look.segments(pieces, over, under), width)

    def refresh_line(self, y: int) -> None:
        """Draw this line again with the next frame."""
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))


GAP = 1
"""Cells between two columns."""

INDENT = 2
"""Cells before a name in a tree, for each level."""

WHOLE = (Column("", -1),)
"""What a list without columns is laid out as."""


class ColumnSlot(NamedTuple):
    """A column's place: its number among all columns and its width in cells."""

    column: int
    width: int
    align: str


class Layout(NamedTuple):
    """The columns in view, and whether there are more on either side."""

    slots: tuple[ColumnSlot, ...]
    more_left: bool
    more_right: bool


def lay_out(columns: tuple[Column, ...], width: int, skipped: int = 0, needs: Sequence[int] = ()) -> Layout:
    """The first column and, of the others, those that fit: by rank, or in their order after `skipped` of them.

    Where columns in between were dropped by rank, the first step aside begins with the first of all.
    `needs` are the cells that each column's contents want. What is left over goes to columns that are cut off, to those
    of long texts after others, and then to the flexible ones. A flexible column gives up cells that it does not need
    before another one is dropped.
    """
    columns = columns or WHOLE
    needs = needs if len(needs) == len(columns) else [0] * len(columns)
    least = [min(_least(column, need), width) for column, need in zip(columns, needs, strict=True)]
    shown, left = _by_rank(columns, least, width - least[0])
    start = 1
    if skipped:
        start = skipped + (len(shown) > shown[-1])
        shown, left = _in_order(start, least, width - least[0])
    widths = _shared_out(columns, shown, least, needs, left)
    slots = tuple(ColumnSlot(index, widths[index], columns[index].align or "<") for index in shown)
    is_cut = shown[-1] < len(columns) - 1 if len(shown) > 1 else start < len(columns)
    return Layout(slots, skipped > 0 and len(columns) > 1, is_cut if skipped else len(shown) < len(columns))


def _by_rank(columns: tuple[Column, ...], least: Sequence[int], left: int) -> tuple[list[int], int]:
    """The columns that fit, the lowest ranks first, and the cells that are left."""
    shown = [0]
    for index in sorted(range(1, len(columns)), key=lambda index: columns[index].rank):
        if GAP + least[index] <= left:
            shown.append(index)
            left -= GAP + least[index]
    return sorted(shown), left


def _in_order(start: int, least: Sequence[int], left: int) -> tuple[list[int], int]:
    """The first column, and as many from this one on as fit."""
    shown = [0]
    for index in range(start, len(least)):
        if GAP + least[index] > left:
            break
        shown.append(index)
        left -= GAP + least[index]
    return shown, left


def _least(column: Column, need: int) -> int:
    """Cells below which the column is not shown."""
    if column.width > 0 or not need:
        return abs(column.width)
    return min(-column.width, max(need, _titled(column)))


def _titled(column: Column) -> int:
    """Cells of a column's title; where it is flexible, with the sign that it is sorted by."""
    return cells(column.title) + (column.width < 0 and column.sort != "")


def _shared_out(
    columns: tuple[Column, ...], shown: Sequence[int], least: Sequence[int], needs: Sequence[int], left: int
) -> dict[int, int]:
    widths = {index: least[index] for index in shown}
    modest = [modest_need(column, need) for column, need in zip(columns, needs, strict=True)]
    by_rank = sorted(shown, key=lambda index: columns[index].rank)
    for index, need in [(index, each[index]) for each in (modest, needs) for index in by_rank]:
        more = min(max(need - widths[index], 0), left)
        widths[index] += more
        left -= more
    flexible = [index for index in shown if columns[index].width < 0]
    share, odd = divmod(left, len(flexible)) if flexible else (0, 0)
    for place, index in enumerate(flexible):
        widths[index] += share + (place < odd)
    return widths


def modest_need(column: Column, need: int) -> int:
    """The cells a column takes before others do that are cut off, of those that it has and its contents need."""
    need = max(need, column.width)
    return min(need, column.most or need)


def needs_of(columns: tuple[Column, ...], rows: Iterable[Row], known: Sequence[int] = ()) -> list[int]:
    """The cells that each column's title and contents take, and took before: columns stay while rows come and go."""
    needs = list(known) if len(known) == len(columns) else [*map(_titled, columns)]
    for row in rows:
        for place, line in enumerate(row.cells[: len(columns)]):
            text = line[0][0] if len(line) == 1 else "".join([text for text, _ in line])
            need = len(text) if text.isascii() else cells(plain(text))
            if not place:
                need += INDENT * (row.depth + (row.open is not None or row.depth > 0))
            needs[place] = max(needs[place], need)
    return needs


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


def cell(row: Row, slot: ColumnSlot, columns: tuple[Column, ...]) -> Line:
    """What a row has to show in this place; without columns, all its cells one after another."""
    if columns:
        return row.cells[slot.column] if slot.column < len(row.cells) else ()
    joined: list[tuple[str, str]] = []
    for line in row.cells:
        joined += [(" ", ""), *line] if joined else line
    return tuple(joined)


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

    def heads(self) -> list[Segment]:
        """The line above the titles."""
        heads = [fit(self.columns[slot.column].head, slot.width) for slot in self.layout.slots]
        text = " " * LEAD + (" " * GAP).join(heads)
        return [self.look.segment(plain(text, self.width), "dim")]


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
