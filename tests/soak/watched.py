"""The data process as a dashboard has it: over its real link, asked what screens ask whenever it says there is news."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from tests.soak.screens import Screen, screens
from tui.engine.history.queries import PastEventText, SaveSnapshot
from tui.engine.link import DATA_PROCESS, ProcessLink
from tui.engine.messages import ListQuery, Opening, Pulse, TextQuery, TimeQuery

BACK = 20
"""Events, on the screen that shows the past."""
MEMORY = re.compile(r"memory\s+about ([\d,.]+) MiB of at most ([\d,]+) MiB")

_Query = TypeVar("_Query", ListQuery, TextQuery)


class WatchedProcess:
    """One data process, for as long as the context lasts."""

    def __init__(self, source: str, seed: int, command: Sequence[str] = DATA_PROCESS) -> None:
        self._link = ProcessLink(Opening(source=source, connect_timeout_s=60.0), command)
        self._dice = random.Random(seed)
        self._news, self._live = asyncio.Event(), asyncio.Event()
        self.pulse: Pulse | None = None
        """The last one."""
        self.pulses = self.answers = 0
        self.slowest_s = 0.0
        """The longest that all answers of a screen took."""

    @property
    def pid(self) -> int:
        """The data process's id."""
        return self._link.pid

    async def go_round(self, screen_s: float) -> None:
        """For ever: so long on each screen, asking whenever a pulse says that there is something new."""
        loop, turn = asyncio.get_running_loop(), 0
        while True:
            turn += 1
            for screen in screens(turn):
                until_s, at = loop.time() + screen_s, await self._gone_back() if screen.goes_back else 0
                while loop.time() < until_s:
                    self._news.clear()
                    await self._ask(screen, at)
                    try:
                        # Not wait_for, to which news in the very moment of the end are a reason to go on (Python 3.11).
                        async with asyncio.timeout_at(until_s):
                            await self._news.wait()
                    except TimeoutError:
                        break

    async def save(self, path: Path) -> None:
        """The image that it has now, as a snapshot file. Raises DataLost; AssertionError when nothing was saved."""
        said = await self._link.wish(SaveSnapshot(str(path)))
        assert path.exists(), said

    async def timeline_mib(self) -> tuple[float, float]:
        """What its timeline keeps, about, and may keep at most. Raises DataLost."""
        answer = await self._link.text(PastEventText(width=100))
        found = MEMORY.search(answer.plain)
        assert found, answer.plain
        used, most = (float(number.replace(",", "")) for number in found.groups())
        return used, most

    async def __aenter__(self) -> Self:
        await self._link.open(self._hear)
        await self._live.wait()
        assert self.pulse is not None and not self.pulse.fatal, self.pulse
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._link.close()

    def _hear(self, pulse: Pulse) -> None:
        self.pulse, self.pulses = pulse, self.pulses + 1
        if pulse.header.phase == "live" or pulse.fatal:
            self._live.set()
        if not pulse.steady:
            self._news.set()

    async def _ask(self, screen: Screen, at: int) -> None:
        """All that the screen shows. Raises DataLost."""
        began_s = asyncio.get_running_loop().time()
        lists = [_as_of(query, at) for query in screen.lists]
        answers = await asyncio.gather(*map(self._link.rows, lists))
        windows = {query.name: window for query, window in zip(lists, answers, strict=True)}
        for query, of in screen.texts:
            rows = windows[of].rows if of else ()
            key = self._dice.choice(rows).key if rows else ""
            await self._link.text(_as_of(msgspec.structs.replace(query, key=key), at))
        self.answers += len(screen.lists) + len(screen.texts)
        self.slowest_s = max(self.slowest_s, asyncio.get_running_loop().time() - began_s)

    async def _gone_back(self) -> int:
        """The moment some events ago."""
        at = 0
        for _ in range(BACK):
            at = (await self._link.moment(TimeQuery("back", at=at))).seq or at
        return at


def _as_of(query: _Query, at: int) -> _Query:
    """As it was then, where that can be asked: znodes are those of now."""
    return msgspec.structs.replace(query, at=at) if "at" in query.__struct_fields__ else query
