"""The screens of what may fail: failure drills over the whole cluster, which deaths hurt most and what must not die
together (7), and a year of the cluster as random histories have it, why and what would help (w).

Scenarios of screen 7 are counted, or played in time, as a fleet; one of them opens on the drill's screen.
"""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText, RowsShown
from tui.app.panes.map_panes import HeatRows
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import AskedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.drill import choices as drill_choices
from tui.engine.drill.queries import HeatList, ScenarioList, ScenarioText, SweepText
from tui.engine.queries import (
    ForecastActionList,
    ForecastCauseList,
    ForecastMomentList,
    ForecastText,
    ForecastTopicList,
)
from tui.engine.view_state import Filter, Narrow, ViewState

PAIRS = "Pairs: partitions lost, offline or under min ISR"
IN_TIME = "Longest without a leader, s: who fails, and how or with whom"


class Sweep(AskedScreen):
    """Scenarios, the worst first, and what they say together; of pairs, a heat map as well."""

    place = "sweep"
    main_list = "sweep-scenarios"
    kept = "sweep"

    def panes(self) -> Iterable[Widget]:
        yield ByNeed(
            ByNeed(
                Framed(PAIRS, HeatRows(HeatList()), id="heat-frame", least=(30, 6)),
                Framed("Failures, worst first", LiveRows(ScenarioList()), id="scenarios-frame", grows=1, rank=1),
                id="sweep-lists",
            ),
            Framed("Summary", LiveText(SweepText(), id="sweep"), id="sweep-frame", least=(36, 6), grows=1, rank=2),
            id="sweep-both",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._look_at_the_cell)

    @property
    def heat(self) -> HeatRows:
        """The heat map; empty unless pairs die or a fleet is played."""
        return self.query_one("#sweep-heat", HeatRows)

    @property
    def is_fleet(self) -> bool:
        """Whether scenarios are played in time."""
        return bool(self.kdrill.view_state.sweep.fleet)

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != "heat-frame" or self.has_class("-pairs")

    def action_play(self) -> None:
        self.ask(analysis_choices.played_or_counted)

    def action_reseed(self) -> None:
        self.ask(analysis_choices.with_next_seed)

    def action_act(self) -> None:
        """Stops what is worked out."""
        if not self.stop():
            self.say("nothing is being worked out")

    def action_view(self) -> None:
        self.ask(analysis_choices.with_next_kind)

    def action_policy(self) -> None:
        self.ask(analysis_choices.with_other_policy)

    def watch_focused(self, focused: Widget | None) -> None:
        """Where there is no room for both, the list of pairs takes the place of their map while it is at hand."""
        super().watch_focused(focused)
        self.set_class(focused is not None and focused.id == self.main_list, "-listed")

    def _look_at_the_cell(self, state: ViewState) -> None:
        is_of_pairs = bool(state.sweep.fleet) or state.sweep.kind == "pairs"
        self.query_one("#heat-frame", Framed).name_it(IN_TIME if state.sweep.fleet else PAIRS)
        if is_of_pairs != self.has_class("-pairs"):
            self.set_class(is_of_pairs, "-pairs")
            is_map = is_of_pairs and not state.sweep.fleet
            self.set_focus(self.heat if is_map else self.query_one(f"#{self.main_list}"))
        self._tell_of_the_cell()

    @on(RowHighlighted, "#sweep-heat")
    @on(RowsShown, "#sweep-heat")
    def _tell_of_the_cell(self) -> None:
        cell = (self.heat.cursor_key, self.heat.column) if self.has_class("-pairs") else ("", "")
        self.query_one("#sweep", LiveText).be_about(SweepText(cell=cell))

    @on(RowSelected)
    def _play(self, event: RowSelected) -> None:
        """The scenario is played on the drill's screen, moment by moment."""
        if self.is_fleet:
            self._play_again(event)
            return
        things = (event.key, self.heat.column) if event.view is self.heat else drill_choices.victims_of(event.key)
        victims = [thing for thing in things if thing]
        if victims:
            unclean = self.kdrill.view_state.sweep.unclean
            self.ask(lambda state: drill_choices.with_these(state, victims, unclean=unclean))
            self.kdrill.show_screen("drill")

    def _play_again(self, event: RowSelected) -> None:
        """What a fleet has played; of a cell of the map, the worst."""
        if event.view is self.heat:
            self.run_worker(self._play_cell(self.heat.cursor_key, self.heat.column))
        elif event.key:
            self._open(event.key)

    async def _play_cell(self, broker: str, thing: str) -> None:
        key = await self._worst_of(broker, thing)
        if key:
            self._open(key)
        else:
            self.say("nothing was played there")

    async def _worst_of(self, broker: str, thing: str) -> str:
        """The key of the worst scenario of a cell of the map; empty where there is none."""
        asked = ScenarioList(question=self.kdrill.view_state.sweep, cell=(broker, thing), count=1)
        rows = (await self.kdrill.link.rows(asked)).rows
        return rows[0].key if rows else ""

    def _open(self, played: str) -> None:
        unclean = self.kdrill.view_state.sweep.unclean
        self.ask(lambda state: drill_choices.with_played(state, played, unclean=unclean))
        self.kdrill.show_screen("drill")

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if self.is_fleet and rows is self.heat:
            self.run_worker(self._describe_cell(self.heat.cursor_key, self.heat.column))
        elif rows is not self.heat:
            self.kdrill.describe(ScenarioText(key=rows.cursor_key))
        else:
            brokers = {drill_choices.broker_of(thing) for thing in (rows.cursor_key, self.heat.column)} - {None}
            name = " ".join(f"b{broker}" for broker in sorted(filter(None, brokers)))
            self.kdrill.describe(ScenarioText(key=name))

    async def _describe_cell(self, broker: str, thing: str) -> None:
        self.kdrill.describe(ScenarioText(key=await self._worst_of(broker, thing)))


