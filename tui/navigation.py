"""From screen to screen: which there are, what lies over them, and the ways back. Asks and shows nothing itself."""

from collections.abc import Callable
from typing import ClassVar

from textual.screen import Screen

from tui.actions import OVERLAY
from tui.data.link import DataLost
from tui.data.messages import Wish
from tui.panes.live_app import LiveApp
from tui.screens.consumers import Consumers
from tui.screens.describe import Describe
from tui.screens.drill import Drill
from tui.screens.help import Help
from tui.screens.live_screen import LiveScreen
from tui.screens.overview import Overview
from tui.screens.page import Page
from tui.screens.partitions import Partitions
from tui.screens.sandbox import Sandbox
from tui.screens.znodes import Znodes
from tui.state import Filter, reduce


class Navigation(LiveApp):
    """An app with its screens."""

    MODES: ClassVar[dict[str, type[LiveScreen]]] = {  # pyright: ignore[reportIncompatibleVariableOverride]
        "overview": Overview,
        "znodes": Znodes,
        "partitions": Partitions,
        "consumers": Consumers,
        "drill": Drill,
        "sandbox": Sandbox,
    }
    DEFAULT_MODE = "overview"

    _before = "overview"

    @property
    def page(self) -> Page | None:
        """What is in front, unless it is the palette. Nothing is while the app closes; its timers still run then."""
        front = self.screen_stack[-1] if self.screen_stack else None
        return front if isinstance(front, Page) else None

    def show_screen(self, name: str) -> None:
        self.call_later(self.action_screen, name)

    async def action_screen(self, name: str) -> None:
        """Brings a screen to the front."""
        if name != self.current_mode:
            self._before = self.current_mode or "overview"
            await self.switch_mode(name)

    async def action_previous(self) -> None:
        """The screen before this one."""
        await self.action_screen(self._before)

    def action_alerts(self) -> None:
        """The findings on the overview."""
        self.call_later(self._go, "overview", lambda screen: screen.query_one("#findings").focus())

    def describe(self, about: str, key: str, name: str | None = None) -> None:
        if key:
            self.push_screen(Describe(about, key, key if name is None else name))

    def show_znode(self, path: str) -> None:
        self.call_later(self._go, "znodes", lambda screen: isinstance(screen, Znodes) and screen.go_to(path))

    def show_partitions(self, text: str) -> None:
        self.view_state = reduce(self.view_state, Filter("partitions", text))
        self.show_screen("partitions")

    def show_group(self, name: str) -> None:
        self.call_later(self._go, "consumers", lambda screen: isinstance(screen, Consumers) and screen.go_to(name))

    def wish(self, verb: str, about: str) -> None:
        self.run_worker(self._wished(Wish(verb, about)), name="wish", group="wishes")

    async def _wished(self, wish: Wish) -> None:
        try:
            said = await self.link.wish(wish)
        except DataLost as lost:
            said = str(lost)
        if self.page is not None:
            self.page.say(said)

    async def _go(self, name: str, then: Callable[[Screen[object]], object]) -> None:
        await self.action_screen(name)
        then(self.screen)

    def action_help(self) -> None:
        """The keys that work here."""
        if isinstance(self.screen, LiveScreen):
            self.push_screen(Help(self.screen.place))

    async def action_back(self) -> None:
        """Closes what lies over the screen, clears the filter, or goes to the overview."""
        page = self.page
        if page is None or page.clear_filter():
            return
        if page.place == OVERLAY:
            self.pop_screen()
        else:
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
