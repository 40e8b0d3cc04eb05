"""The dashboard as a browser is given it: what it refuses, and its end of textual-serve's pipes.

What the data process would do for it, that process refuses by itself. The app ends when the server has gone, and
soon.
"""

import asyncio
import os
import threading
from collections.abc import Mapping
from typing import Any

from textual.dom import DOMNode
from textual.drivers.web_driver import WebDriver

from tui.app.app import Kdrill
from tui.engine.messages import ONLY_SHOWS
from tui.engine.text import plain

LARGEST = 1000
"""Cells, each way: a browser may ask for any size."""
LAST_MOMENT_S = 5.0


class SessionDriver(WebDriver):
    """Textual's own goes on when its input has ended."""

    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        if self._size is not None:
            self._size = _bounded(*self._size)

    def start_application_mode(self) -> None:
        self._loop = asyncio.get_running_loop()
        super().start_application_mode()

    def stop_application_mode(self) -> None:
        """The page has no other way to learn why."""
        if fatal := getattr(self._app, "fatal", ""):
            self.write(f"\x1b[2J\x1b[H{plain(fatal)}")
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._leave()

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        if packet_type == "quit":
            self._leave()
            return
        if packet_type == "resize":
            width, height = _bounded(payload.get("width"), payload.get("height"))
            payload = {**payload, "width": width, "height": height}
        super().on_meta(packet_type, payload)

    def _leave(self) -> None:
        """In order if that can be, but in any case."""
        last_moment = threading.Timer(LAST_MOMENT_S, os._exit, (1,))
        last_moment.daemon = True
        last_moment.start()
        assert self._loop is not None
        # Not before a screen stands: an exit while it is put together ends in its errors.
        self._loop.call_soon_threadsafe(self._app.call_after_refresh, self._app.exit, 0)


def _bounded(*sides: object) -> tuple[int, int]:
    width, height = (min(max(side, 1), LARGEST) if isinstance(side, int) else 1 for side in sides)
    return width, height


REFUSED: Mapping[str, str] = {
    "export": "no file is written",
    "app.clusters": "one cluster is shown",
    "app.suspend_process": "there is no shell to go back to",
}
"""Action → what of it does not hold in a browser."""


class ServedKdrill(Kdrill):
    """Nobody knows who sits before a browser: the machine that it is served by is not touched."""

    CSS_PATH = "kdrill.tcss"
    is_served = True

    def get_driver_class(self) -> type[SessionDriver]:
        return SessionDriver

    async def run_action(
        self,
        action: Any,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        if action in REFUSED:
            self._refuse(REFUSED[action])
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def export(self, name: str) -> None:
        self._refuse(REFUSED["export"])

    def switch(self, name: str) -> None:
        self._refuse(REFUSED["app.clusters"])

    def open_source(self, source: str) -> None:
        self._refuse(REFUSED["app.clusters"])

    def _refuse(self, reason: str) -> None:
        self._tell(f"{ONLY_SHOWS}: {reason}")
