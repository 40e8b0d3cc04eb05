"""Everything about one thing, over the screen, and alive. Says what the data process says."""

from tui.panes.live_text import LiveText
from tui.screens.overlay import Overlay


class Describe(Overlay):
    """`about` is the kind of thing, `key` which one; `name` is what its reader calls it."""

    def __init__(self, about: str, key: str, name: str) -> None:
        super().__init__(f"{about} {name}".strip(), LiveText(about, key=key))
