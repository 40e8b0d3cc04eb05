"""The brokers' screen: who controls, under which epochs, what every broker carries, what work is pending."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import TimedScreen
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.cluster.queries import (
    NO_WORK,
    AdminWorkList,
    BrokerList,
    ControllerText,
    RegistrationText,
    StatesText,
)
from tui.engine.drill import choices as drill_choices
from tui.engine.messages import HeaderFacts
from tui.engine.queries import PartitionText

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
            self.kdrill.describe(PartitionText(key=subject))

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
