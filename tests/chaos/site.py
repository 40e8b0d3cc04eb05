"""Does to a real ensemble, and to the links to it, what a fault says. After each fault all is whole again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from model.sandbox.embedded_zookeeper import Ensemble
from model.sandbox.processes import SandboxError
from model.sandbox.switchboard import end_session
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, server_status
from tests.chaos.faults import Fault, Kind
from tests.chaos.links import Link

SLOW_S = 0.1
TRICKLE_BYTES_PER_S = 20_000
GARBAGE_BYTES = 40


class Site:
    """One ensemble of three, and a link to each of its servers, in the same order."""

    def __init__(self, ensemble: Ensemble, links: Sequence[Link]) -> None:
        self._ensemble, self._links = ensemble, links
        self._harmed: set[int] = set()
        """The numbers of servers that a fault has under its hands."""

    async def do(self, fault: Fault) -> None:
        """From its beginning until all is whole again. Raises SandboxError when a server does not come back."""
        ways: Mapping[Kind, Callable[[Fault], Awaitable[None]]] = {
            "kill": lambda fault: self._kill(fault, self._pick(1, fault.number)),
            "kill the leader": self._kill_leader,
            "kill two": lambda fault: self._kill(fault, self._pick(2, fault.number)),
            "pause": self._pause,
            "cut": self._cut,
            "cut in mid frame": self._cut_in_mid_frame,
            "black hole": lambda fault: self._black_hole(fault, [self._in_use]),
            "black hole everywhere": lambda fault: self._black_hole(fault, self._links),
            "slow": self._slow,
            "trickle": self._trickle,
            "garbage": self._garbage,
            "expire our session": self._expire,
        }
        await asyncio.sleep(fault.after_s)
        await ways[fault.kind](fault)

    @property
    def _in_use(self) -> Link:
        return max(self._links, key=lambda link: link.opened_s)

    def _server(self, number: int) -> EmbeddedZooKeeper:
        server = self._ensemble.members[number - 1].server
        assert server is not None
        return server

    def _pick(self, count: int, number: int) -> list[int]:
        """So many servers that nobody harms, or as many as there are."""
        free = [member.number for member in self._ensemble.members if member.number not in self._harmed]
        turn = number % max(len(free), 1)
        return (free[turn:] + free[:turn])[:count]

    async def _kill_leader(self, fault: Fault) -> None:
        for number in self._pick(3, 0):
            status = await asyncio.to_thread(server_status, ("127.0.0.1", self._server(number).port))
            if status is not None and status.mode == "leader" and number not in self._harmed:
                return await self._kill(fault, [number])
        return await self._kill(fault, self._pick(1, fault.number))  # there is no leader now, or it is dying

    async def _kill(self, fault: Fault, numbers: list[int]) -> None:
        self._harmed |= {*numbers}
        for number in numbers:
            await self._ensemble.kill(number)
        await asyncio.sleep(fault.lasts_s)
        await asyncio.gather(*map(self._ensemble.start_again, numbers))
        self._harmed -= {*numbers}

    async def _pause(self, fault: Fault) -> None:
        for number in self._pick(1, fault.number):
            self._harmed.add(number)
            self._server(number).pause()
            try:
                await asyncio.sleep(fault.lasts_s)
            finally:
                self._server(number).resume()
                self._harmed.remove(number)

    async def _cut(self, _: Fault) -> None:
        for link in self._links:
            link.cut()

    async def _cut_in_mid_frame(self, fault: Fault) -> None:
        self._in_use.cut_in_mid_frame(after_bytes=4 + fault.number)

    async def _black_hole(self, fault: Fault, links: Sequence[Link]) -> None:
        for link in links:
            link.swallow()
        try:
            await asyncio.sleep(fault.lasts_s)
        finally:
            for link in links:
                link.flow()

    async def _slow(self, fault: Fault) -> None:
        for link in self._links:
            link.delay_s = SLOW_S
        try:
            await asyncio.sleep(fault.lasts_s)
        finally:
            for link in self._links:
                link.delay_s = 0.0

    async def _trickle(self, fault: Fault) -> None:
        for link in self._links:
            link.bytes_per_s = TRICKLE_BYTES_PER_S
        try:
            await asyncio.sleep(fault.lasts_s)
        finally:
            for link in self._links:
                link.bytes_per_s = None

    async def _garbage(self, fault: Fault) -> None:
        garbage = random.Random(fault.number).randbytes(GARBAGE_BYTES)
        self._in_use.rewrite_next_reply(lambda _: garbage)

    async def _expire(self, _: Fault) -> None:
        """Somebody who knows its password closes our session."""
        link = self._in_use
        for number in self._pick(3, 0):
            with suppress(OSError, SandboxError):
                if link.session and await end_session(link.session, "127.0.0.1", self._server(number).port):
                    link.cut()
                    return
