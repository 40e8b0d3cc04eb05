"""A list of any length, or a tree, that holds only the rows near the viewport and draws only the lines that changed.

The rows live elsewhere. The view says which it wants (`WindowWanted`) and is handed them by `show`, whenever that may
be: the cursor moves at once, and rows that have not arrived are drawn as `...`. In a tree, what is open is decided by
whoever provides the rows; the view asks for it (`OpenNode`, `CloseNode`).
"""

from collections.abc import Collection
from dataclasses import replace
from textwrap import wrap
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.strip import Strip

from tui.app.widgets.drawing import EDGES, GAP, WHOLE, Layout, RowDrawing, StripWidget, lay_out, modest_need, needs_of
from tui.app.widgets.lists import (
    CloseNode,
    CursorPosition,
    OpenNode,
    ParentWanted,
    RowHighlighted,
    RowSelected,
    WindowWanted,
    followed,
    moved,
    paged,
    resized,
    row_at,
    scrolled,
    thumb,
    top_at,
)
from tui.engine.rows import Column, Row, Span, Window

WHEEL_LINES = 3
FEW, STEP = 9, 4
"""A list of fewer rows wants a line for each; a longer one in steps of so many."""
EMPTY = Window(first=0, total=0, rows=())
TITLES = -1
"""The header's place among the strips kept; the line above it, if there is one, is before it."""


