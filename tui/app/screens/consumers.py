"""Screens 4 and 5: who owns what, who is idle, who lags; and what strategies would make of a group, side by side."""

from collections.abc import Iterable, Mapping

from textual import on
from textual.timer import Timer
from textual.widget import Widget

from tui.app import analysis_choices
from tui.app.panes.frames import EDGE, Framed
from tui.app.panes.live_panes import LivePicture, LivePlot, LiveRows, LiveText, RowsShown
from tui.app.panes.map_panes import LabGraph, OwnershipGraph, SteppingRows, animates
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import AskedScreen, TimedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.queries import (
    GroupList,
    GroupText,
    LabBars,
    LabCaseList,
    LabConsumerList,
    LabFlow,
    LabGraphList,
    LabGroupList,
    LabGroupText,
    LabPartitionList,
    LabPartitionText,
    LabStrategyList,
    LabText,
    LabTotalList,
    OwnershipList,
    PartitionTextQuery,
    is_partition,
    name_in,
    trial_in,
)
from tui.engine.questions import PLAYED
from tui.engine.view_state import LEVELS, VIEWS, Filter, Narrow, SwitchView, Zoom, level_of

UNOWNED = "nobody owns anything"


class Consumers(TimedScreen):
    """Groups, and the ownership graph of the one under the cursor: threads and the partitions they own."""

    place = "consumers"
    main_list = "groups"

    def panes(self) -> Iterable[Widget]:
        groups, graph = (
            LiveRows(GroupList(), empty="no consumer groups"),
            OwnershipGraph(OwnershipList(), empty=UNOWNED),
        )
        about = Framed("Group", LiveText(GroupText(), id="group-text"), id="group-text-frame", least=(40, 5), grows=1)
        yield ByNeed(
            ByNeed(Framed("Groups", groups, id="groups-frame", least=(40, 5)), about, id="groups-and-text"),
            Framed("Ownership", graph, id="group-frame", least=(60, 8), grows=1),
            id="groups-and-graph",
        )

    @property
    def groups(self) -> LiveRows:
        return self.query_one("#groups", LiveRows)

    @property
    def named_here(self) -> Mapping[str, str]:
        return {"group": self.groups.cursor_key}

    @property
    def graph(self) -> OwnershipGraph:
        """Who owns what in the group under the cursor."""
        return self.query_one("#group", OwnershipGraph)

    @on(RowHighlighted, "#groups")
    def _narrow(self, event: RowHighlighted) -> None:
        self.intend(Narrow("group", event.key))
        self.query_one("#group-frame", Framed).name_it(f"Ownership of {event.key}" if event.key else "Ownership")
        self.query_one("#group-text", LiveText).be_about(GroupText(key=event.key))

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != "group-text-frame" or self.has_class("-very-wide")

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view is self.groups:
            self.set_focus(self.graph)
        else:
            self.action_related()

    def go_to(self, group: str) -> None:
        """Puts the cursor on a group. A filter that may hide it is taken away."""
        self.intend(Filter("groups", ""))
        self.groups.seek(group)

    def clear_filter(self) -> bool:
        return self.graph.clear_moves() or super().clear_filter()

    def action_view(self) -> None:
        self._zoom_to(0)
        self.intend(SwitchView("group"))

    def action_zoom(self) -> None:
        if self.graph.is_graph:
            self._zoom_to((self._level + 1) % len(LEVELS["group"]))

    def action_moves(self) -> None:
        if not self.graph.is_graph:
            self.action_view()
        if self.graph.answer.turn:
            self.graph.replay()
        else:
            self.say("no rebalance of this group that moved anything was seen yet")

    def action_describe(self) -> None:
        key = self.list_at_hand.cursor_key
        if is_partition(key):
            self.kdrill.describe(PartitionTextQuery(key=name_in(key)))
        else:
            self.kdrill.describe(GroupText(key=self.groups.cursor_key))

    def action_related(self) -> None:
        group, rows = self.groups.cursor_key, self.list_at_hand
        if is_partition(rows.cursor_key):
            self.kdrill.show_partitions(name_in(rows.cursor_key))
            return
        kind = self.groups.row.cells[-1] if self.groups.row is not None else ()
        if "".join(text for text, _ in kind) == "classic":
            self.action_describe()  # brokers hold it; no znode does
            return
        # A thread is named after its consumer and a number: kafka.consumer.ConsumerThreadId.
        consumer = name_in(rows.cursor_key).rpartition("-")[0] if rows is self.graph else ""
        if group:
            self.kdrill.show_znode(f"/consumers/{group}/ids/{consumer}" if consumer else f"/consumers/{group}")

    @property
    def _level(self) -> int:
        return level_of("group", self.kdrill.view_state.of("group").view)

    def _zoom_to(self, level: int) -> None:
        """Partitions by another measure; the cursor stays on what it is on."""
        key = self.graph.cursor_key
        if level != self._level:
            self.intend(Zoom("group", level))
            self.graph.seek(key)


