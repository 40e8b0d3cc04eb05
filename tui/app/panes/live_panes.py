"""Lists, texts and plots fed by the data process: they ask for what the view state says of them, and show the answer.

A pane asks one question at a time, and none while nobody sees the answer.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from textual import on
from textual.widget import Widget

from tui.app.live_app import live_app, seq_for
from tui.app.widgets.line_view import EMPTY, LineView, TreeLines
from tui.app.widgets.lists import Latest, ListMessage, WindowWanted
from tui.app.widgets.plot_view import PlotView
from tui.app.widgets.text_pane import TextPane
from tui.engine.link import DataLost
from tui.engine.messages import ListQuery, TextQuery
from tui.engine.rows import Window, line, span
from tui.engine.view_state import ViewState, level_of

LATER_S = 0.1


class Asking:
    """Runs `ask` whenever `again` is called, never twice at a time, and not at all while the pane is out of sight.

    Who asks again while an answer is under way asks once more afterwards, not at once. A question not asked because
    the pane was out of sight stays due. `fail` is told in one line why there is no answer.
    """

    def __init__(self, pane: Widget, ask: Callable[[], Awaitable[None]], fail: Callable[[str], None]) -> None:
        self._pane = pane
        self._ask = ask
        self._fail = fail
        self._is_due = False
        self._is_under_way = False

    def begin(self) -> None:
        """The pane is mounted: asks whenever there is something new, and when its screen comes to the front."""
        pane = self._pane
        pane.watch(live_app(pane), "seq", self.again, init=False)
        pane.watch(pane.screen, "wakes", self.again, init=False)

    def again(self) -> None:
        """The answer may be another one now."""
        self._is_due = True
        self._begin()

    def after_frame(self) -> None:
        """As `again`, once what was changed is on the screen: whoever pressed a key looks there first."""
        self._is_due = True
        self._pane.call_after_refresh(self._begin)

    def shown(self) -> None:
        """The pane comes into sight; it is told so before it has a place there."""
        self.if_due()
        self._pane.call_after_refresh(self.if_due)

    def _begin(self) -> None:
        self.if_due()
        self._look_later()

    def if_due(self) -> None:
        """The pane may have come into sight."""
        if self._is_due and not self._is_under_way and self._is_in_sight():
            self._is_under_way = True
            # A worker: it ends with the pane, and a defect in it is not lost.
            self._pane.run_worker(self._run, name="ask")

    @property
    def is_settled(self) -> bool:
        """Whether what is shown answers the last question, as far as anybody sees it."""
        return not self._is_under_way and not (self._is_due and self._is_in_sight())

    def _is_in_sight(self) -> bool:
        pane = self._pane
        return pane.is_attached and pane.screen.is_active and pane.is_on_screen

    async def _run(self) -> None:
        try:
            while self._is_due and self._is_in_sight():
                self._is_due = False
                try:
                    await self._ask()
                except DataLost as lost:
                    self._fail(str(lost))
        finally:
            self._is_under_way = False
            self._look_later()

    def _look_later(self) -> None:
        """A pane may be told that it is in sight before it has a place there, and is not told again.

        A page that is not in front wakes its panes when it comes there.
        """
        pane = self._pane
        if self._is_due and not self._is_under_way and pane.is_attached and pane.screen.is_active:
            pane.set_timer(LATER_S, self.if_due)


class NotFound(ListMessage):
    """The row that was sought is not in the list."""

    def __init__(self, view: LineView, key: str) -> None:
        super().__init__(view)
        self.key = key


class RowsShown(Latest):
    """A list shows an answer: its counts and its note may be others now."""


class LiveRows(LineView):
    """A list of the data process. `name` is the list's name, and the key of its part of the view state."""

    def __init__(self, name: str, *, empty: str = "nothing here", follow_top: bool = False) -> None:
        super().__init__(empty=empty, follow_top=follow_top, id=name)
        self.list_name = name
        self.answer: Window = EMPTY
        """What is shown: columns, counts, the note."""
        self.asking = Asking(self, self._fetch, self._fail)
        self._asked = ListQuery(list=name)
        self._sought = ""

    def seek(self, key: str) -> None:
        self._sought = key
        super().seek(key)

    def on_mount(self) -> None:
        self._live_app = live_app(self)
        self.asking.begin()
        self.watch(self._live_app, "view_state", self._look_again, init=False)

    def on_show(self) -> None:
        self.asking.shown()

    def on_resize(self) -> None:
        # Which columns there are depends on the width. Textual calls LineView's own handler as well.
        self.ask()

    @on(WindowWanted)
    def _be_asked(self, wanted: WindowWanted) -> None:
        wanted.stop()
        self._asked = ListQuery(list=self.list_name, first=wanted.first, count=wanted.count, key=wanted.key)
        self.asking.again()

    def _look_again(self, before: ViewState, after: ViewState) -> None:
        old, new = before.of(self.list_name), after.of(self.list_name)
        if self._subject(before) != self._subject(after):
            self.start_over()
        elif old != new or before.at != after.at or self.carries(before) != self.carries(after):
            self.ask()
        if (old.sort, old.reverse) != (new.sort, new.reverse):
            self.sorted_by(new.sort, new.reverse)

    def carries(self, state: ViewState) -> Mapping[str, Any]:
        """Fields of the question that are not of the list's own part of the view state."""
        return {}

    def _subject(self, state: ViewState) -> tuple[str, int]:
        """What the rows are about: with another subject, none of them stays."""
        mine = state.of(self.list_name)
        return mine.scope, level_of(self.list_name, mine.view)

    def question(self, asked: ListQuery, view_state: ViewState) -> ListQuery:
        """What is asked, with what the operator chose."""
        state = view_state.of(self.list_name)
        return msgspec.structs.replace(
            asked,
            width=self.size.width,
            filter=state.filter,
            sort=state.sort,
            reverse=state.reverse,
            scope=state.scope,
            opened=state.opened,
            offset=state.offset,
            view=state.view,
            at=seq_for(self, view_state),
            **self.carries(view_state),
        )

    @property
    def copied(self) -> str:
        """What is copied of the row under the cursor."""
        return self.cursor_key

    def whole(self) -> ListQuery:
        """The question for this list as it is looked at now, its first row and count left open."""
        asked = ListQuery(list=self.list_name, key=self.cursor_key)
        return self.question(asked, self._live_app.view_state)

    async def _fetch(self) -> None:
        asked, before = self._asked, self._live_app.view_state
        window = await self._live_app.link.rows(self.question(asked, before))
        # Meanwhile the list may have become one about something else, or about another moment.
        now = self._live_app.view_state
        if (self._subject(before), before.at) == (self._subject(now), now.at):
            self._take(window, asked.key)

    def _fail(self, reason: str) -> None:
        self._take(msgspec.structs.replace(self.answer, note=reason))

    def _take(self, window: Window, key: str = "") -> None:
        self.answer = window
        self.show(window, key)
        self.post_message(RowsShown(self))
        if key and key == self._sought:
            self._sought = ""
            if window.cursor < 0:
                self.post_message(NotFound(self, key))


class LiveTree(LiveRows, TreeLines):
    """A tree of the data process."""


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
