"""Screen 8: the cluster as a picture that breaks before your eyes, with what was broken and what came of it.

The same as lists is one key away: the sandbox's processes and links, and how its load fares.
"""

from collections.abc import Iterable
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from tui.app.panes.frames import Framed
from tui.app.panes.live_panes import LivePicture, LiveRows, LiveText
from tui.app.panes.shares import ByNeed
from tui.app.screens.live_screen import LiveScreen
from tui.app.widgets.lists import ContentShown, RowHighlighted, RowSelected
from tui.engine.cluster.queries import BrokerTextQuery, EffectList, EventText
from tui.engine.conditions import Here
from tui.engine.messages import Spot, TextAnswer, TextQuery
from tui.engine.queries import (
    NO_SANDBOX,
    ClusterPicture,
    LinkList,
    ProcessList,
    ProcessText,
    SandboxRequest,
    SandboxText,
)
from tui.engine.view_state import SwitchView, ViewState

BROKEN = ("sandbox-processes", "sandbox-links")
"""The lists whose rows can be broken."""
PICTURE = "cluster-picture"
READS_WELL = (112, 24)
"""Cells and lines in which three brokers say all they can."""


class PictureOfCluster(LivePicture):
    """A picture with a cursor, which arrows and a click move from process to process."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("h,left", "aside(-1)", "the process before", show=False, id="picture.left"),
        Binding("l,right", "aside(1)", "the next process", show=False, id="picture.right"),
        Binding("k,up", "along(-1)", "up", show=False, id="picture.up"),
        Binding("j,down", "along(1)", "down", show=False, id="picture.down"),
        Binding("enter", "open", "open", show=False, id="picture.open"),
    ]

    class Opened(Message):
        """The process under the cursor is to be described."""

    def __init__(self) -> None:
        super().__init__(ClusterPicture(), id=PICTURE)
        self.spots: tuple[Spot, ...] = ()
        self._shown = ""

    @property
    def chosen(self) -> str:
        """The name of the process under the cursor: till one is chosen the controller, whoever that is."""
        return self.about.key or self._shown

    @property
    def wanted(self) -> tuple[int, int]:
        return READS_WELL

    def choose(self, key: str) -> None:
        """Puts the cursor on a process. The picture stays where it is, unlike the text about another thing."""
        query: TextQuery = ClusterPicture(key=key)
        if query != self.about:
            self.about = query
            self.asking.again()

    def take(self, answer: TextAnswer) -> None:
        super().take(answer)
        self.spots, self._shown = answer.spots, answer.title
        self.post_message(ContentShown(self))

    def action_aside(self, step: int) -> None:
        keys = [spot.key for spot in self.spots]
        if self.chosen in keys:
            self.choose(keys[(keys.index(self.chosen) + step) % len(keys)])

    def action_along(self, step: int) -> None:
        here = next((spot for spot in self.spots if spot.key == self.chosen), None)
        beyond = [spot for spot in self.spots if here and (spot.y - here.y) * step > 0]
        if here and beyond:
            middle = here.x + here.width / 2
            nearest = min(beyond, key=lambda spot: (abs(spot.y - here.y), abs(spot.x + spot.width / 2 - middle)))
            self.choose(nearest.key)

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        x, y = event.x, event.y + self.top
        for spot in self.spots:
            if 0 <= x - spot.x < spot.width and 0 <= y - spot.y < spot.height:
                self.choose(spot.key)


class Sandbox(LiveScreen):
    """The picture, or the lists it is made of; beside it, what is broken, and causes and effects in one feed."""

    place = "sandbox"
    main_list = "sandbox-processes"

    def panes(self) -> Iterable[Widget]:
        effects = LiveRows(EffectList(), empty="nothing changed yet", follow_top=True)
        lists = ByNeed(
            Framed("Processes", LiveRows(ProcessList()), id="processes-frame", least=(44, 7)),
            Framed("Links", LiveRows(LinkList()), id="links-frame", least=(30, 7)),
            id="sandbox-lists",
        )
        left = ByNeed(
            Framed("Cluster", PictureOfCluster(), id="picture-frame", least=(72, 15), grows=1),
            lists,
            Framed("Load and faults", LiveText(SandboxText(), id="sandbox-load"), id="sandbox-load-frame"),
            id="sandbox-left",
        )
        feed = Framed("Causes and effects, newest first", effects, id="effects-frame", least=(46, 6), grows=1)
        yield ByNeed(left, feed, id="sandbox-all")

    def on_mount(self) -> None:
        self.watch(self.kdrill, "view_state", self._show_form)

    @on(ContentShown)
    def _tell_kind(self) -> None:
        """Of a cluster that is no sandbox there is the picture alone, which says so."""
        self.set_class(NO_SANDBOX in self.picture.plain, "-no-sandbox")
        self.show_keys()

    @property
    def here(self) -> Here:
        """What keys are about is under the picture's cursor, also while no list of processes is in sight."""
        here = super().here
        return here._replace(main=self.chosen, selected=here.selected if self._is_in_feed else self.chosen)

    def first_pane(self) -> Widget:
        return self.picture

    @property
    def picture(self) -> PictureOfCluster:
        return self.query_one(PictureOfCluster)

    @property
    def processes(self) -> LiveRows:
        return self.query_one(f"#{self.main_list}", LiveRows)

    @property
    def is_drawn(self) -> bool:
        """Whether the picture is shown and not the lists."""
        return not self.has_class("-lists")

    def _show_form(self, state: ViewState) -> None:
        is_listed = state.of(PICTURE).view == "lists"
        if is_listed == self.is_drawn:
            at_hand = self.focused in (self.picture, self.processes, self.query_one("#sandbox-links"))
            self.set_class(is_listed, "-lists")
            self.processes.seek(self.picture.chosen)
            if at_hand:
                self.set_focus(self.processes if is_listed else self.picture)

    def is_offered(self, frame: Framed) -> bool:
        if self.has_class("-no-sandbox"):
            return frame.id in ("picture-frame", "effects-frame")
        has_both = self.has_class("-very-wide") and self.has_class("-tall")
        if frame.id in ("processes-frame", "links-frame"):
            return has_both or not self.is_drawn
        if frame.id == "sandbox-load-frame":
            return self.has_class("-wide") or not self.is_drawn
        return frame.id == "effects-frame" or self.is_drawn

    @property
    def list_at_hand(self) -> LiveRows:
        """With the cursor on the picture, keys for lists go to the feed."""
        focused = self.bottom.return_to or self.focused
        if self.is_drawn and not isinstance(focused, LiveRows):
            return self.query_one("#effects", LiveRows)
        return super().list_at_hand

    @property
    def chosen(self) -> str:
        """What is to be broken: a process, or a link of the list of links."""
        at_hand = self.list_at_hand
        if at_hand.list_name in BROKEN:
            return at_hand.cursor_key
        return self.picture.chosen if self.is_drawn else self.processes.cursor_key

    @property
    def _is_in_feed(self) -> bool:
        """Whether the feed of causes and effects is at hand."""
        return (self.bottom.return_to or self.focused) is self.query_one("#effects")

    @on(RowHighlighted, "#sandbox-processes")
    def _follow(self, event: RowHighlighted) -> None:
        if event.key and (event.view.has_focus or not self.is_drawn):
            self.picture.choose(event.key)

    def go_to(self, broker: int) -> None:
        """Puts the cursor on a broker: what is done to it is up to the operator."""
        name = f"broker {broker}"
        self.picture.choose(name)
        self.processes.seek(name)
        self.set_focus(self.picture if self.is_drawn else self.processes)
        kill, stop, cut = (self.kdrill.sign(id) for id in ("kill", "wish('pause')", "wish('cut')"))
        self.say(f"for real: {kill} kills broker {broker} of the sandbox, {stop} stops it, {cut} cuts it off")

    def action_view(self) -> None:
        if self.has_class("-no-sandbox"):
            self.say(NO_SANDBOX)
        else:
            self.intend(SwitchView(PICTURE))

    def action_wish(self, verb: str) -> None:
        if self.is_drawn:
            self.picture.choose(self.picture.chosen)  # what was broken stays under the cursor, whoever controls then
        self.kdrill.wish(SandboxRequest(verb, self.chosen))

    def action_kill(self) -> None:
        self.action_wish("kill")

    def action_restart(self) -> None:
        self.action_wish("revive")

    def action_failover(self) -> None:
        self.kdrill.wish(SandboxRequest("failover"))

    def action_undo(self) -> None:
        self.kdrill.wish(SandboxRequest("undo"))

    def action_reset(self) -> None:
        self.kdrill.wish(SandboxRequest("repair"))

    @on(RowSelected)
    @on(PictureOfCluster.Opened)
    def _enter(self) -> None:
        self.action_describe()

    def action_describe(self) -> None:
        if self._is_in_feed:
            self.kdrill.describe(EventText(key=self.list_at_hand.cursor_key), "")
        elif self.has_class("-no-sandbox"):
            self.kdrill.describe(BrokerTextQuery(key=self.chosen.rpartition(" ")[2]))
        elif self.chosen and "|" not in self.chosen:
            self.kdrill.describe(ProcessText(key=self.chosen))

    def action_related(self) -> None:
        kind, _, name = self.chosen.partition(" ")
        if kind == "broker":
            self.kdrill.show_partitions(f"broker:{name}")
        elif kind == "consumer":
            self.kdrill.show_group(name.rpartition("/")[0])
