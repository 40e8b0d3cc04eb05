"""What would be done to the cluster, over the screen, and the line in which it is confirmed. Does nothing itself."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from tui.actions import OVERLAY
from tui.bindings import bindings
from tui.data.messages import TextAnswer
from tui.screens.overlay import Overlay
from tui.widgets.prompt_line import PromptLine
from tui.widgets.text_pane import TextPane

SIGN = "confirm: "


class Confirm(Overlay):
    """A proposal; what is typed goes to the data process, which knows what it has to be."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(OVERLAY),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
    ]

    def __init__(self, proposed: TextAnswer) -> None:
        self._text = TextPane()
        self._text.can_focus = False  # a click on it must not end what is typed
        self._text.show(proposed.lines)
        super().__init__(proposed.title, self._text)

    def on_mount(self) -> None:
        self.bottom.ask(SIGN)

    def action_page(self, pages: int) -> None:
        self._text.action_scroll_pages(pages)

    @on(PromptLine.PromptAccepted)
    def _confirmed(self, event: PromptLine.PromptAccepted) -> None:
        if event.sign == SIGN:
            self.dismiss()
            self.kdrill.wish("act", event.text)

    @on(PromptLine.PromptCancelled)
    def _left(self, event: PromptLine.PromptCancelled) -> None:
        if event.sign == SIGN:
            self.dismiss()
            self.kdrill.wish("act", "")
