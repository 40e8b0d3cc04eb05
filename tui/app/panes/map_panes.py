"""Lists that are pictures: maps with a cursor across, what has just changed, the drill's scrubber, the ownership graph.

Besides the rows' cursor a map has one that goes across the columns, `h` and `l` its keys. What stands across, and
where, the data process says (`Window.across`); the cursor is on a thing, not on a place, so it stays there when
columns come and go.

In the ownership graph the cursor goes from owner to owner or from partition to partition, and hops along the edges. It
replays what a rebalance moved in a few frames; it asks nothing while nothing happens.
"""

import os
import time
from typing import ClassVar

import msgspec
from textual import events
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from tui.app.live_app import live_app
from tui.app.panes.live_panes import LivePicture, LiveRows, seq_for
from tui.app.widgets.drawing import LEAD, GraphDrawing, Layout, RowDrawing
from tui.app.widgets.lists import BRIGHT_S, RecentChanges, row_at
from tui.engine.messages import ListQuery
from tui.engine.queries import BLANK, FRAME_S, LAST_FRAME, NO_REPLAY, STILL, is_partition, name_in, nearest_neighbour
from tui.engine.rows import Across, Column, Row, Window
from tui.engine.view_state import StandOn, ViewState, reduce

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
        self._changes = RecentChanges()

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


SHOWN_S = 30.0
"""How long the moves of a rebalance that was just seen stay in the picture, unless the operator wants otherwise."""


class SteppingRows(LiveRows):
    """A list whose cursor passes over rows that are only to be looked at: those with a blank key."""

    def action_move(self, lines: int) -> None:
        """To the next row that is not blank."""
        row = self.cursor + lines
        while self._is_blank(row):
            row += 1 if lines > 0 else -1
        if 0 <= row < self.total:
            self._go(row)

    def _go(self, index: int) -> None:
        """To a row, or to the nearest one that is not blank."""
        index = max(0, min(index, self.total - 1))
        near = (row for by in range(self.total) for row in (index + by, index - by) if 0 <= row < self.total)
        super()._go(next((row for row in near if not self._is_blank(row)), index))

    def _is_blank(self, index: int) -> bool:
        row = row_at(self._window, index)
        return row is not None and row.key.startswith(BLANK)

    def _take(self, window: Window, key: str = "") -> None:
        super()._take(window, key)
        if self._is_blank(self.cursor):
            self._go(self.cursor)


def animates(pane: Widget) -> bool:
    """Whether what changes may be played: not unless it is asked for, and never over a slow link."""
    return pane.app.animation_level != "none" and not os.environ.get("SSH_CONNECTION")


class OwnershipGraph(SteppingRows):
    """`name` is the list's name; its view is `table`, or begins with `graph`."""

    rest: ClassVar[int] = NO_REPLAY
    """The frame in which nothing is replayed."""
    frame: int = NO_REPLAY
    """How far what moved is replayed; PLAIN: it is not in the picture."""

    _turn: tuple[str, int, int] | None = None
    """Group, moment and turn of the last answer: with a later turn, the group was rebalanced before our eyes."""
    _asked_for: tuple[int, str] = (-1, "")
    """The first row in view and the cursor's key, as they were when edges were asked for."""
    _next: Timer | None = None

    @property
    def is_graph(self) -> bool:
        return self._view_of(self._live_app.view_state).startswith("graph")

    def replay(self) -> None:
        """What moved, before and after: in a few frames if the terminal is to animate; at the second time, no more."""
        if not self.clear_moves():
            self._play()

    def clear_moves(self) -> bool:
        """Takes the moves out of the picture; whether they were in it."""
        was_there = self.frame != NO_REPLAY
        self._be(NO_REPLAY)
        return was_there

    # The cursor

    def action_aside(self, columns: int) -> None:
        """From layer to layer; in the table to other columns."""
        if not self.is_graph:
            super().action_aside(columns)
        elif is_partition(self.cursor_key) != (columns > 0):
            self.hop()

    async def action_select(self) -> None:
        if self.is_graph:
            self.hop()
        else:
            await super().action_select()

    def hop(self) -> None:
        """Along an edge of what the cursor is on, to the other layer."""
        if goal := nearest_neighbour(self.cursor_key):
            self.seek(goal)

    def _want(self) -> None:
        """The edges depend on the cursor and on which rows are in view: another cursor is another question."""
        now = (self.top, self.cursor_key)
        if self._arrived and self.is_graph and now != self._asked_for:
            self._asked_for = now
            self.ask()
        else:
            super()._want()

    # Questions and answers

    def _view_of(self, state: ViewState) -> str:
        return state.of(self.list_name).view

    def question(self, asked: ListQuery, view_state: ViewState) -> ListQuery:
        return msgspec.structs.replace(super().question(asked, view_state), frame=self.frame, offset=self.top)

    @property
    def copied(self) -> str:
        return name_in(self.cursor_key)

    def whole(self) -> ListQuery:
        """A file gets a line for each owner."""
        return msgspec.structs.replace(super().whole(), view="table", frame=NO_REPLAY)

    def _take(self, window: Window, key: str = "") -> None:
        super()._take(window, key)
        state = self._live_app.view_state
        known, self._turn = (
            self._turn,
            (state.of(self.list_name).scope, seq_for(self, state), window.turn),
        )
        (scope, at, turn), (now_scope, now_at, now_turn) = known or self._turn, self._turn
        if scope != now_scope:
            self._be(self.rest)
        elif at == now_at == 0 and turn < now_turn and self.is_graph:
            self._play(fades=True)

    def drawing(self, columns: tuple[Column, ...], layout: Layout) -> RowDrawing:
        if not self.is_graph:
            return super().drawing(columns, layout)
        is_ascii = getattr(self.app, "ascii_only", False)
        row = row_at(self._window, self.cursor)
        among = is_partition(self.cursor_key or (row.key if row else ""))
        return GraphDrawing(self.look, columns, layout, self.size.width, among, is_ascii)

    # The replay

    def _play(self, *, fades: bool = False) -> None:
        self._be(0 if animates(self) else STILL, fades=fades)

    def _be(self, frame: int, *, fades: bool = False) -> None:
        if self._next is not None:
            self._next.stop()
            self._next = None
        if frame != self.frame:
            self.frame = frame
            self.ask()
        if 0 <= frame <= LAST_FRAME:
            self._next = self.set_timer(FRAME_S, lambda: self._be(frame + 1, fades=fades))
        elif fades:
            self._next = self.set_timer(SHOWN_S, lambda: self._be(self.rest))


class LabGraph(OwnershipGraph):
    """The graph of a group on the lab's trial, with what would move."""

    rest = STILL
    frame = STILL

    def replay(self) -> None:
        self._play()


class HeatRows(MapRows):
    """A heat map; where colours fill no cells, it has signs."""

    def question(self, asked: ListQuery, view_state: ViewState) -> ListQuery:
        return msgspec.structs.replace(super().question(asked, view_state), is_filled=self.look.fills)
