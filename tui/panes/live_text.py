"""Text about one thing, fed by the data process: a payload, a reason, a summary; and plots, text in colours."""

from collections.abc import Mapping
from typing import Any

import msgspec
from textual import on

from tui.data.messages import TextQuery
from tui.panes.asking import Asking
from tui.panes.live_app import live_app, seq_for
from tui.rows import line, span
from tui.state import ViewState
from tui.widgets.plot_view import PlotView
from tui.widgets.text_pane import TextPane

LEAST_PLOT = (10, 4)
"""Cells below which a plot says nothing."""

ASCII = str.maketrans("─│┌┐└┘├┤┬┴┼█▒░", "-|+++++++++#=.")


class LiveText(TextPane):
    """Lines about `key`. `about` names the kind of thing, and the part of the view state that says in which form."""

    def __init__(self, about: str, *, key: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.about = about
        self.key = key
        self.copy_text = ""
        """The text as it is, for the clipboard."""
        self.asking = Asking(self, self._fetch, self._fail)

    def on_mount(self) -> None:
        self.asking.begin()
        self.watch(live_app(self), "view_state", self._look_again, init=False)

    def on_show(self) -> None:
        self.asking.shown()

    def on_resize(self) -> None:
        self.asking.again()

    def be_about(self, key: str) -> None:
        """Shows another thing of the same kind, from its first line on."""
        if key != self.key:
            self.key = key
            self.action_scroll_pages(-1e9)
            self.asking.after_frame()

    def _look_again(self, before: ViewState, after: ViewState) -> None:
        chosen = before.of(self.about) != after.of(self.about) or before.at != after.at
        if chosen or self.carries(before) != self.carries(after):
            self.asking.again()

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        """Fields of the question that are not of the text's own part of the view state."""
        return {}

    def question(self, view_state: ViewState) -> TextQuery:
        """What is asked, with what the operator chose."""
        view = view_state.of(self.about).view
        width = self.size.width - 1  # the scroll bar's cell
        asked = TextQuery(about=self.about, key=self.key, view=view, width=width, height=self.size.height)
        return msgspec.structs.replace(asked, at=seq_for(self, view_state), **self.carries(view_state))

    async def _fetch(self) -> None:
        app, key = live_app(self), self.key
        at = app.view_state.at
        answer = await app.link.text(self.question(app.view_state))
        if (key, at) == (self.key, app.view_state.at):
            self.copy_text = answer.plain
            if answer.lines != self._source:
                self.show(answer.lines)

    def _fail(self, reason: str) -> None:
        self.copy_text = ""
        self.show([line(span(reason, "error"))])


class LivePlot(PlotView, can_focus=True):
    """A plot of the size at hand. Can be focused, so that keys have a place while nothing else is in sight."""

    def __init__(self, key: str, *, about: str = "plot", id: str | None = None) -> None:
        super().__init__(id=id)
        self.about = about
        self.key = key
        self.asking = Asking(self, self._fetch, self.show)

    def on_mount(self) -> None:
        self.asking.begin()
        self.watch(live_app(self), "view_state", self._look_again, init=False)

    def on_show(self) -> None:
        self.asking.shown()

    def be_about(self, key: str) -> None:
        """Plots another thing of the same kind."""
        if key != self.key:
            self.key = key
            self.asking.again()

    def _look_again(self, before: ViewState, after: ViewState) -> None:
        if before.at != after.at or self.carries(before) != self.carries(after):
            self.asking.again()

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        """Fields of the question besides the key and the moment."""
        return {}

    def question(self, view_state: ViewState) -> TextQuery:
        """What is asked, with what the operator chose."""
        app, (width, height) = live_app(self), self.size
        view = "mono" if app.no_color or app.theme == "mono" else ""
        asked = TextQuery(about=self.about, key=self.key, view=view, width=width, height=height)
        return msgspec.structs.replace(asked, at=seq_for(self, view_state), **self.carries(view_state))

    @on(PlotView.PlotWanted)
    def _be_asked(self) -> None:
        self.asking.again()

    async def _fetch(self) -> None:
        app, (width, height) = live_app(self), self.size
        if width < LEAST_PLOT[0] or height < LEAST_PLOT[1]:
            return
        asked = self.question(app.view_state)
        answer = await app.link.text(asked)
        if (asked.key, asked.at) == (self.key, seq_for(self, app.view_state)):
            self.show(answer.ansi.translate(ASCII) if app.ascii_only else answer.ansi)
