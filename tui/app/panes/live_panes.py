"""Lists, texts and plots fed by the data process: they ask for what the view state says of them, and show the answer.

A pane asks one question at a time, and none while nobody sees the answer.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from textual import on
from textual.timer import Timer
from textual.widget import Widget

from tui.app.live_app import live_app
from tui.app.widgets.line_view import EMPTY, LineView, TreeLines
from tui.app.widgets.lists import ContentShown, ListMessage, WindowWanted
from tui.app.widgets.text_and_plot import PlotView, TextPane
from tui.engine.link import DataLost
from tui.engine.messages import ListQuery, PictureQuery, PlotQuery, TextAnswer, TextQuery
from tui.engine.rows import Window, line, span
from tui.engine.view_state import ViewState, level_of

LATER_S = 0.1


class Refresher:
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


def seq_for(pane: Widget, state: ViewState) -> int:
    """Which moment a pane asks for: only some screens show the past."""
    return state.at if getattr(pane.screen, "is_timed", False) else 0


def chosen(pane: Widget, query: ListQuery | TextQuery, state: ViewState) -> dict[str, Any]:
    """What the operator chose of a query's fields."""
    asks = state.asks(query)
    return asks | {"at": seq_for(pane, state)} if "at" in asks else asks


class NotFound(ListMessage):
    """The row that was sought is not in the list."""

    def __init__(self, view: LineView, key: str) -> None:
        super().__init__(view)
        self.key = key


class RowsShown(ContentShown):
    """A list shows an answer: its counts and its note may be others now."""


class LiveRows(LineView):
    """A list of the data process; the query's name is the key of its part of the view state."""

    def __init__(self, query: ListQuery, *, empty: str = "nothing here", follow_top: bool = False) -> None:
        super().__init__(empty=empty, follow_top=follow_top, id=query.name)
        self.list_name = query.name
        self.answer: Window = EMPTY
        """What is shown: columns, counts, the note."""
        self.asking = Refresher(self, self._fetch, self._fail)
        self._asked = query
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
        self._asked = msgspec.structs.replace(self._asked, first=wanted.first, count=wanted.count, key=wanted.key)
        self.asking.again()

    def _look_again(self, before: ViewState, after: ViewState) -> None:
        old, new = before.of(self.list_name), after.of(self.list_name)
        if self._subject(before) != self._subject(after):
            self.start_over()
        elif before.asks(self._asked) != after.asks(self._asked):
            self.ask()
        if (old.sort, old.reverse) != (new.sort, new.reverse):
            self.sorted_by(new.sort, new.reverse)

    def _subject(self, state: ViewState) -> tuple[str, int]:
        """What the rows are about: with another subject, none of them stays."""
        mine = state.of(self.list_name)
        return mine.scope, level_of(self.list_name, mine.view)

    def question(self, asked: ListQuery, view_state: ViewState) -> ListQuery:
        """What is asked, with what the operator chose."""
        return msgspec.structs.replace(asked, width=self.size.width, **chosen(self, asked, view_state))

    @property
    def copied(self) -> str:
        """What is copied of the row under the cursor."""
        return self.cursor_key

    def whole(self) -> ListQuery:
        """The question for this list as it is looked at now, its first row and count left open."""
        asked = msgspec.structs.replace(self._asked, key=self.cursor_key)
        return self.question(asked, self._live_app.view_state)

    async def _fetch(self) -> None:
        before = self._live_app.view_state
        asked = msgspec.structs.replace(self._asked, key=self._sought or self.cursor_key)
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


