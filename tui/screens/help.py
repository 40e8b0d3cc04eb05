"""The keys that work on a screen, straight from the registry: it cannot be out of date."""

from tui.actions import MOTIONS, holding
from tui.rows import Line, line, span
from tui.screens.overlay import Overlay
from tui.widgets.text_pane import TextPane

SIGNS = 17
"""Cells for the keys."""


class Help(Overlay):
    """Help for one screen."""

    def __init__(self, screen: str) -> None:
        pane = TextPane()
        pane.show(help_lines(screen))
        super().__init__(f"Keys on {screen}", pane)


def help_lines(screen: str) -> list[Line]:
    """Motions first, then every action that holds on the screen."""
    motions = [line(span(keys.ljust(SIGNS), "key"), text) for keys, text in MOTIONS]
    actions = [line(span(action.sign.ljust(SIGNS), "key"), action.help) for action in holding(screen)]
    return [*motions, line(), *actions]
