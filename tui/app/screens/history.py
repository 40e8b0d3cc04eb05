"""Screen I: what a recording tells of days and months, and the way from each figure to the cluster as it was then."""

from collections.abc import Iterable
from functools import partial

from textual import on
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText, RowsShown
from tui.app.panes.map_panes import HeatRows
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import AskedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.history.queries import LOST, MEASURES, HistoryText, HourList, LeaderlessList, MomentList, StormList
from tui.engine.link import DataLost
from tui.engine.messages import STOPPABLE
from tui.engine.view_state import SwitchView, ViewState


class History(AskedScreen):
    """Brokers by hours on top; below them the worst moments, topics without a leader, groups that rebalance."""

    place = "history"
    main_list = "history-hours"
    kept = "history"
    mode = "RECORDED"

    def panes(self) -> Iterable[Widget]:
        yield ByNeed(
            ByNeed(
                Framed(_title(""), HeatRows(HourList()), id="hours-frame", least=(40, 6), grows=1),
                Framed(
                    "Summary", LiveText(HistoryText(), id="history"), id="history-frame", least=(34, 6), most=60, rank=1
                ),
                id="history-top",
            ),
            ByNeed(
                Framed(
                    "Worst moments; enter: as it was then",
                    LiveRows(MomentList()),
                    id="moments-frame",
                    least=(34, 5),
                    grows=1,
                ),
                Framed(
                    "Without a leader, by topic", LiveRows(LeaderlessList()), id="topics-frame", least=(34, 5), grows=1
                ),
                Framed("Rebalances by group", LiveRows(StormList()), id="storms-frame", least=(34, 5), grows=1),
                id="history-below",
            ),
            id="history-all",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._name_the_map)

    @property
    def hours(self) -> HeatRows:
        """The heat map."""
        return self.query_one("#history-hours", HeatRows)

    def _name_the_map(self, state: ViewState) -> None:
        self.query_one("#hours-frame", Framed).name_it(_title(state.of("history-hours").view))
        self._tell_of_the_cell()

    @on(RowHighlighted, "#history-hours")
    @on(RowsShown, "#history-hours")
    def _tell_of_the_cell(self) -> None:
        things, column = self.hours.across.things, self.hours.column
        later = things[things.index(column) + 1 :] if column in things else ()
        cell = (self.hours.cursor_key, column, later[0] if later else "") if column else ("", "", "")
        self.query_one("#history", LiveText).be_about(HistoryText(cell=cell))

    def watch_focused(self, focused: Widget | None) -> None:
        """Where there is no room for both, the lists take the place of the map while one of them is at hand."""
        super().watch_focused(focused)
        below = self.query_one("#history-below")
        self.set_class(focused is not None and below in focused.ancestors, "-below")

    def action_view(self) -> None:
        """Of the map, whichever pane is at hand."""
        self.intend(SwitchView("history-hours"))

    def action_act(self) -> None:
        """Stops reading, and keeps what was read."""
        if STOPPABLE in self.query_one("#history", LiveText).copy_text:
            self.ask(lambda state: analysis_choices.stopped(state, self.kept))
        else:
            self.say("nothing is being read")

    def action_next_cluster(self) -> None:
        self.ask(analysis_choices.of_next_cluster)

    def action_describe(self) -> None:
        self.kdrill.describe(HistoryText(key="all"), "")

    def action_related(self) -> None:
        """Topic, group or broker as it is at the moment that is open."""
        rows, key = self.list_at_hand, self.list_at_hand.cursor_key
        name = key.partition(" ")[2]
        if rows is self.hours:
            self.kdrill.show_broker(key.removeprefix("b"))
        elif rows.list_name == "history-topics":
            self.kdrill.show_partitions(f"topic:={name}")
        elif rows.list_name == "history-groups":
            self.kdrill.show_group(name)
        else:
            super().action_related()

    @on(RowSelected)
    def _go(self, event: RowSelected) -> None:
        """To the cluster as it was when a cell begins, or at what the row leads to."""
        time = self.hours.column if event.view is self.hours else event.key.partition(" ")[0]
        if time in ("", "-"):
            self.say("when that was is not among what is listed")
        else:
            self.run_worker(partial(self._open, time), name="open", group="time", exclusive=True)

    async def _open(self, time: str) -> None:
        state, kdrill = self.kdrill.view_state, self.kdrill
        if not state.history.folder:
            kdrill.show_screen("overview")
            kdrill.go_in_time("time", time)
            return
        try:
            answer = await kdrill.link.text(HistoryText(question=state.history, recorded=state.recorded))
        except DataLost as lost:
            self.say(str(lost))
            return
        if answer.title:
            kdrill.open_source(f"{answer.title}@{time}")


def _title(measure: str) -> str:
    what = MEASURES[measure or LOST]
    return f"{what[0].upper()}{what[1:]} by broker and hour"
