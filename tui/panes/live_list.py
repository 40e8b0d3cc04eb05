"""Lists fed by the data process: they ask for what the view state says of them, and show the answer."""

from collections.abc import Mapping
from typing import Any

import msgspec
from textual import on

from tui.data.messages import ListQuery
from tui.panes.asking import Asking
from tui.panes.live_app import live_app, seq_for
from tui.rows import Window
from tui.state import ViewState, level_of
from tui.widgets.line_view import EMPTY, LineView
from tui.widgets.list_messages import Latest, ListMessage, WindowWanted
from tui.widgets.tree_lines import TreeLines


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
