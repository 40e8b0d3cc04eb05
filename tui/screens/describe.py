"""Everything about one thing, over the screen, and alive. Says what the data process says."""

from tui.panes.drill_panes import DrillText
from tui.panes.live_text import LiveText
from tui.screens.overlay import Overlay


class Describe(Overlay):
    """`about` is the kind of thing, `key` which one; `name` is what its reader calls it."""

    def __init__(self, about: str, key: str, name: str) -> None:
        make = DrillText if about.startswith("drill-") else LiveText
        super().__init__(f"{about.removeprefix('drill-')} {name}".strip(), make(about, key=key))
