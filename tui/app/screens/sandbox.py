"""Screen 8: the sandbox's processes and links, to be broken and mended for real, and what comes of it."""

from collections.abc import Iterable

from textual import on
from textual.widget import Widget

from tui.app.panes.frames import Framed, Group
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import RowSelected
from tui.engine.cluster.queries import EffectList, EventText
from tui.engine.sandbox.queries import LinkList, ProcessList, ProcessText, SandboxText, SandboxWish

BROKEN = ("sandbox-processes", "sandbox-links")
"""The lists whose rows can be broken."""


class Sandbox(LiveScreen):
    """What runs, how it fares, who can talk to whom; below, causes and effects in one feed."""

    place = "sandbox"
    main_list = "sandbox-processes"

    def panes(self) -> Iterable[Widget]:
        effects = LiveRows(EffectList(), empty="nothing changed yet", follow_top=True)
        yield Group(
            Framed("Processes", LiveRows(ProcessList()), id="processes-frame"),
            Group(
                Framed("How it stands", LiveText(SandboxText(), id="sandbox-standing"), id="sandbox-standing-frame"),
                Framed("Links", LiveRows(LinkList()), id="links-frame"),
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
        self.kdrill.wish(SandboxWish(verb, chosen.cursor_key))

    def action_kill(self) -> None:
        self.action_wish("kill")

    def action_restart(self) -> None:
        self.action_wish("revive")

    def action_failover(self) -> None:
        self.kdrill.wish(SandboxWish("failover"))

    def action_undo(self) -> None:
        self.kdrill.wish(SandboxWish("undo"))

    def action_reset(self) -> None:
        self.kdrill.wish(SandboxWish("repair"))

    @on(RowSelected)
    def _enter(self) -> None:
        self.action_describe()

    def action_describe(self) -> None:
        rows = self.list_at_hand
        if rows.list_name == "effects":
            self.kdrill.describe(EventText(key=rows.cursor_key), "")
        elif rows.list_name == self.main_list:
            self.kdrill.describe(ProcessText(key=rows.cursor_key))

    def action_related(self) -> None:
        kind, _, name = self.list_at_hand.cursor_key.partition(" ")
        if kind == "broker":
            self.kdrill.show_partitions(f"broker:{name}")
        elif kind == "consumer":
            self.kdrill.show_group(name.rpartition("/")[0])