class LineView(StripWidget, can_focus=True):
    """Rows under a header line (if the columns have titles), with a scroll bar in the last cell of each line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "down", show=False, id="list.down"),
        Binding("k,up", "move(-1)", "up", show=False, id="list.up"),
        Binding("g,home", "first", "top", show=False, id="list.top"),
        Binding("G,end", "last", "bottom", show=False, id="list.bottom"),
        Binding("ctrl+d", "page(0.5)", "half a page down", show=False, id="list.half-down"),
        Binding("ctrl+u", "page(-0.5)", "half a page up", show=False, id="list.half-up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="list.page-down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="list.page-up"),
        Binding("l,right", "aside(1)", "columns further right", show=False, id="list.right"),
        Binding("h,left", "aside(-1)", "columns further left", show=False, id="list.left"),
        Binding("enter", "select", "open", show=False, id="list.open"),
    ]

    def __init__(self, *, empty: str = "nothing here", follow_top: bool = False, id: str | None = None) -> None:
        """`empty` is said when there are no rows; `follow_top` keeps a cursor on the first row there, as for news."""
        super().__init__(id=id)
        self._empty = empty
        self._follow_top = follow_top
        self._position = CursorPosition()
        self._window = EMPTY
        self._header_lines = 0
        self._arrived = False
        self._wanted = range(0)
        self._told = ""
        self._sort = ("", False)
        self._skipped = 0
        self._columns_kept: Layout | None = None
        self._needs: list[int] = []
        self._strips: dict[int, tuple[tuple[str, bool], Strip]] = {}
        self._thumb = range(0)

    # What the screen is told and tells

    @property
    def top(self) -> int:
        """Index of the first row in view."""
        return self._position.top

    @property
    def cursor(self) -> int:
        """Index of the row under the cursor."""
        return self._position.cursor

    @property
    def cursor_key(self) -> str:
        """Key of the row under the cursor; empty while that row has not arrived."""
        return self._position.key

    @property
    def row(self) -> Row | None:
        """The row under the cursor, if it is held."""
        return row_at(self._window, self.cursor)

    @property
    def total(self) -> int:
        """Rows there are, held or not."""
        return self._window.total

    def show(self, window: Window, key: str = "") -> None:
        """Take these rows instead of those held. `window.cursor` is believed only for the `key` it was asked with."""
        old, self._window = self._window, window
        if window.columns != old.columns:
            titled = ((each.title, each.head) for each in window.columns)
            self._header_lines = sum(map(any, zip(*titled, strict=True)))
        shape = (window.columns, window.note, window.total == 0)
        if not self._arrived or shape != (old.columns, old.note, old.total == 0):
            self._arrived = True
            self._redraw()
        needs = needs_of(window.columns, window.rows, self._needs if window.columns == old.columns else ())
        if needs != self._needs:
            self._needs = needs
            self._redraw()
        changed = [index for index in self._strips if row_at(old, index) != row_at(window, index)]
        for index in changed:
            del self._strips[index]
            self._refresh_row(index)
        if window.total != old.total:
            self.refresh(Region(self.size.width - 1, 0, 1, self.size.height))
            shorter, longer = sorted((old.total, window.total))
            for index in range(max(shorter, self.top), min(longer, self.top + self._page)):
                self._refresh_row(index)  # come or gone, and kept nowhere
        self._stand(followed(self._position, window, key, self._page, stay_on_top=self._follow_top))

    def ask(self) -> None:
        """Want the rows near the viewport anew: the data changed, or the question did."""
        if self._page > 0:
            first = max(0, self.top - self._page)
            self._wanted = range(first, first + 3 * self._page)
            key = self._position.sought or self.cursor_key
            self.post_message(WindowWanted(self, first, len(self._wanted), key))

    def seek(self, key: str) -> None:
        """Go to the row with this key, wherever it is; nothing happens if there is none."""
        self._position = replace(self._position, sought=key)
        self.ask()

    def start_over(self) -> None:
        """Another list takes this one's place: forget the rows and the cursor, and ask."""
        self._position, self._window, self._arrived = CursorPosition(), EMPTY, False
        self._header_lines = 0
        self._told, self._skipped, self._needs = "", 0, []
        self._redraw()
        self.ask()

    def sorted_by(self, sort: str, reverse: bool = False) -> None:
        """Show by the header's sign which column (by its `sort` name) the rows are in order of."""
        self._sort = (sort, reverse)
        self._strips.pop(TITLES, None)
        self.refresh_line(self._header_lines - 1)

    @property
    def wanted(self) -> tuple[int, int]:
        """Cells and lines in which nothing would be cut off."""
        columns, needs = self._window.columns, self._needs
        pairs = zip(columns or WHOLE, needs, strict=bool(columns))
        widths = [modest_need(column, need) for column, need in pairs]
        filled = EDGES + sum(widths) + GAP * max(len(widths) - 1, 0)
        lines = self.total if self.total < FEW else -(-self.total // STEP) * STEP
        return max(filled, self._window.wants), self._header_lines + max(lines, 1)

    # What the operator does

    def action_move(self, lines: int) -> None:
        self._go(self.cursor + lines)

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(self.total - 1)

    def action_page(self, pages: float) -> None:
        self._stand(paged(self._position, pages, self._window, self._page))

    def action_aside(self, columns: int) -> None:
        further = self._skipped + columns
        if further >= 0 and (columns < 0 or self.laid_out.more_right):
            self._skipped = further
            self._redraw()

    async def action_select(self) -> None:
        if self.cursor_key:
            await self.screen.on_event(RowSelected(self, self.cursor_key, self.cursor))

    def on_click(self, event: events.Click) -> None:
        y = event.y - self._header_lines
        if not 0 <= y < self._page:
            return
        if event.x == self.size.width - 1 and self._thumb:
            self._scroll(top_at(y, self._page, self.total))
        elif self.top + y < self.total:
            self._go(self.top + y)
            if event.chain == 2:
                self.call_next(self.action_select)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(self.top + WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(self.top - WHEEL_LINES)

    def on_resize(self) -> None:
        self._redraw()
        self._stand(resized(self._position, self._window, self._page))

    def on_focus(self) -> None:
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        self._refresh_row(self.cursor)

    @property
    def is_aside(self) -> bool:
        """Whether columns to the left are out of view."""
        return self._skipped > 0

    def start_of(self, column: int) -> int | None:
        """In which cell after the row's lead a column begins; None while it is out of view."""
        slots = self.laid_out.slots
        place = next((place for place, slot in enumerate(slots) if slot.column == column), None)
        return None if place is None else sum(slot.width + GAP for slot in slots[:place])

    # Cursor and viewport

    @property
    def _page(self) -> int:
        """Rows that fit into the viewport."""
        noted = bool(self._window.note) and self.total > 0
        return max(0, self.size.height - self._header_lines - noted)

    def _go(self, index: int) -> None:
        self._stand(moved(self._position, index, self._window, self._page))

    def _scroll(self, top: int) -> None:
        self._stand(scrolled(self._position, top, self._window, self._page))

    def _stand(self, position: CursorPosition) -> None:
        """Stand there from now on: draw what differs, ask for rows that are missing, say what is under the cursor."""
        old, self._position = self._position, position
        if position.top != old.top:
            self.refresh(Region(0, self._header_lines, self.size.width, self._page))
        elif position.cursor != old.cursor:
            self._refresh_row(old.cursor)
            self._refresh_row(position.cursor)
        self._want()
        if position.key != self._told and (position.key or not self.total):
            self._told = position.key
            self.post_message(RowHighlighted(self, position.key, position.cursor))

    def _want(self) -> None:
        """Ask once the viewport and half of one around it are no longer in what was asked for."""
        margin = self._page // 2
        first = max(0, self.top - margin)
        last = min(self.top + self._page + margin, max(self.total, self._page))
        if first < self._wanted.start or last > self._wanted.stop:
            self.ask()

    # Drawing

    def indent(self, row: Row) -> tuple[Span, ...]:
        """What stands before the row's first cell, inside the first column; nothing in a flat list."""
        return ()

    def drawing(self, columns: tuple[Column, ...], layout: Layout) -> RowDrawing:
        """What draws the rows."""
        return RowDrawing(self.look, columns, layout, self.size.width)

    def seen(self, row: Row) -> Row:
        """How a row looks now."""
        return row

    def forget_strips(self) -> None:
        self._strips.clear()

    def draw_again(self, keys: Collection[str]) -> None:
        """These rows look different now."""
        for index in [index for index in self._strips if (row := row_at(self._window, index)) and row.key in keys]:
            del self._strips[index]
            self._refresh_row(index)

    def render_lines(self, crop: Region) -> list[Strip]:
        self._thumb = thumb(self.top, self._page, self.total)
        if len(self._strips) > 4 * self.size.height:
            kept = range(self.top - self._page, self.top + 2 * self._page)
            self._strips = {index: kept_strip for index, kept_strip in self._strips.items() if index in kept}
        return super().render_lines(crop)

    def strip_at(self, y: int) -> Strip:
        y -= self._header_lines
        if y < 0:
            return self._kept(y, ("", False))
        if not self.total:
            return self.fill(self._absence(y), align="^")
        if y >= self._page:
            return self.fill([("   " + self._window.note, "warn")])
        index = self.top + y
        if index >= self.total:
            return self.fill(())
        over = "" if index != self.cursor else "cursor" if self.has_focus else "cursor-idle"
        return self._kept(index, (over, y in self._thumb))

    def _kept(self, index: int, state: tuple[str, bool]) -> Strip:
        """The strip drawn before, unless its row, the cursor on it or the thumb beside it changed."""
        known = self._strips.get(index)
        if known is not None and known[0] == state:
            return known[1]
        drawing = self.drawing(self._window.columns, self.laid_out)
        row = row_at(self._window, index)
        if index == TITLES:
            segments = drawing.heading(*self._sort)
        elif index < TITLES:
            segments = drawing.heads()
        else:
            segments = drawing.row(self.seen(row) if row else None, self.indent(row) if row else (), *state)
        width = self.size.width
        strip = Strip(segments, width) if width > EDGES else Strip(segments).adjust_cell_length(width)
        self._strips[index] = (state, strip)
        return strip

    def _absence(self, y: int) -> tuple[Span, ...]:
        said = self._window.note or self._empty if self._arrived else "waiting for data"
        lines = wrap(said, max(self.size.width - EDGES, 1), break_on_hyphens=False)
        line = y - self._page // 3
        return ((lines[line], "dim"),) if 0 <= line < len(lines) else ()

    @property
    def laid_out(self) -> Layout:
        """The columns in view, and how wide they are."""
        if self._columns_kept is None:
            self._columns_kept = lay_out(
                self._window.columns, max(self.size.width - EDGES, 1), self._skipped, self._needs
            )
        return self._columns_kept

    def _redraw(self) -> None:
        self._strips.clear()
        self._columns_kept = None
        self.refresh()

    def _refresh_row(self, index: int) -> None:
        y = index - self.top
        if 0 <= y < self._page:
            self.refresh_line(y + self._header_lines)


SIGNS = {True: "v ", False: "> ", None: "  "}
"""Row.open → what stands before the name."""


class TreeLines(LineView):
    """`l` opens a node or goes into it, `h` closes it or goes to its parent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "enter_node", "open node", show=False, id="tree.open"),
        Binding("h,left", "leave_node", "close node", show=False, id="tree.close"),
    ]

    def indent(self, row: Row) -> tuple[Span, ...]:
        rails = (self.look.glyphs.rail + " ") * row.depth
        return ((rails, "rule"), (SIGNS[row.open], "key"))

    def action_enter_node(self) -> None:
        row = self.row
        if row is None or row.open is None:
            return
        if not row.open:
            self.post_message(OpenNode(self, row.key))
            return
        below = row_at(self._window, self.cursor + 1)
        if below is not None and below.depth > row.depth:
            self.action_move(1)

    def action_leave_node(self) -> None:
        row = self.row
        if row is None:
            return
        if row.open:
            self.post_message(CloseNode(self, row.key))
        elif row.depth > 0:
            self._go_to_parent(row)

    def _go_to_parent(self, row: Row) -> None:
        for index in range(self.cursor - 1, self._window.first - 1, -1):
            above = row_at(self._window, index)
            if above is not None and above.depth < row.depth:
                self._go(index)
                return
        self.post_message(ParentWanted(self, row.key))
