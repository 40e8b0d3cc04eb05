"""The scrubber of the drill that is played, lists that show what has just changed, and lists that are maps.

Besides the rows' cursor a map has one that goes across the columns, `h` and `l` its keys. What stands across, and
where, the data process says (`Window.across`); the cursor is on a thing, not on a place, so it stays there when
columns come and go.
"""

import time

from textual import events
from textual.message import Message

from tui.app.live_app import live_app
from tui.app.panes.live_panes import LivePicture, LiveRows
from tui.app.widgets.drawing import LEAD
from tui.app.widgets.lists import BRIGHT_S, Changes, row_at
from tui.engine.messages import ListQuery
from tui.engine.rows import Across, Row, Window
from tui.engine.view_state import StandOn, reduce

LEAST_LINES = 6


class Scrubber(LivePicture):
    """All the time of a drill. The mouse goes to a moment with a click or by dragging, and steps with its wheel."""

    class Scrubbed(Message):
        """The operator points at a cell of the picture, which is `width` cells wide."""

        def __init__(self, cell: int, width: int) -> None:
            super().__init__()
            self.cell = cell
            self.width = width

    class Stepped(Message):
        """So many moments on or back."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    _is_held = False

    @property
    def wanted(self) -> tuple[int, int]:
        """A quarter of the terminal's lines: a picture fills whatever it gets."""
        return super().wanted[0], max(LEAST_LINES, self.app.size.height // 4)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._is_held = True
        self.capture_mouse()
        self._point(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._is_held:
            self._point(event.x)

    def on_mouse_up(self) -> None:
        self._is_held = False
        self.release_mouse()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.post_message(self.Stepped(1))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.post_message(self.Stepped(-1))

    def _point(self, cell: int) -> None:
        self.post_message(self.Scrubbed(cell, self.size.width - 1))


class BrightRows(LiveRows):
    """A list in which what has just changed is bright for a moment. Draws nothing while nothing changes."""

    def __init__(self, query: ListQuery, *, empty: str = "nothing here", follow_top: bool = False) -> None:
        super().__init__(query, empty=empty, follow_top=follow_top)
        self._changes = Changes()

    def seen(self, row: Row) -> Row:
        return self._changes.seen(row)

    def show(self, window: Window, key: str = "") -> None:
        old = self._window
        if self.app.animation_level != "none":
            page = range(self.top, self.top + self._page)
            changed = [index for index in page if row_at(old, index) != row_at(window, index)]
            # Where most rows change, nothing would stand out.
            if self._changes.learn(old, window, changed, len(page) // 2, time.monotonic()):
                self.set_timer(BRIGHT_S, lambda: self.draw_again(self._changes.forget(time.monotonic())))
        super().show(window, key)


class MapRows(BrightRows):
    """A map of the data process. Without a column cursor, `l` sets one on the first column in view."""

    class ColumnClicked(Message):
        """The mouse chose a cell."""

    @property
    def across(self) -> Across:
        return self.answer.across

    @property
    def column(self) -> str:
        """What the column cursor is on; empty: there is none, or no map."""
        chosen = self._live_app.view_state.of(self.list_name).column
        return chosen if chosen in self.across.things else self.across.column

    def action_aside(self, columns: int) -> None:
        """One column on; before the first the cursor goes away, and past the last the list moves aside as others do."""
        things, column = self.across.things, self.column
        place = things.index(column) + columns if column else self.across.first
        if 0 <= place < len(things) and (column or columns > 0):
            self.stand_on(things[place])
        elif place < 0 and not self.is_aside:
            self.stand_on("")
        else:
            super().action_aside(columns)

    def stand_on(self, thing: str) -> None:
        """Puts the column cursor there; empty: nowhere."""
        app = live_app(self)
        app.view_state = reduce(app.view_state, StandOn(self.list_name, thing))

    def on_click(self, event: events.Click) -> None:
        """The cell that was clicked: its row is found by LineView, whose own handler Textual calls as well."""
        thing = self._thing_at(event.x)
        if thing:
            self.stand_on(thing)
            self.post_message(self.ColumnClicked())

    def _thing_at(self, x: int) -> str:
        across, start = self.across, self.start_of(self.across.place)
        if start is None or not across.things:
            return ""
        # A cell's blank is before it; the first has one of its own only if a cursor has to be drawn there.
        cell = (x - LEAD - start + 1 - across.lead) // across.cell
        place = across.first + cell
        return across.things[place] if cell >= 0 and place < len(across.things) else ""
