"""Everything about one thing, over the screen, and alive. Says what the data process says."""

from tui.panes.asked_panes import AskedText
from tui.panes.drill_panes import DrillText
from tui.panes.live_text import LiveText
from tui.screens.overlay import Overlay


class Describe(Overlay):
    """`about` is the kind of thing, `key` which one; `name` is what its reader calls it, and `word` the kind."""

    def __init__(self, about: str, key: str, name: str, word: str = "") -> None:
        family, _, kind = about.rpartition("-")
        super().__init__(f"{word or kind} {name}".strip(), _pane(family, about, key))


def _pane(family: str, about: str, key: str) -> LiveText:
    match family:
        case "drill":
            return DrillText(about, key=key)
        case "sweep":
            return AskedText(about, "sweep", key=key)
        case "lab":
            return AskedText(about, "preview", key=key)
        case _:
            return LiveText(about, key=key)
