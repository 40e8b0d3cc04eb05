"""What the screens of analyses share: working out anew, and stopping."""

from typing import ClassVar

from tui import asking
from tui.asking import Kept
from tui.data.messages import STOPPABLE
from tui.panes.live_text import LiveText
from tui.screens.live_screen import LiveScreen


class AskedScreen(LiveScreen):
    """A screen about one of the view state's questions; its text says how far the answer is."""

    mode = "SIMULATED"
    kept: ClassVar[Kept]

    def action_refresh(self) -> None:
        self.ask(lambda state: asking.anew(state, self.kept))

    def clear_filter(self) -> bool:
        if super().clear_filter():
            return True
        if not any(STOPPABLE in pane.copy_text for pane in self.query(LiveText)):
            return False
        self.ask(lambda state: asking.stopped(state, self.kept))
        return True
