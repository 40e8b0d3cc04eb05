"""From screen to screen: which there are, what lies over them, and the ways back. Asks and shows nothing itself."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.screen import Screen

from model.cluster.places import metadata_place
from tui.actions import OVERLAY
from tui.asking import with_broker, with_made_up
from tui.commands import CommandError
from tui.data.acting.requests import Request
from tui.data.link import DataLost
from tui.data.messages import SANDBOX, TextAnswer, TextQuery, Wish
from tui.drilling import broker_of
from tui.notices import Noticing
from tui.screens.confirm import Confirm
from tui.screens.consumers import Consumers
from tui.screens.describe import Describe
from tui.screens.help import Help
from tui.screens.live_screen import LiveScreen
from tui.screens.logs import Logs
from tui.screens.page import Page
from tui.screens.registry import REGISTRY
from tui.screens.sandbox import Sandbox
from tui.screens.znodes import Znodes
from tui.state import Filter, Zoom, reduce
from tui.time_travel import TimeTravel
from tui.touring import Touring
from tui.tree_words import has_znodes, worded


class Navigation(TimeTravel, Noticing, Touring):
    """An app with its screens."""

    MODES: ClassVar[dict[str, type[LiveScreen]]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        screen.name: screen.load() for screen in REGISTRY
    }
    DEFAULT_MODE = "overview"

    _before = "overview"

    @property
    def page(self) -> Page | None:
        """What is seen in front, unless it is the palette. Nothing is while the app closes, and timers still run."""
        front = next((screen for screen in reversed(self.screen_stack) if screen.is_mounted), None)
        return front if isinstance(front, Page) else None

    def show_screen(self, name: str) -> None:
        self.call_next(self.action_screen, name)  # here and below: before the next key is looked at

    async def action_screen(self, name: str) -> None:
        """Brings a screen to the front."""
        if name != self.current_mode:
            self._before = self.current_mode or "overview"
            await self.switch_mode(name)
            self.go_on_tour()

    async def action_previous(self) -> None:
        """The screen before this one."""
        await self.action_screen(self._before)

    def action_alerts(self) -> None:
        """The findings on the overview."""
        self.call_next(self._go, "overview", lambda screen: screen.set_focus(screen.query_one("#findings")))

    def show_jobs(self) -> None:
        """What is under way, of every screen."""
        self.describe("jobs", "all", "")

    def describe(self, about: str, key: str, name: str | None = None) -> None:
        if key:
            word = "metadata" if about == "znode" and not has_znodes(self.facts) else ""
            self.push_screen(Describe(about, key, key if name is None else name, word))

    def show_znode(self, path: str) -> None:
        place = path if has_znodes(self.facts) else metadata_place(path)
        self.call_next(self._go, "znodes", lambda screen: isinstance(screen, Znodes) and screen.go_to(place))

    def show_partitions(self, text: str) -> None:
        self.view_state = reduce(reduce(self.view_state, Zoom("partitions", 0)), Filter("partitions", text))
        self.show_screen("partitions")

    def show_group(self, name: str) -> None:
        self.call_next(self._go, "consumers", lambda screen: isinstance(screen, Consumers) and screen.go_to(name))

    def show_logs(self, folder: str) -> None:
        self.call_next(self._go, "logs", lambda screen: isinstance(screen, Logs) and screen.show_folder(folder))

    def look_up(self, wanted: str) -> None:
        self.call_next(self._go, "logs", lambda screen: isinstance(screen, Logs) and screen.look_up(wanted))

    def wish(self, verb: str, about: str) -> None:
        wish = Wish(verb, about, self.view_state.plan, self.view_state.at)
        self.run_worker(partial(self._wished, wish), name="wish", group="wishes")

    def act(self, words: str) -> None:
        """Asks what it would take, and shows that; `elect` without a name is about what the cursor is on."""
        if words == "elect" and isinstance(self.screen, LiveScreen):
            words = f"elect {self.screen.list_at_hand.cursor_key}".strip()
        self.run_worker(partial(self._proposed, words, None), name="act", group="wishes")

    def request(self, words: str) -> None:
        """As `act`, in the words of the command line; what has to be named and is not, is what the cursor is on."""
        from tui.typed_requests import elsewhere, request_of  # noqa: PLC0415 - few dashboards act

        if said := elsewhere(words):
            self._tell(said)
            return
        request = None
        if self.facts.allows_writes:  # else it is refused, whatever it is
            try:
                request = request_of(words, self.screen.named_here if isinstance(self.screen, LiveScreen) else {})
            except CommandError as error:
                self._tell(str(error))
                return
        self.run_worker(partial(self._proposed, words, request), name="act", group="wishes")

    async def _proposed(self, words: str, request: Request | None) -> None:
        state = self.view_state
        query = TextQuery(
            about="act",
            view=words,
            width=self.size.width - 4,
            question=state.plan,
            at=state.at,
            request=request,
        )
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
            self._tell(f"only a sandbox is broken for real: here {self.sign('kill')} plays it on a copy")
        elif broker is None:
            self._tell("which broker? put the cursor on one")
        else:
            self.call_next(self._go, "sandbox", lambda screen: isinstance(screen, Sandbox) and screen.go_to(broker))

    def add_broker(self, broker: int, rack: str) -> None:
        self.view_state = with_broker(self.view_state, broker, rack)
        self.show_screen("plans")

    def make_up(self, patterns: tuple[str, ...], consumers: int) -> None:
        self.view_state = with_made_up(self.view_state, patterns, consumers)
        self.show_screen("lab")

    async def _wished(self, wish: Wish) -> None:
        try:
            said = await self.link.wish(wish)
        except DataLost as lost:
            said = str(lost)
        self._tell(said)

    def _tell(self, said: str) -> None:
        if self.page is not None:
            self.page.say(said)

    def _announce(self, said: str) -> None:
        if self.page is not None:
            self.page.announce(said)

    async def _go(self, name: str, then: Callable[[Screen[object]], object]) -> None:
        await self.action_screen(name)
        then(self.screen)

    def action_help(self) -> None:
        """The keys that work here."""
        if isinstance(self.screen, LiveScreen):
            unsaid = (*(() if self.facts.kind == SANDBOX else ("tour",)), *(() if has_znodes(self.facts) else ("zk",)))
            self.push_screen(Help(self.screen.place, worded(self.actions, self.facts), unsaid=unsaid))

    async def action_back(self) -> None:
        """Closes what lies over the screen, clears the filter, ends the tour, or goes to the overview."""
        page = self.page
        if page is None or page.clear_filter():
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
        """Quits."""
        self.exit(0)
