"""The screens of the cluster as a whole: is it healthy, since when and what changed (1); who controls, under which
epochs, what every broker carries and what work is pending (b); all that happened, and the way to each moment (i).
"""

from collections.abc import Iterable

from textual import on
from textual.events import Resize
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LivePicture, LivePlot, LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import TimedScreen, follow, subject_of
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.cluster.queries import (
    FOLDED,
    NO_WORK,
    Acknowledge,
    AdminWorkList,
    BrokerList,
    BrokerPlot,
    BrokerTextQuery,
    ControllerText,
    EventList,
    EventText,
    FindingList,
    FindingText,
    OverviewPicture,
    RegistrationText,
    StatesText,
    unfolding,
)
from tui.engine.drill import choices as drill_choices
from tui.engine.history.queries import EventStrip, PastEventList, PastEventText
from tui.engine.messages import HeaderFacts
from tui.engine.queries import PartitionTextQuery
from tui.engine.text import plain
from tui.engine.view_state import SwitchView

KINDS = {"brokers": BrokerTextQuery, "findings": FindingText, "events": EventText}
"""List → what tells of one of its rows."""

CLUSTER = "Cluster, last 10 minutes"
DEMO = "Demo tree, no living brokers; last 10 minutes"
"""No broker lives in the demo, a tree that a script moves; nobody may take it for a cluster."""

BARS = "Leaders and replicas by broker"
TALL = 40
"""Lines from which on there is room for higher sparks, and for a higher strip of events."""
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
        self.kdrill.describe(kind(key=rows.cursor_key), rows.cursor_key if kind is BrokerTextQuery else "")

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


WORK_ZNODES = {
    "reassign": "/brokers/topics/{topic}",
    "elect": "/admin/preferred_replica_election",
    "delete": "/admin/delete_topics/{topic}",
}
"""Kind of work → where it was asked for."""


STATES = "Partition and replica states"


class Brokers(TimedScreen):
    """Brokers above; the controller, the states it holds and the broker under the cursor; pending work below."""

    place = "controller"
    main_list = "brokers"

    def panes(self) -> Iterable[Widget]:
        work = LiveRows(AdminWorkList(), empty=NO_WORK)
        states = LiveText(StatesText(), id="states")
        registration = LiveText(RegistrationText(), id="registration")
        yield ByNeed(
            Framed("Brokers", LiveRows(BrokerList(), empty="no brokers"), id="controller-brokers-frame", least=(40, 7)),
            ByNeed(
                Framed(
                    "Controller",
                    LiveText(ControllerText(), id="controller"),
                    id="controller-frame",
                    least=(36, 7),
                    most=54,
                ),
                Framed(STATES, states, id="states-frame", least=(42, 7), most=44),
                Framed("Broker", registration, id="registration-frame", least=(36, 7)),
                id="controller-middle",
            ),
            Framed("Pending controller work", work, id="admin-work-frame", least=(40, 4), grows=1),
            id="controller-all",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "facts", self._name_states)

    def _name_states(self, facts: HeaderFacts) -> None:
        title = "Quorum" if facts.generation == "kraft" else STATES
        self.query_one("#states-frame", Framed).name_it(title)

    @property
    def brokers(self) -> LiveRows:
        return self.query_one("#brokers", LiveRows)

    def is_offered(self, frame: Framed) -> bool:
        return frame.id != "registration-frame" or self.has_class("-wide")

    @on(RowHighlighted, "#brokers")
    def _tell_of(self, event: RowHighlighted) -> None:
        self.query_one("#registration", LiveText).be_about(RegistrationText(key=event.key))
        self.query_one("#registration-frame", Framed).name_it(f"Broker {event.key}" if event.key else "Broker")

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view is self.brokers:
            self.kdrill.show_partitions(f"broker:{event.key}")
        else:
            self.action_describe()

    def action_kill(self) -> None:
        """Its death, on a copy: what the controller would decide, write and send."""
        if self.brokers.cursor_key:
            victims = (int(self.brokers.cursor_key),)
            self.ask(lambda state: drill_choices.with_victims(state, victims, unclean=state.drill.unclean))
            self.kdrill.show_screen("drill")

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if rows is self.brokers:
            self.kdrill.describe(RegistrationText(key=rows.cursor_key))
            return
        kind, _, subject = rows.cursor_key.partition(" ")
        if kind == "delete":
            self.action_related()
        else:
            self.kdrill.describe(PartitionTextQuery(key=subject))

    def action_related(self) -> None:
        rows = self.list_at_hand
        if not rows.cursor_key:
            return
        if rows is self.brokers:
            self.kdrill.show_znode(f"/brokers/ids/{rows.cursor_key}")
            return
        kind, _, subject = rows.cursor_key.partition(" ")
        topic = subject.rpartition("-")[0] if kind == "reassign" else subject
        self.kdrill.show_znode(WORK_ZNODES[kind].format(topic=topic))


NEWEST_FIRST = "Events, newest first; enter shows the cluster as it was then"


class Events(TimedScreen):
    """All events, those after the moment looked at too, below a strip of when they were; beside them the one under the
    cursor, and the timeline."""

    place = "events"
    main_list = "past-events"

    def panes(self) -> Iterable[Widget]:
        rows = LiveRows(PastEventList(), empty="nothing changed yet", follow_top=True)
        strip, event = LivePicture(EventStrip(), id="strip", fills=True), LiveText(PastEventText(), id="past-event")
        yield ByNeed(
            Framed("Events over time", strip, id="strip-frame", least=(40, 6)),
            ByNeed(
                Framed(NEWEST_FIRST, rows, id="past-events-frame", least=(48, 8), most=96, grows=1),
                Framed("Event and timeline", event, id="past-event-frame", least=(40, 7), most=46, grows=2),
                id="events-both",
            ),
            id="events-all",
        )

    def on_resize(self, event: Resize) -> None:
        """The strip is higher where there is room."""
        self.query_one("#strip-frame", Framed).least = (40, 6 if event.size.height < TALL else 8)

    @on(RowHighlighted)
    def _tell(self, event: RowHighlighted) -> None:
        self.query_one("#past-event", LiveText).be_about(PastEventText(key=event.key))
        self.query_one("#strip", LivePicture).be_about(EventStrip(key=event.key))

    @on(RowSelected)
    def _go(self, event: RowSelected) -> None:
        if event.key.startswith(f"{FOLDED}/"):
            self.apply_filter(unfolding(event.key))
        else:
            self.kdrill.go_in_time("event", event.key)

    def action_compare(self) -> None:
        """With the mark under the cursor, if there is one."""
        row = self.list_at_hand.row
        kind, note = ("".join(text for text, _ in cell) for cell in row.cells[1:3]) if row else ("", "")
        self.kdrill.compare(note if kind == "mark" else "")

    def action_describe(self) -> None:
        self.kdrill.describe(PastEventText(key=self.list_at_hand.cursor_key), "")

    def action_related(self) -> None:
        subject = subject_of(self.list_at_hand)
        if subject is not None:
            follow(self.kdrill, subject)
