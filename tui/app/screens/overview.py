"""Screen 1: is it healthy, since when, what changed."""

from collections.abc import Iterable

from textual import on
from textual.events import Resize
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LivePicture, LivePlot, LiveRows
from tui.app.panes.shares import ByNeed
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
    OverviewPicture,
)
from tui.engine.messages import HeaderFacts
from tui.engine.text import plain
from tui.engine.view_state import SwitchView

KINDS = {"brokers": BrokerText, "findings": FindingText, "events": EventText}
"""List → what tells of one of its rows."""

CLUSTER = "Cluster, last 10 minutes"
DEMO = "Demo tree, no living brokers; last 10 minutes"
"""No broker lives in the demo, a tree that a script moves; nobody may take it for a cluster."""

BARS = "Leaders and replicas by broker"
TALL = 40
"""Lines from which on there is room for higher sparks."""
BARS_BELOW = 50
"""Lines from which on there is room for bars below the brokers."""


class Overview(TimedScreen):
    """Tiles of what is out of order; findings beside brokers, or their bars; events below."""

    place = "overview"
    main_list = "brokers"

    def panes(self) -> Iterable[Widget]:
        brokers = LiveRows(BrokerList(), empty="no brokers")
        events = LiveRows(EventList(), empty="nothing changed yet", follow_top=True)
        findings = LiveRows(FindingList(), empty="nothing is wrong")
        yield ByNeed(
            Framed(CLUSTER, LivePicture(OverviewPicture(), id="summary", fills=True), id="cluster-frame"),
            ByNeed(
                Framed("Findings", findings, id="findings-frame", least=(41, 8), most=112),
                ByNeed(
                    Framed("Brokers", brokers, id="brokers-frame", least=(39, 8), most=42),
                    Framed(BARS, LivePlot(BrokerPlot(), id="bars"), id="bars-frame", least=(39, 8), grows=2),
                    id="overview-brokers",
                ),
                id="overview-middle",
            ),
            Framed("Events, newest first", events, id="events-frame", grows=6),
            id="overview",
        )

    def on_resize(self, event: Resize) -> None:
        """Where there is room, sparks are higher, and events keep some of it whatever is wrong."""
        is_tall = event.size.height >= TALL
        self.query_one("#cluster-frame", Framed).least = (40, 6 if is_tall else 5)
        self.set_class(event.size.height >= BARS_BELOW, "-bars-below")
        self.query_one("#events-frame", Framed).least = (40, 9 if is_tall else 5)

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_bars)

    def _show_facts(self, facts: HeaderFacts) -> None:
        super()._show_facts(facts)
        self.query_one("#cluster-frame", Framed).name_it(DEMO if facts.kind == "DEMO" else CLUSTER)

    def _show_bars(self) -> None:
        self.set_class(self.kdrill.view_state.of("brokers").view == "bars", "-bars")

    def is_offered(self, frame: Framed) -> bool:
        only_bars = self.has_class("-bars")
        offered = {"brokers-frame": not only_bars, "bars-frame": only_bars or self.has_class("-bars-below")}
        return offered.get(frame.id or "", True)

    def action_view(self) -> None:
        self.intend(SwitchView("brokers"))
        self.set_focus(self.query_one("#bars" if self.has_class("-bars") else "#brokers"))

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view.id == "brokers":
            self.kdrill.show_partitions(f"broker:{event.key}")
        elif event.view.id == "findings":
            self.kdrill.show_finding(event.key)
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
        elif rows.list_name == "findings" and rows.cursor_key:
            self.kdrill.show_finding(rows.cursor_key)
        elif (subject := subject_of(rows)) is not None:
            follow(self.kdrill, subject)

    def action_acknowledge(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "findings":
            self.kdrill.wish(Acknowledge(rows.cursor_key))
        else:
            self.set_focus(self.query_one("#findings"))
            self.say(f"which finding? {self.kdrill.sign('acknowledge')} acknowledges it")

    def action_copy(self) -> None:
        rows = self.list_at_hand
        if self.focused is rows and rows.list_name != "brokers" and rows.row is not None:
            self.copy("  ".join(plain("".join(text for text, _ in cell)) for cell in rows.row.cells))
        else:
            super().action_copy()
