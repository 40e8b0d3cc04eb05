"""Looks at what a dashboard would show, all the time: LIVE must be true."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.chaos.writer import Canary
from tests.soak.watched import WatchedProcess
from tui.app.widgets.header import is_stale
from tui.engine.clock import wall_clock_ms
from tui.engine.messages import Pulse

LOOK_S = 0.1
STALE_AFTER_MS = 15_000
"""After which row one does not believe a source that says it is live."""


class Onlooker(WatchedProcess):
    """A data process and row one's verdict on it."""

    def __init__(self, source: str, seed: int, canary: Canary, command: Sequence[str]) -> None:
        super().__init__(source, seed, command)
        self._canary = canary
        self.most_behind_s = 0.0
        """For how long at most the newest was missing while LIVE was shown."""
        self.most_unsaid_s = 0.0
        """The same, beyond how old the image was said to be."""
        self.shown_live = 0
        self.shown_stale = 0
        """How often somebody looked and saw this."""

    @property
    def is_live(self) -> bool:
        """Whether LIVE is shown."""
        facts = self.pulse.header if self.pulse else None
        return facts is not None and facts.phase == "live" and not is_stale(facts, wall_clock_ms(), STALE_AFTER_MS)

    async def look(self) -> None:
        """For ever."""
        while True:
            self._look()
            await asyncio.sleep(LOOK_S)

    def _hear(self, pulse: Pulse) -> None:
        self._look()  # what was shown until now was wrong for longest now
        super()._hear(pulse)

    def _look(self) -> None:
        if self.pulse is None:
            return
        if not self.is_live:
            self.shown_stale += 1
            return
        self.shown_live += 1
        behind_s = self._canary.behind_s(self.pulse.header.cluster, asyncio.get_running_loop().time())
        self.most_behind_s = max(self.most_behind_s, behind_s)
        if behind_s:
            age_s = (wall_clock_ms() - self.pulse.header.image_time_ms) / 1000
            self.most_unsaid_s = max(self.most_unsaid_s, behind_s - age_s)
