"""The app: one link to the data process and what its pulses bring, commands, the palette; how it is run. Draws nothing.

What the terminal signals is heard here so that Textual's driver is not called when it is not ready for it.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType
from typing import Any, ClassVar, NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.worker import Worker

from model.hosts.process import crash_text
from tui.app.commands import LoadRequests, parse_command
from tui.app.export import ExportError, exported
from tui.app.live_app import LiveApp
from tui.app.navigation import Navigation
from tui.app.screens.live_screen import LiveScreen
from tui.app.screens.overlays import KdrillPalette
from tui.app.screens.page import Page
from tui.app.theme import Parsed
from tui.app.tour import BEGUN, OVER
from tui.app.widgets.header import HeaderLine
from tui.engine.actions import ACTIONS, OVERLAY, Action, CommandError, holding, worded
from tui.engine.clock import RunningClock
from tui.engine.config import ConfigError
from tui.engine.keymap import changed
from tui.engine.link import DataLink, RemappedLink
from tui.engine.messages import Opening, Pulse, StopJobs
from tui.engine.palette import THEMES
from tui.engine.view_state import ViewState


def continued_only_when_stopped() -> None:
    """A terminal that hangs up continues a program that was never stopped.

    Textual's driver would start its threads a second time then; the first ones would outlive the program's end.
    """
    stops, continues = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    if not (callable(stops) and callable(continues)):
        return
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        stops(number, frame)

    def go_on(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        if stopped:
            stopped = False
            continues(number, frame)

    signal.signal(signal.SIGTSTP, stop)
    signal.signal(signal.SIGCONT, go_on)


def sizes_in_turn() -> None:
    """The terminal's new sizes are heard one after the other, by the event loop.

    Textual's own handler may be interrupted by itself; then an older size is told last, and the screen stays wrong.
    """
    tells_size = signal.getsignal(signal.SIGWINCH)
    if callable(tells_size):
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, tells_size, signal.SIGWINCH, None)


NOTHING_CHOSEN = ViewState()


class Kdrill(Navigation):
    """`kdrill`, the dashboard. Its return value is the exit code; `fatal` is why it ended by itself, one line."""

    CSS_PATH = "kdrill.tcss"
    TITLE = "kdrill"
    # Textual's own would hold whatever the settings say, and before all else.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", show=False, id="command_palette"),
    ]

    def __init__(
        self,
        link: DataLink,
        *,
        requests: LoadRequests,
        theme: str = "dark",
        ascii_only: bool = False,
        now_ms: Callable[[], int] | None = None,
        contexts: Mapping[str, Callable[[], Opening]] | None = None,
        note: str = "",
        notices: bool = True,
        actions: tuple[Action, ...] = ACTIONS,
        screen: str = "",
        view_state: ViewState = NOTHING_CHOSEN,
        tour: bool = False,
        parsed: Parsed | None = None,
    ) -> None:
        """`requests`: the words of the command line; `contexts`: other clusters by name, and how each is opened; `note`
        is said once there is a screen, `notices` of what becomes critical as they come; `screen`, `view_state`: what to
        begin with; `tour`: with the guided tour; `actions`: the registry with the keys of the settings; `parsed`: the
        styles of an app before this one.
        """
        if screen:
            self.DEFAULT_MODE = screen  # pyright: ignore[reportAttributeAccessIssue]
        super().__init__(theme=theme, ascii_only=ascii_only, parsed=parsed)
        self.first_theme = self.theme
        self.set_reactive(LiveApp.view_state, view_state)
        self.set_reactive(LiveApp.tour, BEGUN if tour else OVER)
        self.link = link if actions == ACTIONS else RemappedLink(link, actions)
        self.actions, self.requests = actions, requests
        self.notices_on = notices
        self.set_keymap(changed(actions))
        self.fatal = ""
        self.wanted: Opening | None = None
        """The cluster that the operator wants to see next."""
        self.contexts = contexts or {}
        self._note = note
        self._told = self._exporting = ""
        self._export: Worker[None] | None = None
        self._clock = RunningClock(now_ms)

    def now_ms(self) -> int:
        return self._clock()

    async def on_event(self, event: events.Event) -> None:
        if not (isinstance(event, events.Key) and not event.is_forwarded and await self._carried_out(event)):
            await super().on_event(event)

    async def _carried_out(self, key: events.Key) -> bool:
        """Whether the key meant something on the page, and that was done.

        Textual's own way takes a detour through the focused widget. Of keys that come in one piece (a paste, a slow
        link) the later ones would be given to what had the focus before the earlier ones were carried out.
        """
        page = self.page
        if page is None:
            return False
        self.app_focus = True
        return (
            await self._check_bindings(key.key, priority=True)
            or page.bottom.takes(key)
            or await self._check_bindings(key.key)
        )

    async def run_action(self, action: str | tuple[str, str, tuple[Any, ...]], *around: Any, **more: Any) -> bool:
        """What a key or the palette asks for, unless it can do nothing now: then that is said, and why."""
        page = self.screen
        if isinstance(page, Page):
            known = holding(page.place, self.actions)
            if why := next((page.why_not(each) for each in known if each.target == action), ""):
                page.say(why)
                return True
        return await super().run_action(action, *around, **more)

    def _fatal_error(self) -> None:
        """Textual's own shows what local variables hold."""
        error = sys.exception() or self._exception
        if error is not None:
            self._exit_renderables.append(Text(crash_text(error)))
        self._close_messages_no_wait()

    async def on_mount(self) -> None:
        sizes_in_turn()
        continued_only_when_stopped()
        if self._note:
            self._tell(self._note)
        await self.link.open(self._hear)

    async def on_unmount(self) -> None:
        await self.link.close()

    def _hear(self, pulse: Pulse) -> None:
        if pulse.fatal:
            self.fatal = pulse.fatal
            self.call_after_refresh(self.exit, 1, 1)  # not while a screen is being put together
            return
        self._clock.set()  # as the data process had it just now
        self.facts, self.changes = pulse.header, pulse.changes
        self._told = pulse.doing
        self._show_work()
        self.take_notice(pulse.notice)
        self._fade()
        if not pulse.steady:
            self.seq = pulse.seq

    @on(HeaderLine.StalenessChanged)
    def _fade(self) -> None:
        """Whether what is shown may no longer be so: the source says so, or says nothing at all."""
        if self.page is not None and self.page.header.is_attached:
            self.faded = self.page.header.is_stale

    def run_command(self, text: str) -> None:
        if not text.strip():
            return
        try:
            parse_command(text)(self)
        except CommandError as error:
            self._tell(str(error))

    def action_clusters(self) -> None:
        """The command that switches, and the names that it may be given."""
        if self.page is not None:
            self.page.bottom.ask(":", "ctx ")
            self.page.bottom.answer("  ".join(self.contexts), "dim", ":")

    def switch(self, name: str) -> None:
        """To another cluster; all that is open on this one ends."""
        if name not in self.contexts:
            self._tell(f"no cluster {name!r}: there are {', '.join(self.contexts)}")
            return
        try:
            self.wanted = self.contexts[name]()
        except ConfigError as error:
            self._tell(str(error))
        else:
            self.exit(0)

    def open_source(self, source: str) -> None:
        """Opens another source; all that is open on this one ends."""
        self.wanted = Opening(source=source)
        self.exit(0)

    def export(self, name: str) -> None:
        """Writes what is shown to a new file; what was written is said on the last line."""
        page = self.page
        if isinstance(page, LiveScreen):
            work = partial(self._exported, page, name)
            self._export = self.run_worker(work, name="export", group="exports", exclusive=True)

    async def _exported(self, page: LiveScreen, name: str) -> None:
        def told(done: int, of: int) -> None:
            self._exporting = f"exporting {done:,} of {of:,} rows" if of else "exporting"
            self._show_work()

        try:
            said = await exported(self, self.link, page.list_at_hand.whole(), self.facts, name, told)
        except ExportError as error:
            said = str(error)
        self._exporting = ""
        self._show_work()
        page.say(said)

    def _show_work(self) -> None:
        self.doing = ", ".join(filter(None, (self._exporting, self._told)))

    def stop_jobs(self) -> None:
        if self._exporting and self._export is not None:
            self._export.cancel()
            self._exporting = ""
            self._show_work()
            self._tell("stopped: nothing was written")
        else:
            self.wish(StopJobs())

    def action_interrupt(self) -> None:
        """Copies what is marked or says how to quit: ctrl+c is pressed by habit, and must not end a watch."""
        marked = self.screen.get_selected_text()
        if self.page is not None:
            self.page.copy(marked) if marked else self.page.say(f"{self.sign('leave')} or ctrl+q quits")

    def action_theme(self) -> None:
        self.theme = THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)] if self.theme in THEMES else THEMES[0]
        self.seq = self.seq  # plots bring their colours along

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, KdrillPalette):
            self.push_screen(KdrillPalette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]):
        """The palette offers what holds on the page below it."""
        if self.last_notice.text:
            yield SystemCommand("last notice", self.last_notice.text, lambda: self.show_screen("events"))
        place = screen.place if isinstance(screen, Page) else OVERLAY
        for action in holding(place, worded(self.actions, self.facts)):
            if action.id == "command_palette":
                continue
            run = self._doing(action.target, screen)
            why = screen.why_not(action) if isinstance(screen, Page) else ""
            yield SystemCommand(f"{action.label}  {action.sign}", f"not now: {why}" if why else action.help, run)
        if self.facts.allows_writes and isinstance(screen, LiveScreen):
            for words, told in self.requests().offered():
                yield SystemCommand(f":{words}", told, self._typing(f"{words} ", screen))

    def _typing(self, words: str, screen: LiveScreen) -> Callable[[], object]:
        return lambda: self.call_later(screen.bottom.ask, ":", words)

    def _doing(self, target: str, screen: Screen[object]) -> Callable[[], object]:
        return lambda: self.call_later(self.run_action, target, screen)


class Ended(NamedTuple):
    """How the dashboard ended. `fatal`: why it did so by itself; `wanted`: what is to be opened next."""

    code: int
    fatal: str
    wanted: Opening | None
    theme: str
    theme_chosen: bool
    """Whether the operator went from one theme to another."""
    screen: str
    view_state: ViewState
    toured: bool
    """Whether a guided tour came to its end, or was ended."""


def run(kind: type[Kdrill], link: DataLink, **look: Any) -> Ended:
    """Runs the dashboard until it ends; `look` is what Kdrill takes."""
    return asyncio.run(_run(kind(link, **look)))


async def _run(app: Kdrill) -> Ended:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Not before the first screen stands: an exit while it is put together ends in its errors.
        loop.add_signal_handler(number, app.call_after_refresh, app.exit, 128 + number, 128 + number)
    code = await app.run_async()
    return Ended(
        code=(app.return_code or 0) or (code or 0),
        fatal=app.fatal,
        wanted=app.wanted,
        theme=app.theme,
        theme_chosen=app.theme != app.first_theme,
        screen=app.current_mode or "",
        view_state=app.view_state,
        toured=app.toured,
    )
