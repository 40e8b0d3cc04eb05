"""Screen 3: who leads, who is in sync, who is behind."""

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from tui.actions import bindings
from tui.panes.framed import Framed, Group
from tui.panes.live_list import LiveRows
from tui.panes.live_text import LiveText
from tui.screens.live_screen import LiveScreen
from tui.state import ViewState
from tui.widgets.list_messages import RowHighlighted, RowSelected

LEGEND = "Map: L leader  o in ISR  - out of ISR  X leaderless  + adding  . none"


class Partitions(LiveScreen):
    """The map of partitions and brokers, and why the partition under the cursor is as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("partitions")]
    place = "partitions"
    main_list = "partitions"

    def panes(self) -> Iterable[Widget]:
        yield Group(
            Framed(LEGEND, LiveRows("partitions", empty="no partitions"), id="map-frame"),
            Framed("why", LiveText("partition", id="why"), id="why-frame"),
            id="map-and-why",
        )

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._name_the_form)

    def _name_the_form(self, state: ViewState) -> None:
        is_map = state.of("partitions").view == "matrix"
        self.query_one("#map-frame", Framed).name_it(LEGEND if is_map else "Partitions")

    @on(RowHighlighted)
    def _explain(self, event: RowHighlighted) -> None:
        self.query_one("#why", LiveText).be_about(event.key)
        self.query_one("#why-frame", Framed).name_it(event.key)

    @on(RowSelected)
    def _znode(self, event: RowSelected) -> None:
        self.action_related()

    def action_describe(self) -> None:
        self.kdrill.describe("partition", self.list_at_hand.cursor_key)

    def action_related(self) -> None:
        topic, _, partition = self.list_at_hand.cursor_key.rpartition("-")
        if topic:
            self.kdrill.show_znode(f"/brokers/topics/{topic}/partitions/{partition}/state")
