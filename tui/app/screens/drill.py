"""Screen 6: what happens if brokers die, on a copy of the cluster, moment by moment.

Before anything is chosen it says which failures would be worst. Where there is no room for all panes, one of the map,
the step and the summary stands beside the brokers.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText, RowsShown
from tui.app.panes.map_panes import MapRows, Scrubber
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.app.widgets.prompt_line import PromptLine
from tui.engine.cluster.queries import BrokerTextQuery
from tui.engine.drill import choices as drill_choices
from tui.engine.drill.queries import (
    GONE,
    STARTS,
    AtSecond,
    CoursePicture,
    DeathList,
    DeathText,
    DrillBrokerList,
    DrillMapList,
    DrillMomentText,
    DrillPartitionText,
    DrillStepText,
    DrillText,
    DrillTimelineList,
    InCell,
    ToMark,
)
from tui.engine.link import DataLost
from tui.engine.messages import STOPPABLE
from tui.engine.questions import NO_DRILL, DrillPlan
from tui.engine.view_state import VIEWS, SwitchView, ViewState

LEGEND = "Map: L leader  o in ISR  - out of ISR  X leaderless  + adding"
FRAME_S = 0.5
"""How long a moment is shown while the drill is played."""

LAST = -1
"""The last moment, whichever that is."""

GO_TO = "@"
"""The sign of the prompt for a time."""

NO_SECOND = "there is no such moment: write seconds, like 18.2"
ABOUT = {
    "drill-brokers": BrokerTextQuery,
    "drill-timeline": DrillMomentText,
    "drill-map": DrillPartitionText,
    "drill-deaths": DeathText,
}
"""List → what tells of one of its rows."""

SIDES = {
    "drill-map-frame": "map",
    "timeline-frame": "step",
    "step-frame": "step",
    "summary-frame": "summary",
}
"""Frame → the view in which it stands where there is no room for all of them."""


class Drill(LiveScreen):
    """Who dies, the course of it, and the partitions, the reasons and the figures at one moment."""

    place = "drill"
    main_list = "drill-brokers"
    map_list = "drill-map"
    mode = "SIMULATED"

    _arrived: DrillPlan = NO_DRILL
    _playing: Timer | None = None
    _ahead = 0
    """Moments to go on or back, while the timeline is out of sight."""

    def panes(self) -> Iterable[Widget]:
        yield ByNeed(
            Framed("Course", Scrubber(CoursePicture(), id="course"), id="course-frame", least=(40, 8)),
            ByNeed(
                ByNeed(
                    Framed("Brokers", LiveRows(DrillBrokerList()), id="who-frame", least=(34, 5)),
                    Framed("Summary", LiveText(DrillText(), id="summary"), id="summary-frame", least=(40, 5), rank=-1),
                    id="drill-who",
                ),
                Framed(
                    "Worst failures: enter plays one", LiveRows(DeathList()), id="deaths-frame", least=(40, 5), rank=-2
                ),
                ByNeed(
                    Framed(LEGEND, MapRows(DrillMapList()), id="drill-map-frame", least=(44, 5), grows=1),
                    ByNeed(
                        Framed("Timeline", LiveRows(DrillTimelineList()), id="timeline-frame", least=(44, 5)),
                        Framed(
                            "Why, writes, requests",
                            LiveText(DrillStepText(), id="step"),
                            id="step-frame",
                            least=(44, 10),
                        ),
                        id="drill-telling",
                    ),
                    id="drill-sides",
                ),
                id="drill-below",
            ),
            id="drill-panes",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_side)

    @property
    def side(self) -> str:
        """What stands beside the brokers where there is no room for all: map, step or summary."""
        return self.kdrill.view_state.of(self.map_list).view

    @property
    def is_roomy(self) -> bool:
        """Whether there is room for all panes."""
        return self.has_class("-tall") or self.has_class("-very-wide")

    def _show_side(self, state: ViewState) -> None:
        self.set_class(state.drill.is_chosen, "-chosen")
        for view in VIEWS[self.map_list]:
            self.set_class(self.side == view, f"-{view}")
        frame = self.focused.parent if isinstance(self.focused, Widget) else None
        if isinstance(frame, Framed) and not self.is_offered(frame):
            self.set_focus(self.query_one(f"#{self.main_list}"))

    def is_offered(self, frame: Framed) -> bool:
        if not self.has_class("-chosen"):
            return frame.id in ("who-frame", "summary-frame", "deaths-frame")
        return frame.id != "deaths-frame" and (self.is_roomy or SIDES.get(frame.id or "", self.side) == self.side)

    def action_view(self) -> None:
        """The map, the step or the summary, where there is no room for all."""
        if self.is_roomy or not self.has_class("-chosen"):
            self.say("all panes are in sight")
            return
        frame = self.focused.parent if isinstance(self.focused, Widget) else None
        was_there = isinstance(frame, Framed) and frame.id in SIDES
        self.intend(SwitchView(self.map_list))
        if was_there:
            pane = {"map": "drill-map", "step": "drill-timeline", "summary": "summary"}[self.side]
            self.set_focus(self.query_one(f"#{pane}"))
        self.timeline.seek(str(self.kdrill.view_state.moment))

    @property
    def timeline(self) -> LiveRows:
        """The moments; the one under its cursor is what all else shows."""
        return self.query_one("#drill-timeline", LiveRows)

    # What is played

    @property
    def _thing(self) -> str:
        """The broker under the map's column cursor, if the map is at hand; else the one in the list."""
        there = self.query_one("#drill-map", MapRows)
        broker = self.query_one("#drill-brokers", LiveRows).cursor_key
        return there.column if self.list_at_hand is there and there.column else f"b{broker}" if broker else ""

    def _at_cursor(self, change: Callable[[ViewState, int], ViewState]) -> None:
        broker = drill_choices.broker_of(self._thing)
        if broker is None:
            self.say("no broker is selected")
        else:
            self.ask(lambda state: change(state, broker))

    def action_pick(self) -> None:
        if self._thing:
            self.ask(lambda state: drill_choices.with_mark(state, self._thing))

    def action_kill(self) -> None:
        """Those that are marked and nobody else, or the one under the cursor as well; or what the list of the worst
        failures says."""
        marked = self.kdrill.view_state.marked
        deaths = self.query_one("#drill-deaths", LiveRows)
        if self.list_at_hand is deaths:
            victims = drill_choices.victims_of(deaths.cursor_key)
            self.ask(lambda state: drill_choices.with_these(state, victims, unclean=state.drill.unclean))
        elif marked:
            self.ask(lambda state: drill_choices.with_these(state, marked))
        else:
            self._at_cursor(drill_choices.with_broker)

    def action_for_real(self) -> None:
        self.kdrill.break_for_real(self._thing)

    def action_kill_rack(self) -> None:
        self._at_cursor(drill_choices.with_rack)

    def action_failover(self) -> None:
        self.ask(drill_choices.with_controllers)

    def action_join(self) -> None:
        """As a member joins a group: the node votes, or does not."""
        self._at_cursor(drill_choices.with_voter)

    def action_wish(self, wish: str) -> None:
        """As in the sandbox: the broker under the cursor shuts down, or is cut off from a log folder."""
        self._at_cursor(drill_choices.with_folder if wish == "cut" else drill_choices.with_shutdown)

    def action_restart(self) -> None:
        """The broker under the cursor starts if it is dead already; else those come back who die."""
        row = self.query_one("#drill-brokers", LiveRows).row
        if row is not None and row.mark in (GONE, STARTS) and self._thing == f"b{row.key}":
            self._at_cursor(drill_choices.with_start)
        else:
            self.ask(drill_choices.with_restart)

    def action_policy(self) -> None:
        self.ask(drill_choices.with_next_policy)

    def action_undo(self) -> None:
        self.ask(drill_choices.undone)

    def action_reset(self) -> None:
        self.ask(drill_choices.without_any)

    def action_refresh(self) -> None:
        self.ask(drill_choices.anew)

    def clear_filter(self) -> bool:
        if super().clear_filter():
            return True
        lists = (self.timeline, self.query_one("#drill-map", LiveRows), self.query_one("#drill-deaths", LiveRows))
        if any(STOPPABLE in each.answer.note for each in lists if each.is_on_screen):
            self.ask(drill_choices.stopped)
            return True
        has_marks = bool(self.kdrill.view_state.marked)
        self.ask(drill_choices.without_marks)
        return has_marks

    # Which moment is looked at

    @on(RowHighlighted, "#drill-timeline")
    def _look_at(self, event: RowHighlighted) -> None:
        if event.key and self._arrived == self.kdrill.view_state.drill:
            self._stand_at(int(event.key))

    @on(RowsShown, "#drill-timeline")
    def _show_the_end(self) -> None:
        """What a drill comes to matters first; how it comes to it can be gone through from there."""
        state, total = self.kdrill.view_state, self.timeline.total
        if total and state.drill != self._arrived:
            self._arrived = state.drill
            if state.moment < 0:
                self.timeline.action_last()
            else:  # it was gone through before the timeline came into sight
                self.timeline.seek(str(state.moment))

    def action_step(self, by: int) -> None:
        if self.timeline.is_on_screen and self.timeline.total:
            self.timeline.action_move(by)
        else:
            self._ahead += by
            self.run_worker(self._gone_ahead, name="step")

    async def _gone_ahead(self) -> None:
        """As many moments on as keys were pressed; the data process knows how many there are."""
        state = self.kdrill.view_state
        try:
            total = (await self.kdrill.link.rows(DrillTimelineList(count=0, drill=state.drill))).total
        except DataLost as lost:
            self.say(str(lost))
            return
        by, self._ahead = self._ahead, 0
        now = self.kdrill.view_state.moment
        moment = max((total - 1 if now < 0 else now) + by, 0)
        self._stand_at(moment if moment < total - 1 else LAST)

    def _stand_at(self, moment: int) -> None:
        self.ask(lambda state: replace(state, moment=moment))

    def action_mark(self, by: int) -> None:
        self._go(ToMark(self.kdrill.view_state.moment, back=by < 0), "no mark there")

    def action_time(self) -> None:
        self.bottom.ask(GO_TO)

    @on(PromptLine.PromptAccepted)
    def _typed_a_time(self, event: PromptLine.PromptAccepted) -> None:
        if event.sign == GO_TO and event.text.strip():
            try:
                second = float(event.text.strip().removeprefix("+").removesuffix("s"))
            except ValueError:
                self.say(NO_SECOND)
            else:
                self._go(AtSecond(second), NO_SECOND)

    def _go(self, where: AtSecond | ToMark | InCell, nowhere: str) -> None:
        self.run_worker(partial(self._gone, where, nowhere), name="go", exclusive=True)

    @on(Scrubber.Scrubbed)
    def _scrub(self, event: Scrubber.Scrubbed) -> None:
        self._go(InCell(event.cell, event.width), "no mark there")

    @on(Scrubber.Stepped)
    def _stepped(self, event: Scrubber.Stepped) -> None:
        self.action_step(event.by)

    async def _gone(self, where: AtSecond | ToMark | InCell, nowhere: str) -> None:
        """The data process knows where marks and times are."""
        asked = DrillTimelineList(seek=where, count=0, drill=self.kdrill.view_state.drill)
        try:
            found = (await self.kdrill.link.rows(asked)).cursor
        except DataLost as lost:
            self.say(str(lost))
            return
        if found < 0:
            self.say(nowhere)
        elif self.timeline.is_on_screen:
            self.timeline.seek(str(found))
        else:
            self._stand_at(found)

    @property
    def _is_at_the_end(self) -> bool:
        moment = self.kdrill.view_state.moment
        return moment < 0 or (self.timeline.is_on_screen and moment >= self.timeline.total - 1)

    def action_play(self) -> None:
        """Moment by moment from here, or from the start where this is the end."""
        if self._playing is not None:
            self._stop()
        elif self.has_class("-chosen"):
            if self._is_at_the_end:
                self._stand_at(0)
                self.timeline.action_first()
            self._playing = self.set_interval(FRAME_S, self._next)

    def _next(self) -> None:
        if self._is_at_the_end:
            self._stop()
        else:
            self.action_step(1)

    def _stop(self) -> None:
        if self._playing is not None:
            self._playing.stop()
            self._playing = None

    # Everything about one thing

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id in ("drill-brokers", "drill-deaths"):
            self.action_kill()
        else:
            self.action_describe()

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if rows.cursor_key:
            self.kdrill.describe(ABOUT[rows.list_name](key=rows.cursor_key))

    def action_related(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "drill-map" and rows.cursor_key:
            self.kdrill.show_partitions(rows.cursor_key)
        elif rows.list_name == "drill-brokers" and rows.cursor_key:
            self.kdrill.show_partitions(f"broker:{rows.cursor_key}")