class LiveText(TextPane):
    """Lines about one thing; the query's name is the key of the part of the view state that says in which form."""

    def __init__(self, query: TextQuery, *, wrap: bool = True, id: str | None = None) -> None:
        super().__init__(wrap=wrap, id=id)
        self.about = query
        self.copy_text = ""
        """The text as it is, for the clipboard."""
        self.asking = Refresher(self, self._fetch, self._fail)
        self._clock: Timer | None = None

    def on_mount(self) -> None:
        self.asking.begin()
        self.watch(live_app(self), "view_state", self._look_again, init=False)

    def on_show(self) -> None:
        self.asking.shown()

    def on_resize(self) -> None:
        self.asking.again()

    def be_about(self, query: TextQuery) -> None:
        """Shows another thing, from its first line on."""
        if query != self.about:
            self.about = query
            self.action_scroll_pages(-1e9)
            self.asking.after_frame()

    def _look_again(self, before: ViewState, after: ViewState) -> None:
        if before.asks(self.about) != after.asks(self.about):
            self.asking.again()

    def question(self, view_state: ViewState) -> TextQuery:
        """What is asked, with what the operator chose."""
        width = self.size.width - 1  # the scroll bar's cell
        return msgspec.structs.replace(self.about, width=width, **chosen(self, self.about, view_state))

    async def _fetch(self) -> None:
        app, query = live_app(self), self.about
        at = app.view_state.at
        answer = await app.link.text(self.question(app.view_state))
        if (query, at) == (self.about, app.view_state.at):
            self.take(answer)

    def take(self, answer: TextAnswer) -> None:
        """Shows what was answered; where it counts seconds, it is asked for again when the next one is over."""
        self.copy_text = answer.plain
        wanted, self.unbroken = self.wanted, answer.wants
        if answer.lines != self._source:
            self.show(answer.lines)
        if self.wanted != wanted:
            self.post_message(ContentShown(self))
        if self._clock is not None:
            self._clock.stop()
        self._clock = self.set_timer(answer.again_ms / 1000, self.asking.again) if answer.again_ms else None

    def _fail(self, reason: str) -> None:
        self.copy_text = ""
        self.show([line(span(reason, "error"))])


class LivePicture(LiveText):
    """A drawing of the size at hand, in lines that are never wrapped."""

    def __init__(self, query: PictureQuery, *, id: str | None = None, fills: bool = False) -> None:
        """`fills`: it fills the room that it is given, and asks for none."""
        super().__init__(query, wrap=False, id=id)
        self._fills = fills

    @property
    def wanted(self) -> tuple[int, int]:
        return (0, 0) if self._fills else super().wanted

    def question(self, view_state: ViewState) -> TextQuery:
        look = self.look
        size = {"height": self.size.height, "is_filled": look.fills, "is_ascii": look.is_ascii}
        return msgspec.structs.replace(super().question(view_state), **size)


class LivePlot(PlotView, can_focus=True):
    """A plot of the size at hand. Can be focused, so that keys have a place while nothing else is in sight."""

    def __init__(self, query: PlotQuery, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.about = query
        self.asking = Refresher(self, self._fetch, self.show)

    def on_mount(self) -> None:
        self.asking.begin()
        self.watch(live_app(self), "view_state", self._look_again, init=False)

    def on_show(self) -> None:
        self.asking.shown()

    def be_about(self, query: PlotQuery) -> None:
        """Plots another thing."""
        if query != self.about:
            self.about = query
            self.asking.again()

    def _look_again(self, before: ViewState, after: ViewState) -> None:
        if before.asks(self.about) != after.asks(self.about):
            self.asking.again()

    def question(self, view_state: ViewState) -> PlotQuery:
        """What is asked, with what the operator chose."""
        app, (width, height) = live_app(self), self.size
        mono = app.no_color or app.theme == "mono"
        size = {"width": width, "height": height, "mono": mono}
        return msgspec.structs.replace(self.about, **size, **chosen(self, self.about, view_state))

    @on(PlotView.PlotWanted)
    def _be_asked(self) -> None:
        self.asking.again()

    async def _fetch(self) -> None:
        app, (width, height), query = live_app(self), self.size, self.about
        if width < LEAST_PLOT[0] or height < LEAST_PLOT[1]:
            return
        at = app.view_state.at
        answer = await app.link.text(self.question(app.view_state))
        if (query, at) == (self.about, app.view_state.at):
            self.show(answer.ansi)
