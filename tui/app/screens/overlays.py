"""Text over a screen: help, everything about one thing, a proposal to confirm; and Textual's palette.

What lies below stays as it is. Help comes straight from the registries of keys and commands, so it is never out of
date.
"""

from collections.abc import Collection, Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.widget import Widget

from tui.app.commands import WORDS
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveText
from tui.app.screens.page import Page
from tui.app.widgets.prompt_line import PromptLine
from tui.app.widgets.text_pane import TextPane
from tui.engine.acting.queries import ConfirmProposal
from tui.engine.actions import ACTIONS, MOTIONS, OVERLAY, SCREENS, Action, holding
from tui.engine.messages import TextAnswer, TextQuery
from tui.engine.rows import Line, line, span
from tui.engine.text import cells, fit


class Overlay(Page):
    """One text between the first line and the last."""

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


SIGNS = 17
"""Cells for the keys, if none of them takes more."""


class Help(Overlay):
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


class Describe(Overlay):
    """Everything about one thing; `name` is what its reader calls it, and `word` the kind of thing."""

    def __init__(self, query: TextQuery, name: str, word: str = "") -> None:
        super().__init__(f"{word or query.name.rpartition('-')[2]} {name}".strip(), LiveText(query))


SIGN = "confirm: "


class Confirm(Overlay):
    """A proposal; what is typed goes to the data process, which knows what it has to be."""

    BINDINGS: ClassVar[list[BindingType]] = [
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
            self.kdrill.wish(ConfirmProposal(event.text))

    @on(PromptLine.PromptCancelled)
    def _left(self, event: PromptLine.PromptCancelled) -> None:
        if event.sign == SIGN:
            self.dismiss()
            self.kdrill.wish(ConfirmProposal(""))


class KdrillPalette(CommandPalette):
    def _action_command_list(self, action: str) -> None:
        """A page up or down looks for a line of the list, and fails where there is none."""
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
