"""An event loop in virtual time: nothing is waited for, and the same program runs the same way every time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

STARTS_AT_S = 1_000.0


class StandstillError(RuntimeError):
    """Everybody waits, and nothing is going to happen."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Its selector selects nothing: where a real loop would sleep, the clock goes on."""

    def __init__(self) -> None:
        super().__init__()
        self._now = STARTS_AT_S
        self._selector = self

    def time(self) -> float:
        """Seconds of virtual time."""
        return self._now

    def now_ms(self) -> int:
        """The same as a clock of brokers and members."""
        return round(self._now * 1000)

    def select(self, timeout: float | None) -> tuple[()]:
        """What `BaseEventLoop` sleeps in."""
        if timeout is None:
            raise StandstillError
        self._now += timeout
        return ()

    def _process_events(self, event_list: object) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def play(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it to its end, and end all that it has begun."""
        try:
            self.run_until_complete(work)
        finally:
            left = asyncio.all_tasks(self)
            for task in left:
                task.cancel()
            if left:
                self.run_until_complete(asyncio.wait(left))
            self.close()
