"""Text over a screen: help, or everything about one thing. Shows what it is given; what lies below stays as it is."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tui.actions import OVERLAY
from tui.bindings import bindings
from tui.panes.framed import Framed
from tui.panes.live_text import LiveText
from tui.screens.page import Page
from tui.widgets.text_pane import TextPane


class Overlay(Page):
    """One text between the first line and the last."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(OVERLAY)]
    place = OVERLAY

    def __init__(self, title: str, pane: TextPane) -> None:
        super().__init__()
        self._title = title
        self._pane = pane

    def middle(self) -> Iterable[Widget]:
        frame = Framed(self._title, self._pane)
        frame.be_at_hand(True)
        yield frame

    @property
    def is_timed(self) -> bool:
        """As the screen below."""
        return any(isinstance(page, Page) and page.is_timed for page in self.app.screen_stack if page is not self)

    def on_mount(self) -> None:
        self.set_focus(self._pane)

    def action_copy(self) -> None:
        self.copy(self._pane.copy_text if isinstance(self._pane, LiveText) else self._pane.plain)
