"""Screen i: what happened, all of it, and the way to each moment."""

from collections.abc import Iterable

from textual import on
from textual.events import Resize
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LivePicture, LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import TimedScreen, follow, subject_of
from tui.app.widgets.lists import RowHighlighted, RowSelected
from tui.engine.cluster.queries import FOLDED, unfolding
from tui.engine.history.queries import EventStrip, PastEventList, PastEventText

NEWEST_FIRST = "Events, newest first; enter shows the cluster as it was then"
TALL = 40
"""Lines from which on there is room for a higher strip."""


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