BELOW = ("lab-consumers-frame", "lab-flow-frame", "lab-moves-frame", "lab-bars-frame")
OF_A_VIEW = {"flow": "lab-flow-frame", "partitions": "lab-moves-frame", "bars": "lab-bars-frame"}
"""What stands beside the consumers, by the view that `v` goes on from; `groups` is about all groups at once."""
ALL_GROUPS = ("lab-totals-frame", "lab-cases-frame")
FRAME_S = 0.2


FEW_LINES = 8
"""A frame beside the matrix wants no more lines than the terminal has divided by this."""


class SmallFrame(Framed):
    """A frame that leaves lines to the matrix, which is read as a whole; a list can be scrolled."""

    @property
    def wanted(self) -> tuple[int, int]:
        width, height = super().wanted
        return width, min(height, max(self.app.size.height // FEW_LINES + EDGE, self.least[1]))


FLOW = (76, 0)
"""Cells in which bands are told apart; any lines will do."""


class FlowPicture(LivePicture):
    """As wide as it is good for, not as it happens to be drawn."""

    @property
    def wanted(self) -> tuple[int, int]:
        return FLOW


class RebalanceLab(AskedScreen):
    """Groups; for the one under the cursor its strategies as a matrix, its consumers, and what moves between them."""

    place = "lab"
    main_list = "lab-groups"
    kept = "preview"

    _playing: Timer | None = None

    def panes(self) -> Iterable[Widget]:
        top = ByNeed(
            SmallFrame("Groups", LiveRows(LabGroupList()), id="lab-groups-frame", least=(30, 4)),
            Framed("Assumptions", LiveText(LabText(), id="lab"), id="lab-frame", least=(40, 4)),
            id="lab-top",
        )
        strategies = SteppingRows(LabStrategyList())
        below = ByNeed(
            SmallFrame("Consumers", LiveRows(LabConsumerList()), id="lab-consumers-frame", least=(28, 5)),
            Framed("Flow", FlowPicture(LabFlow(), id="lab-flow"), id="lab-flow-frame", least=(45, 5), grows=2),
            SmallFrame("Partitions", LiveRows(LabPartitionList()), id="lab-moves-frame", least=(45, 5), grows=1),
            Framed("Balance", LivePlot(LabBars(), id="lab-bars"), id="lab-bars-frame", least=(50, 9), grows=2),
            id="lab-below",
        )
        totals = Framed("All groups by strategy", LiveRows(LabTotalList()), id="lab-totals-frame", least=(40, 6))
        worst = Framed(
            "All groups, the worst first", LiveRows(LabCaseList()), id="lab-cases-frame", least=(40, 6), grows=1
        )
        graph = Framed("SIMULATED: what would move", LabGraph(LabGraphList()), id="lab-graph-frame", grows=1)
        yield ByNeed(
            top,
            Framed("Strategies", strategies, id="lab-strategies-frame", least=(40, 7)),
            below,
            totals,
            worst,
            graph,
            id="lab-all",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_tried)

    def _show_tried(self) -> None:
        self.update_classes({f"-{each}": each == self._view for each in VIEWS["lab-consumers"]})
        self._name_strategies()

    def _name_strategies(self) -> None:
        trial, consumers = self.kdrill.view_state.trial, self.query_one("#lab-consumers", LiveRows)
        leaves = next((row.cells[0][0][0] for row in consumers.answer.rows if row.key == trial.leaves), trial.leaves)
        group = f" for {self._group}" if self._group else ""
        title = f"Strategies{group}{_scenario(trial.joins, leaves)}"
        self.query_one("#lab-strategies-frame", Framed).name_it(title)

    @on(RowsShown)
    def _name_kind(self, event: RowsShown) -> None:
        """Members where there is a coordinator, consumers where ZooKeeper is."""
        rows = event.view
        if isinstance(rows, LiveRows) and rows.list_name == "lab-consumers" and rows.answer.columns:
            self.query_one("#lab-consumers-frame", Framed).name_it(f"{rows.answer.columns[0].title.capitalize()}s")
            self._name_strategies()

    def is_offered(self, frame: Framed) -> bool:
        if (self._view == "groups") != (frame.id in ALL_GROUPS) and frame.id not in ("lab-groups-frame", "lab-frame"):
            return False
        is_alone = self.has_class("-small") or self.has_class("-full")
        if frame.id == "lab-frame":
            return is_alone or self.has_class("-wide")
        if self.has_class("-graph"):
            return frame.id not in BELOW
        if frame.id == "lab-moves-frame" and self.has_class("-very-wide"):
            return True
        others = {*OF_A_VIEW.values(), "lab-graph-frame"} - {OF_A_VIEW.get(self._view, "")}
        return frame.id not in others

    @property
    def _view(self) -> str:
        return self.kdrill.view_state.of("lab-consumers").view

    def action_pick(self) -> None:
        """Plays what is tried from now to then; at once, where nothing is animated: from then to now and back."""
        was_playing, frame = self._playing is not None, self.kdrill.view_state.played
        self._stop()
        if was_playing or not animates(self):
            end = PLAYED if was_playing or frame < PLAYED else 0
            self.ask(lambda state: analysis_choices.played_to(state, end))
            return
        self.ask(lambda state: analysis_choices.played_to(state, 0))
        self._playing = self.set_interval(FRAME_S, self._play_on)

    def _play_on(self) -> None:
        self.ask(analysis_choices.played_on)
        if self.kdrill.view_state.played == PLAYED:
            self._stop()

    def _stop(self) -> None:
        if self._playing is not None:
            self._playing.stop()
            self._playing = None

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
        if self.has_class("-very-wide") and self._view == "partitions":
            self.intend(SwitchView("lab-consumers"))  # they are in sight anyway
        if self._view == "groups":
            self.set_focus(self.query_one("#lab-cases"))
        elif self.focused is None or self.focused.id == "lab-cases" or not self.focused.is_on_screen:
            self.set_focus(self.query_one("#lab-consumers"))

    @on(RowHighlighted, "#lab-groups")
    def _narrow(self, event: RowHighlighted) -> None:
        if event.key != self.kdrill.view_state.of("lab-strategies").scope:
            self.ask(lambda state: analysis_choices.on_bench(state, strategy="", leaves=""))
        for name in analysis_choices.OF_ONE_GROUP:
            self.intend(Narrow(name, event.key))
        self.query_one("#lab", LiveText).be_about(LabText(key=event.key))
        self.query_one("#lab-bars", LivePlot).be_about(LabBars(key=event.key))
        self.query_one("#lab-flow", LivePicture).be_about(LabFlow(key=event.key))
        self._name_strategies()

    @on(RowHighlighted, "#lab-strategies")
    def _try(self, event: RowHighlighted) -> None:
        if event.key:
            self.ask(lambda state: analysis_choices.on_bench(state, strategy=event.key))

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id == "lab-cases":
            self._try_case(event.key)
        elif event.view.id == "lab-consumers":
            self.action_kill()
        elif event.view.id == "lab-partitions":
            self.action_describe()
        else:
            beside = "lab-strategies" if event.view.id == "lab-groups" else "lab-consumers"
            self.set_focus(self.query_one(f"#{beside}"))

    def _try_case(self, key: str) -> None:
        """Opens its group with that change."""
        if key:
            group, trial = trial_in(key)
            self.ask(lambda state: analysis_choices.of_case(state, group, trial))
            self.query_one("#lab-groups", LiveRows).seek(group)
            self.query_one("#lab-strategies", LiveRows).seek(trial.strategy)
            self.set_focus(self.query_one("#lab-strategies"))

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


def _scenario(joins: int, leaves: str) -> str:
    """What has happened to the group that the figures are of."""
    joining = f"{joins} {'joins' if joins == 1 else 'join'}" if joins else ""
    happened = " and ".join(filter(None, (leaves and f"{leaves} leaves", joining)))
    return f" if {happened}" if happened else ""
