"""The app: one link to the data process and what its pulses bring, commands, the palette. Draws nothing."""

import asyncio
import signal
import time
from collections.abc import Callable

from textual.app import SystemCommand
from textual.screen import Screen

from tui.actions import OVERLAY, holding
from tui.commands import CommandError, parse_command
from tui.data.link import DataLink
from tui.data.messages import Pulse
from tui.navigation import Navigation
from tui.palette import THEMES
from tui.screens.page import Page
from tui.widgets.header_line import HeaderLine


def _wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class Kdrill(Navigation):
    """`kdrill`, the dashboard. Its return value is the exit code; `fatal` is why it ended by itself, one line."""

    CSS_PATH = "kdrill.tcss"
    TITLE = "kdrill"

    def __init__(
        self,
        link: DataLink,
        *,
        theme: str = "dark",
        ascii_only: bool = False,
        now_ms: Callable[[], int] = _wall_clock_ms,
    ) -> None:
        super().__init__(theme=theme, ascii_only=ascii_only)
        self.link = link
        self.fatal = ""
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms()

    async def on_mount(self) -> None:
        _sizes_in_turn()
        self.set_interval(1.0, self._fade)
        await self.link.open(self._hear)

    async def on_unmount(self) -> None:
        await self.link.close()

    def _hear(self, pulse: Pulse) -> None:
        if pulse.fatal:
            self.fatal = pulse.fatal
            self.call_after_refresh(self.exit, 1, 1)  # not while a screen is being put together
            return
        self.facts = pulse.header
        self._fade()
        self.seq = pulse.seq

    def _fade(self) -> None:
        """Whether what is shown may no longer be so: the source says so, or says nothing at all."""
        headers = self.page.query(HeaderLine) if self.page else None
        if headers:
            self.faded = headers.first().is_stale

    def run_command(self, text: str) -> None:
        if not text.strip():
            return
        try:
            command = parse_command(text)
        except CommandError as error:
            if self.page is not None:
                self.page.say(str(error))
            return
        command(self)

    def action_interrupt(self) -> None:
        """Copies what is marked or says how to quit: ctrl+c is pressed by habit, and must not end a watch."""
        marked = self.screen.get_selected_text()
        if self.page is not None:
            self.page.copy(marked) if marked else self.page.say("Q or ctrl+q quits")

    def action_theme(self) -> None:
        """The next theme."""
        self.theme = THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)] if self.theme in THEMES else THEMES[0]
        self.seq = self.seq  # plots bring their colours along

    def get_system_commands(self, screen: Screen[object]):
        """The palette offers what holds on the page below it."""
        for action in holding(screen.place if isinstance(screen, Page) else OVERLAY):
            if action.id == "command_palette":
                continue
            run = self._doing(action.target, screen)
            yield SystemCommand(f"{action.label}  {action.sign}", action.help, run)

    def _doing(self, target: str, screen: Screen[object]) -> Callable[[], object]:
        return lambda: self.call_later(self.run_action, target, screen)


def _sizes_in_turn() -> None:
    """The terminal's new sizes are heard one after the other, by the event loop.

    Textual's own handler may be interrupted by itself; then an older size is told last, and the screen stays wrong.
    """
    tells_size = signal.getsignal(signal.SIGWINCH)
    if callable(tells_size):
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, tells_size, signal.SIGWINCH, None)


def run(link: DataLink, *, theme: str, ascii_only: bool) -> tuple[int, str]:
    """Runs the dashboard until it ends; (exit code, why it ended by itself)."""
    return asyncio.run(_run(Kdrill(link, theme=theme, ascii_only=ascii_only)))


async def _run(app: Kdrill) -> tuple[int, str]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Not before the first screen stands: an exit while it is put together ends in its errors.
        loop.add_signal_handler(number, app.call_after_refresh, app.exit, 128 + number, 128 + number)
    code = await app.run_async()
    return (app.return_code or 0) or (code or 0), app.fatal
