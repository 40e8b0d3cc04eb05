"""The logs screen: partition folders, their segments, the batches and records in them, and how a look-up finds one."""

from collections.abc import Iterable
from functools import partial

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed, FrameGroup
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.link import DataLost
from tui.engine.messages import TextQuery
from tui.engine.queries import (
    LogBatchList,
    LogBatchText,
    LogLookupList,
    LogLookupText,
    LogPartitionList,
    LogPartitionText,
    LogRecordList,
    LogRecordText,
    LogSegmentList,
    LogSegmentText,
)
from tui.engine.view_state import Filter, Narrow, SwitchView

LISTS = (LogPartitionList, LogSegmentList, LogBatchList, LogRecordList)
"""From a list to what is in one of its rows."""
LEVELS = tuple(each.name for each in LISTS)
ABOUT = (LogPartitionText, LogSegmentText, LogBatchText, LogRecordText)
"""The texts about one row, by level."""
MORE, DAMAGE = "\tmore", "\tdamage"
"""How the keys of rows end that lead on to the next page, or stand for what can't be read."""


class Logs(LiveScreen):
    """One level at a time, and beside it what there is to say of the row under the cursor."""

    place = "logs"
    main_list = "log-partitions"

    _level = 0
    _looked_up = ("", LogLookupText())
    """The batch that a look-up found, and the look-up."""

    def panes(self) -> Iterable[Widget]:
        frames = (Framed("", LiveRows(each()), id=f"{each.name}-frame", least=(40, 8)) for each in LISTS)
        yield ByNeed(
            FrameGroup(*frames, id="log-levels"),
            Framed("", LiveText(LogPartitionText(), id="log"), id="log-frame", least=(40, 9), grows=1, rank=1),
            id="log-both",
        )

    def on_mount(self) -> None:
        self._show_level(0)

    @property
    def list_at_hand(self) -> LiveRows:
        return self.query_one(f"#{LEVELS[self._level]}", LiveRows)

    def is_offered(self, frame: Framed) -> bool:
        return frame.id in ("log-frame", f"{LEVELS[self._level]}-frame")

    # Deeper and back

    def _show_level(self, level: int) -> None:
        self._level = level
        for number, name in enumerate(LEVELS):
            self.query_one(f"#{name}-frame").set_class(number == level, "-shown")
        rows = self.list_at_hand
        self.query_one(f"#{rows.id}-frame", Framed).name_it(self._title())
        self.set_focus(rows)
        self._look_at(rows.cursor_key)

    def _title(self) -> str:
        path = self._scope("log-segments").rpartition("/")[2]
        parts = self._scope(LEVELS[self._level]).split("\t")
        match self._level:
            case 0:
                return "Logs" + (f" in {parts[0]}" if parts[0] else "")
            case 1:
                return f"Segments of {path}"
            case 2:
                return f"Batches of {path}, segment {parts[-2]}" + (f", from byte {parts[-1]}" * (parts[-1] != "0"))
            case _:
                return f"Records of {path}, segment {parts[-2]}, batch at byte {parts[-1]}"

    def _scope(self, name: str) -> str:
        return self.kdrill.view_state.of(name).scope

    def _narrow(self, name: str, scope: str) -> None:
        """Another thing's rows; a filter meant for those before would hide them."""
        self.intend(Filter(name, ""))
        self.intend(Narrow(name, scope))

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if self._level == len(LEVELS) - 1 or event.key.endswith(DAMAGE):
            self.action_describe()
        elif event.key.endswith(MORE):
            self._narrow("log-batches", event.key.removesuffix(MORE))
            self._show_level(self._level)
        else:
            self._narrow(LEVELS[self._level + 1], f"{event.key}\t0" if self._level == 1 else event.key)
            self._show_level(self._level + 1)

    def clear_filter(self) -> bool:
        """Before the screen is left, the level."""
        if super().clear_filter():
            return True
        if not self._level:
            return False
        self._show_level(self._level - 1)
        return True

    # What is beside it

    @on(RowHighlighted)
    def _highlighted(self, event: RowHighlighted) -> None:
        if event.view is self.list_at_hand:
            self._look_at(event.key)

    def _look_at(self, key: str) -> None:
        batch, looked_up = self._looked_up
        if key and key == batch:
            self._tell(looked_up, f"How {looked_up.wanted} was found")
        else:
            level = self._level
            if key.endswith((MORE, DAMAGE)):  # behind the last batch or record: there is only what holds it
                scope = self._scope(LEVELS[level])
                level, key = level - 1, scope.rpartition("\t")[0] if level == LEVELS.index("log-batches") else scope
            about = ABOUT[level]
            self._tell(about(key=key), about.name.removeprefix("log-").capitalize())

    def _tell(self, query: TextQuery, title: str) -> None:
        self.query_one("#log", LiveText).be_about(query)
        self.query_one("#log-frame", Framed).name_it(title)

    def action_view(self) -> None:
        self.intend(SwitchView("log-segments"))

    def action_describe(self) -> None:
        self.kdrill.describe(self.query_one("#log", LiveText).about, "")

    def action_related(self) -> None:
        """The partition in the cluster."""
        path = self._scope("log-segments") if self._level else self.list_at_hand.cursor_key
        name = path.rpartition("/")[2]
        if name:
            self.kdrill.show_partitions(name)

    # Commands

    def show_folder(self, folder: str) -> None:
        """The logs in a folder of this machine; without one, those that were there."""
        if folder:
            self._narrow("log-partitions", folder)
            self._show_level(0)

    def look_up(self, wanted: str) -> None:
        """Goes to the batch of `offset N` or `time T` in the partition at hand, and tells how it was found."""
        path = self._scope("log-segments") if self._level else self.list_at_hand.cursor_key
        self.run_worker(partial(self._find, path, wanted), name="look-up", exclusive=True)

    async def _find(self, path: str, wanted: str) -> None:
        asked = LogLookupList(scope=path, wanted=wanted)
        try:
            found = await self.kdrill.link.rows(asked)
        except DataLost as lost:
            self.say(str(lost))
            return
        lookup = LogLookupText(key=path, wanted=wanted)
        if found.total:
            page, batch = found.rows[0].key, found.rows[1].key
            self._looked_up = batch, lookup
            self._narrow("log-segments", path)
            self._narrow("log-batches", page)
            self._show_level(LEVELS.index("log-batches"))
            self.list_at_hand.seek(batch)
        elif found.note:
            self.say(found.note)
        else:
            self.say(f"{wanted}: not found")
            self._tell(lookup, f"Where {wanted} was looked for")
