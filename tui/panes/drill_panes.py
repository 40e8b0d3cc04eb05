"""Lists and texts about the drill that is played now, at the moment of it that is looked at."""

from collections.abc import Mapping
from typing import Any

from textual import events
from textual.message import Message

from tui.panes.live_list import LiveRows
from tui.panes.live_text import LiveText
from tui.state import ViewState


class DrillRows(LiveRows):
    """A list of the drill; `at_a_moment`: it looks different from moment to moment."""

    def __init__(self, name: str, *, at_a_moment: bool = True) -> None:
        super().__init__(name)
        self._at_a_moment = at_a_moment

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        of_moment = {"marked": state.marked, "moment": state.moment} if self._at_a_moment else {}
        return {**super().carries(state), "drill": state.drill, **of_moment}


class DrillText(LiveText):
    """A text about the drill."""

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        return {**super().carries(state), "drill": state.drill, "moment": state.moment}


class Scrubber(DrillText, can_focus=False):
    """The whole time in a line. The mouse goes to a moment with a click or by dragging, and steps with its wheel."""

    class Scrubbed(Message):
        """The operator points at a cell of the line, which is `width` cells long."""

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
