"""Text over a screen: help, everything about one thing, a proposal to confirm; and Textual's palette.

What lies below stays as it is. Help comes straight from the registries of keys and commands, so it is never out of
date.
"""

from collections.abc import Collection, Iterable
from itertools import groupby
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
from tui.app.widgets.text_and_plot import TextPane
from tui.engine.actions import ACTIONS, GROUPS, MOTIONS, OVERLAY, SCREENS, Action, holding
from tui.engine.conditions import Here, reason, reason_of_word
from tui.engine.messages import TextAnswer, TextQuery
from tui.engine.queries import ConfirmProposal
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


SIGNS, LABELS = 11, 13
"""Cells for the keys and for the words, if none of them takes more."""
COMMAND_SIGNS = 12


class Help(Overlay):
    def __init__(self, here: Here, actions: tuple[Action, ...], *, unsaid: Collection[str] = ()) -> None:
        """`unsaid`: words behind `:` that mean nothing on this cluster."""
        pane = TextPane()
        pane.show([*help_lines(here, actions), line(), *command_lines(here, unsaid)])
        super().__init__(f"Keys on {here.place}", pane)


def help_lines(here: Here, registry: tuple[Action, ...] = ACTIONS) -> list[Line]:
    """Every action that holds here, this screen's own first, and why one can do nothing now."""
    actions = holding(here.place, registry)
    width = max([SIGNS, *(cells(action.sign) + 2 for action in actions)])
    lines: list[Line] = []
    for group, heading in GROUPS.items():
        motions = MOTIONS if group == "move" else ()
        rows = [line(span(fit(sign, width + LABELS), "key"), text) for sign, text in motions]
        listed = [action for action in actions if action.group == group]
        for why_not, alike in groupby(listed, lambda action: reason(action, here, registry)):
            rows += _action_lines([*alike], why_not, width)
        if rows:
            lines += [*(line() for _ in lines[:1]), line(span(heading, "heading")), *rows]
    return lines


def _action_lines(actions: list[Action], why_not: str, width: int) -> list[Line]:
    """What these keys do; below them, and the keys quieter, why they do not just now."""
    style = "dim" if why_not else ""
    lines = [
        line(span(fit(each.sign, width), style or "key"), span(fit(each.label, LABELS), style), span(each.help, style))
        for each in actions
    ]
    which = f" (these {len(actions)})" if len(actions) > 1 else ""
    return [*lines, *([line(" " * width, span(f"not now{which}: {why_not}", "warn"))] if why_not else [])]


def command_lines(here: Here, unsaid: Collection[str] = ()) -> list[Line]:
    """What can be typed behind `:`, and what must follow; the screens' names are keys as well."""
    words = [(word, argument) for word, (argument, _) in WORDS.items() if word not in (*SCREENS, *unsaid)]
    lines = [line(span("Commands", "heading"))]
    for word, argument in words:
        why_not = reason_of_word(word, here)
        sign = span(fit(f":{word}", COMMAND_SIGNS), "dim" if why_not else "key")
        lines.append(line(sign, span(f"{argument}  not now: {why_not}".strip(), "warn") if why_not else argument))
    return lines


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
