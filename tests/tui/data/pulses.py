"""Pulses as they are heard, to be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tui.engine.messages import Pulse

PATIENCE_S = 30.0


class Pulses:
    """`hear` is what a link calls."""

    def __init__(self) -> None:
        self.heard: list[Pulse] = []
        self._news = asyncio.Event()

    def hear(self, pulse: Pulse) -> None:
        self.heard.append(pulse)
        self._news.set()

    async def until(self, matches: Callable[[Pulse], object]) -> Pulse:
        """Waits for a pulse that matches; it may have come already."""
        async with asyncio.timeout(PATIENCE_S):
            while not any(map(matches, self.heard)):
                self._news.clear()
                await self._news.wait()
        return next(pulse for pulse in self.heard if matches(pulse))


def live(pulse: Pulse) -> bool:
    """Whether the source follows a cluster."""
    return pulse.header.phase == "live"
