"""Screen 8: the sandbox's processes and links, to be broken and mended for real, and what comes of it."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed, Group
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import RowSelected

BROKEN = ("sandbox-processes", "sandbox-links")
"""The lists whose rows can be broken."""


class Sandbox(LiveScreen):
    """What runs, how it fares, who can talk to whom; below, causes and effects in one feed."""

    place = "sandbox"
    main_list = "sandbox-processes"

    def panes(self) -> Iterable[Widget]:
        effects = LiveRows("effects", empty="nothing changed yet", follow_top=True)
        yield Group(
            Framed("Processes", LiveRows("sandbox-processes"), id="processes-frame"),
            Group(
                Framed("How it stands", LiveText("sandbox", id="sandbox-standing"), id="sandbox-standing-frame"),
                Framed("Links", LiveRows("sandbox-links"), id="links-frame"),
                id="sandbox-beside",
            ),
            id="sandbox-top",
        )
        yield Framed("Causes and effects, newest first", effects, id="effects-frame")

    def go_to(self, broker: int) -> None:
        """Puts the cursor on a broker: what is done to it is up to the operator."""
        processes = self.query_one(f"#{self.main_list}", LiveRows)
        self.set_focus(processes)
        processes.seek(f"broker {broker}")
        kill, stop, cut = (self.kdrill.sign(id) for id in ("kill", "wish('pause')", "wish('cut')"))
        self.say(f"for real: {kill} kills broker {broker} of the sandbox, {stop} stops it, {cut} cuts it off")

    def action_wish(self, verb: str) -> None:
        """The cursor says of what; in the feed, the process chosen last."""
        rows = self.list_at_hand
        chosen = rows if rows.list_name in BROKEN else self.query_one(f"#{self.main_list}", LiveRows)
        self.kdrill.wish(verb, chosen.cursor_key)

    def action_kill(self) -> None:
        self.action_wish("kill")

    def action_restart(self) -> None:
        self.action_wish("revive")

    def action_failover(self) -> None:
        self.kdrill.wish("failover", "")

    def action_undo(self) -> None:
        self.kdrill.wish("undo", "")

    def action_reset(self) -> None:
        self.kdrill.wish("repair", "")

    @on(RowSelected)
    def _enter(self) -> None:
        self.action_describe()

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "effects":
            self.kdrill.describe("event", rows.cursor_key, "")
        elif rows.list_name == self.main_list:
            self.kdrill.describe("sandbox-process", rows.cursor_key)

    def action_related(self) -> None:
        kind, _, name = self.list_at_hand.cursor_key.partition(" ")
        if kind == "broker":
            self.kdrill.show_partitions(f"broker:{name}")
        elif kind == "consumer":
            self.kdrill.show_group(name.rpartition("/")[0])