BROKER, RACK = "broker ", "rack "
"""How the names of causes begin that a drill can play."""


class Forecast(AskedScreen):
    """Topics and the whole in sentences on top; below them the causes, and what helps."""

    place = "forecast"
    main_list = "forecast-topics"
    moments = "forecast-moments"
    kept = "forecast"

    def panes(self) -> Iterable[Widget]:
        yield ByNeed(
            ByNeed(
                Framed("", LiveRows(ForecastTopicList()), id="topics-frame", least=(40, 7), grows=2),
                Framed("", LiveRows(ForecastMomentList()), id="moments-frame", least=(40, 7), grows=2),
                Framed(
                    "A year, as assumed",
                    LiveText(ForecastText(), id="forecast"),
                    id="forecast-frame",
                    least=(36, 8),
                    most=64,
                    grows=1,
                    rank=1,
                ),
                id="forecast-top",
            ),
            ByNeed(
                Framed(
                    "Causes; enter: its failure, on a copy",
                    LiveRows(ForecastCauseList()),
                    id="causes-frame",
                    least=(36, 6),
                    grows=1,
                ),
                Framed(
                    "What helps: minutes a year fewer, all partitions",
                    LiveRows(ForecastActionList()),
                    id="actions-frame",
                    least=(40, 6),
                    grows=1,
                ),
                id="forecast-below",
            ),
            id="forecast-all",
        )

    def watch_focused(self, focused: Widget | None) -> None:
        """Where there is no room for all, causes and what helps take the place of the rest while one is at hand."""
        super().watch_focused(focused)
        below = self.query_one("#forecast-below")
        self.set_class(focused is not None and below in focused.ancestors, "-below")

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._name_topics)

    def _name_topics(self, state: ViewState) -> None:
        beside = ", and with the change" if state.forecast.is_changed else ""
        title = f"Minutes a year of a partition{beside}, worst topics first"
        self.query_one("#topics-frame", Framed).name_it(title)

    # A topic's worst moments take the place of the topics

    @property
    def list_at_hand(self) -> LiveRows:
        at_hand = super().list_at_hand
        hidden = at_hand.list_name == self.main_list and self.has_class("-moments")
        return self.query_one(f"#{self.moments}", LiveRows) if hidden else at_hand

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != ("topics-frame" if self.has_class("-moments") else "moments-frame")

    def _show_moments(self, topic: str) -> None:
        """Of this topic; empty: the topics again."""
        self.intend(Filter(self.moments, ""))
        self.intend(Narrow(self.moments, topic))
        self.query_one("#moments-frame", Framed).name_it(f"Worst moments of {topic}; enter: play it, on a copy")
        self.set_class(bool(topic), "-moments")
        self.set_focus(self.query_one(f"#{self.moments if topic else self.main_list}"))

    def clear_filter(self) -> bool:
        """Before the screen is left, a topic's moments."""
        at_hand = self.list_at_hand.list_name == self.moments
        if at_hand and not self.has_filter():
            self._show_moments("")
            return True
        return super().clear_filter()

    # Keys

    def action_more(self) -> None:
        self.ask(analysis_choices.with_more_years)

    def action_play(self) -> None:
        """The plan of the plans' screen beside the cluster as it is, or no longer."""
        self.ask(analysis_choices.with_or_without_plan)

    def action_made_up(self) -> None:
        """The command that changes something; what is still to be typed."""
        self.bottom.ask(":", "with ")

    def action_reset(self) -> None:
        self.ask(lambda state: analysis_choices.with_change(state, (), (), planned=False))

    def action_act(self) -> None:
        """Stops what is played; what has come stays."""
        if not self.stop():
            self.say("nothing is being worked out")

    def action_describe(self) -> None:
        rows = self.list_at_hand
        topic = self.kdrill.view_state.of(self.moments).scope
        self.kdrill.describe(ForecastText(key=topic if rows.list_name == self.moments else rows.cursor_key))

    def action_related(self) -> None:
        """The topic's partitions, or the broker."""
        rows = self.list_at_hand
        if rows.list_name in (self.main_list, self.moments):
            scope = self.kdrill.view_state.of(self.moments).scope
            topic = rows.cursor_key if rows.list_name == self.main_list else scope
            self.kdrill.show_partitions(f"topic:={topic}")
        elif rows.cursor_key.startswith(BROKER):
            self.kdrill.show_broker(rows.cursor_key.removeprefix(BROKER))
        else:
            super().action_related()

    @on(RowSelected)
    def _open(self, event: RowSelected) -> None:
        """A topic's worst moments; one of them, or the failure that is to blame, played; or all about what helps."""
        if event.view.id == self.main_list:
            self._show_moments(event.key)
        elif event.view.id == self.moments:
            self.ask(lambda state: drill_choices.with_played(state, event.key, unclean=False))
            self.kdrill.show_screen("drill")
        elif event.key.startswith((BROKER, RACK)):
            kind, _, name = event.key.partition(" ")
            thing = f"b{name}" if kind == "broker" else f"{drill_choices.RACK}{name}"
            self.ask(lambda state: drill_choices.with_these(state, [thing]))
            self.kdrill.show_screen("drill")
        else:
            self.action_describe()
