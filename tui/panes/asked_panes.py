"""Lists and texts about what is asked of the analyses: a sweep, the lab, a plan."""

from collections.abc import Mapping
from typing import Any

from tui.asking import Kept
from tui.panes.live_list import LiveRows
from tui.panes.live_text import LivePlot, LiveText
from tui.state import ViewState


class AskedRows(LiveRows):
    """A list of an analysis; `kept` says which of the view state's questions it answers."""

    def __init__(self, name: str, kept: Kept, *, empty: str = "nothing here") -> None:
        super().__init__(name, empty=empty)
        self._about: Kept = kept

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        return {**super().carries(state), **_asked(state, self._about)}


class AskedText(LiveText):
    """A text of an analysis."""

    def __init__(self, about: str, kept: Kept, *, key: str = "", id: str | None = None) -> None:
        super().__init__(about, key=key, id=id)
        self._about: Kept = kept

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        return _asked(state, self._about)


class AskedPlot(LivePlot):
    """A plot of an analysis."""

    def __init__(self, about: str, kept: Kept, *, id: str | None = None) -> None:
        super().__init__("", about=about, id=id)
        self._about: Kept = kept

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        return _asked(state, self._about)


def _asked(state: ViewState, kept: Kept) -> Mapping[str, Any]:
    return {"question": getattr(state, kept), "bench": state.bench}
