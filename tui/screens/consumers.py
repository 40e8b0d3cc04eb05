"""Screen 4: who owns what, who is idle, who lags."""

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.widget import Widget

from tui.actions import bindings
from tui.panes.framed import Framed, Group
from tui.panes.live_list import LiveRows
from tui.screens.live_screen import LiveScreen
from tui.state import Filter, Narrow, SwitchView
from tui.widgets.list_messages import RowHighlighted, RowSelected


class Consumers(LiveScreen):
    """Groups, and the ownership graph of the one under the cursor: threads and the partitions they own."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("consumers")]
    place = "consumers"
    main_list = "groups"

    def panes(self) -> Iterable[Widget]:
        yield Group(
            Framed("Groups", LiveRows("groups", empty="no consumer groups"), id="groups-frame"),
            Framed("Ownership", LiveRows("group", empty="nobody owns anything"), id="group-frame"),
            id="groups-and-graph",
        )

    @property
    def groups(self) -> LiveRows:
        """The list of groups."""
        return self.query_one("#groups", LiveRows)

    @on(RowHighlighted, "#groups")
    def _narrow(self, event: RowHighlighted) -> None:
        self.intend(Narrow("group", event.key))
        self.query_one("#group-frame", Framed).name_it(f"Ownership of {event.key}" if event.key else "Ownership")

    @on(RowSelected)
    def _enter(self, event: RowSelected) -> None:
        if event.view is self.groups:
            self.query_one("#group").focus()
        else:
            self.action_related()

    def go_to(self, group: str) -> None:
        """Puts the cursor on a group. A filter that may hide it is taken away."""
        self.intend(Filter("groups", ""))
        self.groups.seek(group)

    def action_view(self) -> None:
        self.intend(SwitchView("group"))

    def action_describe(self) -> None:
        self.kdrill.describe("group", self.groups.cursor_key)

    def action_related(self) -> None:
        group, rows = self.groups.cursor_key, self.list_at_hand
        kind = self.groups.row.cells[1] if self.groups.row is not None else ()
        if "".join(text for text, _ in kind) == "classic":
            self.action_describe()  # brokers hold it; no znode does
            return
        # A thread is named after its consumer and a number: kafka.consumer.ConsumerThreadId.
        consumer = rows.cursor_key.partition("\t")[0].rpartition("-")[0] if rows is not self.groups else ""
        if group:
            self.kdrill.show_znode(f"/consumers/{group}/ids/{consumer}" if consumer else f"/consumers/{group}")
