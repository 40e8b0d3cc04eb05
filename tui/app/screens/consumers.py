"""Screen 4: who owns what, who is idle, who lags."""

from collections.abc import Iterable, Mapping

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.app.panes.map_panes import OwnershipGraph
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import TimedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.queries import GroupList, GroupText, OwnershipList, PartitionText, is_partition, name_in
from tui.engine.view_state import LEVELS, Filter, Narrow, SwitchView, Zoom, level_of

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
            self.kdrill.describe(PartitionText(key=name_in(key)))
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
