"""Screen 1: is it healthy, since when, what changed."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed, Group
from tui.app.panes.live_panes import LivePlot, LiveRows, LiveText
from tui.app.screens.live_screen import TimedScreen, follow, subject_of
from tui.app.widgets.lists import RowSelected
from tui.engine.cluster.queries import (
    Acknowledge,
    BrokerList,
    BrokerPlot,
    BrokerText,
    EventList,
    EventText,
    FindingList,
    FindingText,
    OverviewText,
)
from tui.engine.messages import HeaderFacts
from tui.engine.text import plain
from tui.engine.view_state import SwitchView

KINDS = {"brokers": BrokerText, "findings": FindingText, "events": EventText}
"""List → what tells of one of its rows."""

DEMO = "Demo tree, no living brokers"
"""No broker lives in the demo, a tree that a script moves; nobody may take it for a cluster."""


class Overview(TimedScreen):
    """Counts and findings above, brokers (and their bars, where there is room) in the middle, events below."""

    place = "overview"
    main_list = "brokers"

    def panes(self) -> Iterable[Widget]:
        brokers = LiveRows(BrokerList(), empty="no brokers")
        events = LiveRows(EventList(), empty="nothing changed yet", follow_top=True)
        yield Group(
            Group(
                Framed("Cluster", LiveText(OverviewText(), id="summary"), id="cluster-frame"),
                Framed("Findings", LiveRows(FindingList(), empty="nothing is wrong"), id="findings-frame"),
                id="top-row",
            ),
            Group(
                Framed("Brokers", brokers, id="brokers-frame"),
                Framed("Leaders and replicas by broker", LivePlot(BrokerPlot(), id="bars"), id="bars-frame"),
                id="middle-row",
            ),
            id="state",
        )
        yield Framed("Events, newest first", events, id="events-frame")

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_bars)

    def _show_facts(self, facts: HeaderFacts) -> None:
        super()._show_facts(facts)
        self.query_one("#cluster-frame", Framed).name_it(DEMO if facts.kind == "DEMO" else "Cluster")

    def _show_bars(self) -> None:
        self.set_class(self.kdrill.view_state.of("brokers").view == "bars", "-bars")

    def is_offered(self, frame: Framed) -> bool:
        only_bars = self.has_class("-bars")
        offered = {"brokers-frame": not only_bars, "bars-frame": only_bars or self.has_class("-bars-beside")}
        return offered.get(frame.id or "", True)

    def action_view(self) -> None:
        self.intend(SwitchView("brokers"))
        self.set_focus(self.query_one("#bars" if self.has_class("-bars") else "#brokers"))

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id == "brokers":
            self.kdrill.show_partitions(f"broker:{event.key}")
        else:
            self.action_describe()

    def action_describe(self) -> None:
        rows = self.list_at_hand
        kind = KINDS[rows.list_name]
        self.kdrill.describe(kind(key=rows.cursor_key), rows.cursor_key if kind is BrokerText else "")

    def action_related(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "brokers" and rows.cursor_key:
            self.kdrill.show_znode(f"/brokers/ids/{rows.cursor_key}")
        elif (subject := subject_of(rows)) is not None:
            follow(self.kdrill, subject)

    def action_acknowledge(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "findings":
            self.kdrill.wish(Acknowledge(rows.cursor_key))
        else:
            self.set_focus(self.query_one("#findings"))
            self.say(f"which finding? {self.kdrill.sign('acknowledge')} on it: it is known")

    def action_copy(self) -> None:
        rows = self.list_at_hand
        if self.focused is rows and rows.list_name != "brokers" and rows.row is not None:
            self.copy("  ".join(plain("".join(text for text, _ in cell)) for cell in rows.row.cells))
        else:
            super().action_copy()
