"""Screen 5: the rebalance lab: strategies side by side, who would get what and why, if one dies, if some join."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.panes.frames import Framed, Group
from tui.app.panes.live_panes import LivePlot, LiveRows, LiveText
from tui.app.panes.ownership_graph import LabGraph
from tui.app.screens.live_screen import AskedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.consumers.queries import GroupText
from tui.engine.lab.queries import (
    LabBars,
    LabConsumerList,
    LabGraphList,
    LabGroupList,
    LabGroupText,
    LabPartitionList,
    LabPartitionText,
    LabStrategyList,
    LabText,
)
from tui.engine.questions import LabTrial
from tui.engine.view_state import Narrow, SwitchView

OF_ONE_GROUP = ("lab-strategies", "lab-consumers", "lab-partitions", "lab-graph")
BELOW = ("lab-consumers-frame", "lab-moves-frame", "lab-bars-frame")


class RebalanceLab(AskedScreen):
    """Groups; for the one under the cursor its strategies, consumers and partitions."""

    place = "lab"
    main_list = "lab-groups"
    kept = "preview"

    def panes(self) -> Iterable[Widget]:
        top = Group(
            Framed("Groups as they are", LiveRows(LabGroupList()), id="lab-groups-frame"),
            Framed("Strategies", LiveRows(LabStrategyList()), id="lab-strategies-frame"),
            Framed("What is tried", LiveText(LabText(), id="lab"), id="lab-frame"),
            id="lab-top",
        )
        below = Group(
            Framed("Consumers", LiveRows(LabConsumerList()), id="lab-consumers-frame"),
            Framed("Partitions, those that move first", LiveRows(LabPartitionList()), id="lab-moves-frame"),
            Framed("Partitions and lag", LivePlot(LabBars(), id="lab-bars"), id="lab-bars-frame"),
            id="lab-below",
        )
        graph = Framed("SIMULATED: what would move", LabGraph(LabGraphList()), id="lab-graph-frame")
        yield Group(top, below, graph, id="lab-all")

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_tried)

    def _show_tried(self) -> None:
        state = self.kdrill.view_state
        self.set_class(state.of("lab-consumers").view == "bars", "-bars")
        self.query_one("#lab-strategies-frame", Framed).name_it(f"Strategies{_scenario(state.trial)}")

    def is_offered(self, frame: Framed) -> bool:
        if self.has_class("-graph"):
            return frame.id not in BELOW
        hidden = "lab-moves-frame" if self.has_class("-bars") else "lab-bars-frame"
        return frame.id not in (hidden, "lab-graph-frame")

    def action_moves(self) -> None:
        """Draws what would move, or goes back to the lists."""
        self.toggle_class("-graph")
        if self.has_class("-graph"):
            graph = self.query_one("#lab-graph", LabGraph)
            self.set_focus(graph)
            graph.replay()
        else:
            self.set_focus(self.query_one("#lab-consumers"))

    def action_view(self) -> None:
        self.intend(SwitchView("lab-consumers"))
        if self.focused is None or not self.focused.is_on_screen:
            self.set_focus(self.query_one("#lab-consumers"))

    @on(RowHighlighted, "#lab-groups")
    def _narrow(self, event: RowHighlighted) -> None:
        if event.key != self.kdrill.view_state.of("lab-strategies").scope:
            self.ask(lambda state: analysis_choices.on_bench(state, strategy="", leaves=""))
        for name in OF_ONE_GROUP:
            self.intend(Narrow(name, event.key))
        self.query_one("#lab", LiveText).be_about(LabText(key=event.key))
        self.query_one("#lab-bars", LivePlot).be_about(LabBars(key=event.key))

    @on(RowHighlighted, "#lab-strategies")
    def _try(self, event: RowHighlighted) -> None:
        if event.key:
            self.ask(lambda state: analysis_choices.on_bench(state, strategy=event.key))

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id == "lab-consumers":
            self.action_kill()
        elif event.view.id == "lab-partitions":
            self.action_describe()
        else:
            self.action_pane(1)

    def action_kill(self) -> None:
        consumer = self._consumer
        self.ask(lambda state: analysis_choices.without_consumer(state, consumer))

    def action_join(self) -> None:
        self.ask(analysis_choices.with_one_more)

    def action_reset(self) -> None:
        self.ask(analysis_choices.cleared)

    def action_made_up(self) -> None:
        self.bottom.ask(":", "readers ")

    def action_act(self) -> None:
        if group := self._group:
            self.ask(lambda state: analysis_choices.about_group(state, group))
            self.kdrill.show_screen("plans")

    def action_describe(self) -> None:
        group, rows = self._group, self.list_at_hand
        if rows.list_name == "lab-partitions":
            self.kdrill.describe(LabPartitionText(key=rows.cursor_key, group=group))
        else:
            self.kdrill.describe((LabGroupText if self._is_made_up else GroupText)(key=group))

    def action_related(self) -> None:
        if self._is_made_up:
            self.say("a group that is made up is nowhere but here")
        else:
            self.kdrill.show_group(self._group)

    @property
    def _consumer(self) -> str:
        """The consumer at hand: in the graph, whose thread the cursor is on."""
        consumers = self.query_one("#lab-consumers", LiveRows)
        if not self.has_class("-graph"):
            return consumers.cursor_key
        there, thread = {row.key for row in consumers.answer.rows}, self.query_one("#lab-graph", LabGraph).copied
        return next((name for name in (thread, thread.rpartition("-")[0]) if name in there), "")

    @property
    def _group(self) -> str:
        return self.query_one("#lab-groups", LiveRows).cursor_key

    @property
    def _is_made_up(self) -> bool:
        made_up = self.kdrill.view_state.preview.made_up
        return made_up is not None and self._group in made_up.keys


def _scenario(trial: LabTrial) -> str:
    """What has happened to the group that the figures are of; the name, which may be long, last."""
    joins = f"{trial.joins} {'joins' if trial.joins == 1 else 'join'}" if trial.joins else ""
    happened = " and ".join(filter(None, (joins, trial.leaves and f"{trial.leaves} dies")))
    return f" if {happened}" if happened else ""
