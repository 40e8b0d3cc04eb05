"""Screen 7: failure drills over the whole cluster: which deaths hurt most, and what must not die together."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.panes.frames import Framed, Group
from tui.app.panes.live_panes import LiveRows, LiveText, RowsShown
from tui.app.panes.map_panes import MapRows
from tui.app.screens.live_screen import AskedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.drill import choices as drill_choices
from tui.engine.sweep.queries import HeatList, ScenarioList, ScenarioText, SweepText
from tui.engine.view_state import ViewState

LEGEND = "Pairs by partitions hurt, worst first: . none  : few  @ most"


class Sweep(AskedScreen):
    """Scenarios, the worst first, and what they say together; of pairs, a heat map as well."""

    place = "sweep"
    main_list = "sweep-scenarios"
    kept = "sweep"

    def panes(self) -> Iterable[Widget]:
        yield Group(
            Group(
                Framed(LEGEND, MapRows(HeatList()), id="heat-frame"),
                Framed("Who dies, worst first", LiveRows(ScenarioList()), id="scenarios-frame"),
                id="sweep-lists",
            ),
            Framed("What it says", LiveText(SweepText(), id="sweep"), id="sweep-frame"),
            id="sweep-both",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._look_at_the_cell)

    @property
    def heat(self) -> MapRows:
        """The heat map; empty unless pairs die."""
        return self.query_one("#sweep-heat", MapRows)

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != "heat-frame" or self.has_class("-pairs")

    def action_view(self) -> None:
        self.ask(analysis_choices.with_next_kind)

    def action_policy(self) -> None:
        self.ask(analysis_choices.with_other_policy)

    def _look_at_the_cell(self, state: ViewState) -> None:
        is_of_pairs = state.sweep.kind == "pairs"
        if is_of_pairs != self.has_class("-pairs"):
            self.set_class(is_of_pairs, "-pairs")
            self.set_focus(self.heat if is_of_pairs else self.query_one(f"#{self.main_list}"))
        self._tell_of_the_cell()

    @on(RowHighlighted, "#sweep-heat")
    @on(RowsShown, "#sweep-heat")
    def _tell_of_the_cell(self) -> None:
        cell = (self.heat.cursor_key, self.heat.column) if self.has_class("-pairs") else ("", "")
        self.query_one("#sweep", LiveText).be_about(SweepText(cell=cell))

    @on(RowSelected)
    def _play(self, event: RowSelected) -> None:
        """The scenario is played on the drill's screen, moment by moment."""
        is_cell = event.view is self.heat
        things = (event.key, self.heat.column) if is_cell else event.key.replace(":", " ").split()
        victims = [thing for thing in things if is_cell or drill_choices.broker_of(thing) is not None]
        if victims:
            unclean = self.kdrill.view_state.sweep.unclean
            self.ask(lambda state: drill_choices.with_these(state, victims, unclean=unclean))
            self.kdrill.show_screen("drill")

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if rows is not self.heat:
            self.kdrill.describe(ScenarioText(key=rows.cursor_key))
        else:
            brokers = {drill_choices.broker_of(thing) for thing in (rows.cursor_key, self.heat.column)} - {None}
            name = " ".join(f"b{broker}" for broker in sorted(filter(None, brokers)))
            self.kdrill.describe(ScenarioText(key=name))
