"""The keys that work on a screen and the words behind `:`, straight from their registries: never out of date."""

from collections.abc import Collection, Iterable

from tui.actions import ACTIONS, MOTIONS, SCREENS, Action, holding
from tui.commands import WORDS
from tui.rows import Line, line, span
from tui.screens.overlay import Overlay
from tui.text import cells, fit
from tui.widgets.text_pane import TextPane

SIGNS = 17
"""Cells for the keys, if none of them takes more."""


class Help(Overlay):
    """Help for one screen."""

    def __init__(self, screen: str, actions: Iterable[Action], *, unsaid: Collection[str] = ()) -> None:
        """`unsaid`: words behind `:` that mean nothing on this cluster."""
        pane = TextPane()
        pane.show([*help_lines(screen, actions), line(), *command_lines(unsaid)])
        super().__init__(f"Keys on {screen}", pane)


def help_lines(screen: str, registry: Iterable[Action] = ACTIONS) -> list[Line]:
    """Motions first, then every action that holds on the screen."""
    actions = [(action.sign, action.help) for action in holding(screen, registry)]
    width = max([SIGNS, *(cells(sign) + 2 for sign, _ in actions)])
    rows = [line(span(fit(sign, width), "key"), text) for sign, text in (*MOTIONS, *actions)]
    return [*rows[: len(MOTIONS)], line(), *rows[len(MOTIONS) :]]


def command_lines(unsaid: Collection[str] = ()) -> list[Line]:
    """What can be typed behind `:`, and what must follow; the screens' names are keys as well."""
    words = [(f":{word}", argument) for word, (argument, _) in WORDS.items() if word not in (*SCREENS, *unsaid)]
    return [line(span(fit(word, SIGNS), "key"), argument) for word, argument in words]
