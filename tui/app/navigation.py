"""From screen to screen and from moment to moment: which screens there are, what lies over them, the ways back.

The cluster is followed on while a past moment is looked at; only what is shown stands still. What becomes critical is
said once on the last line, without taking focus or a key; all of it can be read later among the events. The guided
tour goes on as the cluster and the screens do.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import msgspec
from textual.screen import Screen

from model.cluster.texts import metadata_place
from tui.app.analysis_choices import of_folder, with_broker, with_made_up
from tui.app.live_app import LiveApp
from tui.app.panes.live_panes import LiveRows
from tui.app.screens.cluster import Brokers, Events, Overview
from tui.app.screens.consumers import Consumers, RebalanceLab
from tui.app.screens.drill import Drill
from tui.app.screens.failures import Forecast, Sweep
from tui.app.screens.history import History
from tui.app.screens.live_screen import LiveScreen, follow
from tui.app.screens.logs import Logs
from tui.app.screens.overlays import Confirm, Describe, Help
from tui.app.screens.page import Page
from tui.app.screens.partitions import Partitions
from tui.app.screens.plans import Plans
from tui.app.screens.sandbox import Sandbox
from tui.app.screens.znodes import Znodes
from tui.app.tour import BEGUN, OVER, followed
from tui.engine.actions import OVERLAY, CommandError, has_znodes, worded
from tui.engine.cluster.queries import FindingText, ZnodeText
from tui.engine.drill.choices import broker_of
from tui.engine.history.queries import ComparisonText
from tui.engine.link import DataLost
from tui.engine.messages import (
    NO_NOTICE,
    SANDBOX,
    ActionRequest,
    Direction,
    HeaderFacts,
    JobsText,
    Notice,
    TextAnswer,
    TextQuery,
    TimeAnswer,
    TimeQuery,
)
from tui.engine.queries import ProposalText
from tui.engine.questions import Request
from tui.engine.view_state import Filter, ListState, Zoom, reduce


class Speaking(LiveApp):
    """An app that says things on the last line of the page in front."""

    @property
    def page(self) -> Page | None:
        """What is seen in front, unless it is the palette. Nothing is while the app closes, and timers still run."""
        front = next((screen for screen in reversed(self.screen_stack) if screen.is_mounted), None)
        return front if isinstance(front, Page) else None

    def _tell(self, said: str) -> None:
        """Says it now."""
        if self.page is not None:
            self.page.say(said)


class TimeTravel(Speaking):
    """An app that can look back. The cluster is followed on meanwhile; only what is shown stands still."""

    def __init__(self, **look: Any) -> None:
        super().__init__(**look)
        self._one_at_a_time = asyncio.Lock()

    def go_in_time(self, to: Direction, text: str = "") -> None:
        self.run_worker(partial(self._travel, to, text), name="travel", group="time")

    def pause(self) -> None:
        self.run_worker(self._pause_or_follow, name="pause", group="time")

    def compare(self, text: str = "") -> None:
        self.run_worker(partial(self._compare, text), name="compare", group="time")

    def go_live(self) -> None:
        self.run_worker(self._follow, name="live", group="time")

    async def _travel(self, to: Direction, text: str = "") -> None:
        async with self._one_at_a_time:
            await self._arrive(to, text)

    async def _pause_or_follow(self) -> None:
        async with self._one_at_a_time:
            if self.past is None:
                await self._arrive("now")
            else:
                self._look_at(None)

    async def _follow(self) -> None:
        async with self._one_at_a_time:
            self._look_at(None)

    async def _arrive(self, to: Direction, text: str = "") -> None:
        try:
            answer = await self.link.moment(TimeQuery(to, text, self.view_state.at))
        except DataLost as lost:
            answer = TimeAnswer(said=str(lost))
        if answer.seq:
            self._look_at(answer)
        self._tell("" if to == "now" and answer.seq else answer.said)

    async def _compare(self, text: str) -> None:
        async with self._one_at_a_time:
            try:
                answer = await self.link.moment(TimeQuery("other", text, self.view_state.at))
            except DataLost as lost:
                answer = TimeAnswer(said=str(lost))
        if answer.seq:
            self.describe(ComparisonText(key=str(answer.seq)), "")
        else:
            self._tell(answer.said)

    def _look_at(self, past: TimeAnswer | None) -> None:
        self.past = past
        self.view_state = replace(self.view_state, at=past.seq if past else 0)


HOW = ":notify on or :notify off"


class Noticing(Speaking):
    """An app that says what the data process wants said. How often that is, the data process decides."""

    notices_on = True
    last_notice = NO_NOTICE

    def take_notice(self, notice: Notice) -> None:
        """Says it, unless it was said before, or nothing is to be said; other words take the place of those before."""
        before, self.last_notice = self.last_notice, notice
        if notice != before and notice.number >= before.number and self.notices_on and self.page is not None:
            self.page.bottom.announce(notice.text, instead_of=before.text if notice.number == before.number else "")

    def set_notices(self, wanted: str) -> None:
        """`on` or `off`; anything else says which it is."""
        if wanted in ("on", "off"):
            self.notices_on = wanted == "on"
        state = "on" if self.notices_on else "off"
        events = self.sign("screen('events')")
        self._tell(f"notices are {state}: {HOW}; {events} lists all of them")


class Touring(Speaking):
    """An app that may be on tour."""

    toured = False
    """Whether a tour came to its end, or was ended."""

    def begin_tour(self) -> None:
        """From its first step; only a sandbox has one."""
        if self.facts.kind == SANDBOX:
            self.tour = BEGUN
            self.go_on_tour()
        else:
            self._tell("the tour needs a sandbox: run kdrill without a SOURCE")

    def end_tour(self) -> bool:
        """Whether there was one to end."""
        is_on = not self.tour.is_over
        self.toured, self.tour = self.toured or is_on, OVER
        return is_on

    def go_on_tour(self) -> None:
        after = followed(self.tour, self.facts, self.current_mode or "")
        if after.is_over:
            self.end_tour()
        else:
            self.tour = after

    def watch_facts(self, _: HeaderFacts) -> None:
        self.go_on_tour()


class Leap(NamedTuple):
    """A row led from one screen to another one."""

    origin: str
    filter: str
    """That of the list at hand, as it was on arrival."""
    before: ListState | None
    """How the main list there was looked at before; None: it was left as it was."""


class Navigation(TimeTravel, Noticing, Touring):
    """An app with its screens."""

    MODES: ClassVar[dict[str, type[LiveScreen]]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        screen.place: screen
        for screen in (
            *(Overview, Znodes, Partitions, Consumers, RebalanceLab, Drill),
            *(Sweep, Sandbox, Plans, Brokers, Logs, Events, History, Forecast),
        )
    }
    DEFAULT_MODE = "overview"

    _before = "overview"
    _leap: Leap | None = None

    def show_screen(self, name: str) -> None:
        self.call_next(self.action_screen, name)  # here and below: before the next key is looked at

    async def action_screen(self, name: str) -> None:
        if name != self.current_mode:
            self._before, self._leap = self.current_mode or "overview", None
            await self.switch_mode(name)
            self.go_on_tour()

    async def action_previous(self) -> None:
        await self.action_screen(self._before)

    def action_alerts(self) -> None:
        self.call_next(self._go, "overview", lambda screen: screen.set_focus(screen.query_one("#findings")))

    def show_jobs(self) -> None:
        self.describe(JobsText(key="all"), "")

    def describe(self, query: TextQuery, name: str | None = None) -> None:
        if query.key:
            word = "metadata" if isinstance(query, ZnodeText) and not has_znodes(self.facts) else ""
            self.push_screen(Describe(query, query.key if name is None else name, word))

    def show_znode(self, path: str) -> None:
        place = path if has_znodes(self.facts) else metadata_place(path)
        self.call_next(self._leap_to, "znodes", lambda screen: isinstance(screen, Znodes) and screen.go_to(place))

    def show_partitions(self, text: str) -> None:
        self._show_partitions(text, "")

    def show_partition(self, name: str) -> None:
        self._show_partitions(f"topic:={name.rpartition('-')[0]}", name)

    def _show_partitions(self, text: str, name: str) -> None:
        before = self.view_state.of("partitions")
        self.view_state = reduce(reduce(self.view_state, Zoom("partitions", 0)), Filter("partitions", text))
        seek = name and (lambda screen: screen.query_one("#partitions", LiveRows).seek(name))
        self.call_next(self._leap_to, "partitions", seek or (lambda _: None), before)

    def show_broker(self, broker: str) -> None:
        self.view_state = reduce(self.view_state, Filter("brokers", ""))
        self.call_next(
            self._leap_to, "controller", lambda screen: isinstance(screen, Brokers) and screen.brokers.seek(broker)
        )

    def show_group(self, name: str) -> None:
        self.call_next(self._leap_to, "consumers", lambda screen: isinstance(screen, Consumers) and screen.go_to(name))

    def show_finding(self, key: str) -> None:
        showing = partial(self._show_finding, FindingText(key=key))
        self.run_worker(showing, name="finding", exclusive=True, group="leaps")

    async def _show_finding(self, query: FindingText) -> None:
        """The data process knows which partition of a topic it is about."""
        try:
            answer = await self.link.text(msgspec.structs.replace(query, **self.view_state.asks(query)))
        except DataLost as lost:
            self._tell(str(lost))
        else:
            follow(self, answer.title) if answer.title else self._tell(answer.plain)

    def show_logs(self, folder: str) -> None:
        self.call_next(self._go, "logs", lambda screen: isinstance(screen, Logs) and screen.show_folder(folder))

    def show_history(self, folder: str) -> None:
        self.view_state = of_folder(self.view_state, folder)
        self.show_screen("history")

    def look_up(self, wanted: str) -> None:
        self.call_next(self._go, "logs", lambda screen: isinstance(screen, Logs) and screen.look_up(wanted))

    def wish(self, wish: ActionRequest) -> None:
        wish = msgspec.structs.replace(wish, **self.view_state.asks(wish))
        self.run_worker(partial(self._wished, wish), name="wish", group="wishes")

    def act(self, words: str) -> None:
        """Asks what it would take, and shows that; `elect` without a name is about what the cursor is on."""
        if words == "elect" and isinstance(self.screen, LiveScreen):
            words = f"elect {self.screen.list_at_hand.cursor_key}".strip()
        self.run_worker(partial(self._proposed, words, None), name="act", group="wishes")

    def request(self, words: str) -> None:
        """As `act`, in the words of the command line; what has to be named and is not, is what the cursor is on."""
        requests, here = self.requests(), self.screen
        if said := requests.elsewhere(words):
            self._tell(said)
            return
        request = None
        if self.facts.allows_writes:  # else it is refused, whatever it is
            try:
                request = requests.request_of(words, here.named_here if isinstance(here, LiveScreen) else {})
            except CommandError as error:
                self._tell(str(error))
                return
        self.run_worker(partial(self._proposed, words, request), name="act", group="wishes")

    async def _proposed(self, words: str, request: Request | None) -> None:
        query = ProposalText(words=words, request=request, width=self.size.width - 4)
        query = msgspec.structs.replace(query, **self.view_state.asks(query))
        try:
            proposed = await self.link.text(query)
        except DataLost as lost:
            proposed = TextAnswer(str(lost))
        if proposed.lines:
            self.push_screen(Confirm(proposed))
        else:
            self._tell(proposed.title)

    def break_for_real(self, thing: str) -> None:
        broker = broker_of(thing)
        if self.facts.kind != SANDBOX:
            self._tell(f"not a sandbox: {self.sign('kill')} does it on a copy")
        elif broker is None:
            self._tell("no broker is selected")
        else:
            self.call_next(
                self._leap_to, "sandbox", lambda screen: isinstance(screen, Sandbox) and screen.go_to(broker)
            )

    def add_broker(self, broker: int, rack: str) -> None:
        self.view_state = with_broker(self.view_state, broker, rack)
        self.show_screen("plans")

    def make_up(self, patterns: tuple[str, ...], consumers: int) -> None:
        self.view_state = with_made_up(self.view_state, patterns, consumers)
        self.show_screen("lab")

    async def _wished(self, wish: ActionRequest) -> None:
        try:
            said = await self.link.wish(wish)
        except DataLost as lost:
            said = str(lost)
        self._tell(said)

    async def _go(self, name: str, then: Callable[[Screen[object]], object]) -> None:
        await self.action_screen(name)
        then(self.screen)

    async def _leap_to(
        self, name: str, then: Callable[[Screen[object]], object], before: ListState | None = None
    ) -> None:
        """To another screen; the way back leads to this one. `before`: how its list was looked at."""
        origin = self.current_mode or "overview"
        await self._go(name, then)
        if origin != name and isinstance(self.screen, LiveScreen):
            self._leap = Leap(origin, self.screen.filter_text(), before)

    async def _leap_back(self) -> bool:
        """To the row that led here, if one did, and nothing else was filtered since."""
        leap, page = self._leap, self.screen
        if leap is None or not isinstance(page, LiveScreen) or page.filter_text() != leap.filter:
            return False
        if leap.before is not None:
            lists = {**self.view_state.lists, page.main_list: leap.before}
            self.view_state = replace(self.view_state, lists=lists)
        await self.action_screen(leap.origin)
        return True

    def action_help(self) -> None:
        if isinstance(self.screen, LiveScreen):
            unsaid = (*(() if self.facts.kind == SANDBOX else ("tour",)), *(() if has_znodes(self.facts) else ("zk",)))
            self.push_screen(Help(self.screen.here, worded(self.actions, self.facts), unsaid=unsaid))

    async def action_back(self) -> None:
        """Closes what lies over the screen, goes back to the row that led here, clears the filter, ends the tour, or
        goes to the overview.
        """
        page = self.page
        if page is None or page.end_search() or await self._leap_back() or page.clear_filter():
            return
        if page.place == OVERLAY:
            self.pop_screen()
        elif not self.end_tour():
            await self.action_screen("overview")

    async def action_quit_or_back(self) -> None:
        """As back; on the overview it quits."""
        page = self.screen
        if isinstance(page, LiveScreen) and page.place == "overview" and not page.has_filter():
            self.action_leave()
        else:
            await self.action_back()

    def action_leave(self) -> None:
        self.exit(0)
