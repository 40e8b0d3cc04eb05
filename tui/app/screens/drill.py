"""Screen 6: what happens if brokers die, on a copy of the cluster, moment by moment."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from tui.app.panes.frames import Framed, Group
from tui.app.panes.live_panes import LiveRows, LiveText, RowsShown
from tui.app.panes.map_panes import MapRows, Scrubber
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.app.widgets.prompt_line import PromptLine
from tui.engine.cluster.queries import BrokerText
from tui.engine.drill import choices as drill_choices
from tui.engine.drill.queries import (
    GONE,
    STARTS,
    AtSecond,
    DrillBrokerList,
    DrillMapList,
    DrillMomentText,
    DrillPartitionText,
    DrillStepText,
    DrillText,
    DrillTimelineList,
    InCell,
    ScrubberText,
    ToMark,
)
from tui.engine.link import DataLost
from tui.engine.messages import STOPPABLE
from tui.engine.questions import NO_DRILL, DrillPlan
from tui.engine.view_state import SwitchView, ViewState

LEGEND = "Map: L leader  o in ISR  - out of ISR  X leaderless  + adding"
FRAME_S = 0.5
"""How long a moment is shown while the drill is played."""

GO_TO = "@"
"""The sign of the prompt for a time."""

NO_SECOND = "there is no such moment: write seconds, like 18.2"
ABOUT = {"drill-brokers": BrokerText, "drill-timeline": DrillMomentText, "drill-map": DrillPartitionText}
"""List → what tells of one of its rows."""


class Drill(LiveScreen):
    """Who dies, how the cluster stands, the timeline, and the partitions at the moment under the timeline's cursor."""

    place = "drill"
    main_list = "drill-brokers"
    map_list = "drill-map"
    mode = "SIMULATED"

    _arrived: DrillPlan = NO_DRILL
    _playing: Timer | None = None

    def panes(self) -> Iterable[Widget]:
        yield Group(
            Framed("Who dies", LiveRows(DrillBrokerList()), id="who-frame"),
            Framed("How it stands", LiveText(DrillText(), id="standing"), id="standing-frame"),
            id="drill-top",
        )
        yield Group(
            Scrubber(ScrubberText(), id="scrubber"),
            Group(
                Framed("Timeline", LiveRows(DrillTimelineList()), id="timeline-frame"),
                Group(
                    Framed(LEGEND, MapRows(DrillMapList()), id="drill-map-frame"),
                    Framed("Step: why, writes, who is told", LiveText(DrillStepText(), id="step"), id="step-frame"),
                    id="drill-sides",
                ),
                id="drill-panes",
            ),
            id="drill-below",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_side)

    def _show_side(self, state: ViewState) -> None:
        self.set_class(state.of(self.map_list).view == "step", "-step")

    def is_offered(self, frame: Framed) -> bool:
        hidden = "drill-map-frame" if self.has_class("-step") else "step-frame"
        return frame.id != hidden or self.has_class("-tall")

    def action_view(self) -> None:
        """The map or the step, where there is no room for both."""
        if self.has_class("-tall"):
            self.say("map and step are both in sight")
            return
        was_there = isinstance(self.focused, Widget) and self.focused.id in ("drill-map", "step")
        self.intend(SwitchView(self.map_list))
        if was_there:
            self.set_focus(self.query_one("#step" if self.has_class("-step") else "#drill-map"))

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
        """Those that are marked and nobody else, or the one under the cursor as well."""
        marked = self.kdrill.view_state.marked
        if marked:
            self.ask(lambda state: drill_choices.with_these(state, marked))
        else:
            self._at_cursor(drill_choices.with_broker)

    def action_for_real(self) -> None:
        self.kdrill.break_for_real(self._thing)

    def action_kill_rack(self) -> None:
        self._at_cursor(drill_choices.with_rack)

    def action_wish(self, _terminate: str) -> None:
        """As in the sandbox: the broker under the cursor shuts down."""
        self._at_cursor(drill_choices.with_shutdown)

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
        if STOPPABLE in self.timeline.answer.note:
            self.ask(drill_choices.stopped)
            return True
        has_marks = bool(self.kdrill.view_state.marked)
        self.ask(drill_choices.without_marks)
        return has_marks

    # Which moment is looked at

    @on(RowHighlighted, "#drill-timeline")
    def _look_at(self, event: RowHighlighted) -> None:
        if event.key:
            self.ask(lambda state: replace(state, moment=int(event.key)))

    @on(RowsShown, "#drill-timeline")
    def _show_the_end(self) -> None:
        """What a drill comes to matters first; how it comes to it can be gone through from there."""
        plan, total = self.kdrill.view_state.drill, self.timeline.total
        if total and plan != self._arrived:
            self._arrived = plan
            self.timeline.action_last()

    def action_step(self, by: int) -> None:
        if not self.timeline.total:
            self.set_focus(self.timeline)  # one pane at a time: it has to be the one in sight
        self.timeline.action_move(by)

    def action_mark(self, by: int) -> None:
        self._go(ToMark(int(self.timeline.cursor_key or 0), back=by < 0), "no mark there")

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
        if self.timeline.total:
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
        else:
            self.timeline.seek(str(found))

    def action_play(self) -> None:
        """Moment by moment from here, or from the start where this is the end."""
        if self._playing is not None:
            self._stop()
        elif self.timeline.total:
            if self.timeline.cursor == self.timeline.total - 1:
                self.timeline.action_first()
            self._playing = self.set_interval(FRAME_S, self._next)

    def _next(self) -> None:
        if self.timeline.cursor >= self.timeline.total - 1:
            self._stop()
        else:
            self.timeline.action_move(1)

    def _stop(self) -> None:
        if self._playing is not None:
            self._playing.stop()
            self._playing = None

    # Everything about one thing

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id == "drill-brokers":
            self.action_kill()
        else:
            self.action_describe()

    def action_describe(self) -> None:
        rows = self.list_at_hand
        about = ABOUT[rows.list_name]
        self.kdrill.describe(about(key=rows.cursor_key))

    def action_related(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "drill-map" and rows.cursor_key:
            self.kdrill.show_partitions(rows.cursor_key)
        elif rows.list_name == "drill-brokers" and rows.cursor_key:
            self.kdrill.show_partitions(f"broker:{rows.cursor_key}")
