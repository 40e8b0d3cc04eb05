"""The list of one group: a table, or a graph in which the cursor goes from owner to owner or from partition to
partition, and hops along the edges. Replays what a rebalance moved in a few frames; asks nothing while nothing happens.
"""

import os
from typing import ClassVar

import msgspec
from textual.timer import Timer
from textual.widget import Widget

from tui.app.panes.live_panes import LiveRows, seq_for
from tui.app.widgets.drawing import GraphDrawing, Layout, RowDrawing
from tui.app.widgets.lists import row_at
from tui.engine.consumers.queries import (
    BLANK,
    FRAME_S,
    LAST_FRAME,
    NO_REPLAY,
    STILL,
    is_partition,
    name_in,
    nearest_neighbour,
)
from tui.engine.messages import ListQuery
from tui.engine.rows import Column, Window
from tui.engine.view_state import ViewState

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
