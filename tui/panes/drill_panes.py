"""Lists and texts about the drill that is played now, at the moment of it that is looked at."""

import msgspec

from tui.data.messages import ListQuery, TextQuery
from tui.panes.live_list import LiveRows
from tui.panes.live_text import LiveText
from tui.state import ViewState


class DrillRows(LiveRows):
    """A list of the drill; `at_a_moment`: it looks different from moment to moment."""

    def __init__(self, name: str, *, at_a_moment: bool = True) -> None:
        super().__init__(name)
        self._at_a_moment = at_a_moment

    def depends_on(self, state: ViewState) -> object:
        return (state.drill, state.moment) if self._at_a_moment else state.drill

    def question(self, asked: ListQuery, view_state: ViewState) -> ListQuery:
        moment = view_state.moment if self._at_a_moment else -1
        return msgspec.structs.replace(super().question(asked, view_state), drill=view_state.drill, moment=moment)


class DrillText(LiveText):
    """A text about the drill."""

    def depends_on(self, state: ViewState) -> object:
        return state.drill, state.moment

    def question(self, view_state: ViewState) -> TextQuery:
        asked = super().question(view_state)
        return msgspec.structs.replace(asked, drill=view_state.drill, moment=view_state.moment)
