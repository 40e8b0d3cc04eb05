"""What goes wrong now and then: on the way between the data process and its ZooKeeper, and with the server itself."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.progress import Tell
from tests.soak.churn import Churn
from tests.zookeeper.counting_proxy import CountingProxy

LONGEST_S = 4.0
"""Far below the timeout of the churn's sessions: they must live on."""


class Faults:
    """Of one soak. The server is only harmed between two writes: what became of a write must be known."""

    def __init__(
        self, server: EmbeddedZooKeeper, proxy: CountingProxy, churn: Churn, every_s: float, seed: int
    ) -> None:
        self._server, self._proxy, self._churn = server, proxy, churn
        self._every_s, self._longest_s = every_s, min(every_s, LONGEST_S)
        self._dice = random.Random(seed)
        self.made: list[str] = []

    async def go_on(self, tell: Tell) -> None:
        """For ever, each kind in turn. Raises SandboxError."""
        kinds: tuple[Callable[[], Awaitable[None]], ...] = (
            self._cut, self._cut_in_mid_frame, self._black_hole, self._slow, self._pause, self._kill,
        )  # fmt: skip
        while True:
            for kind in kinds:
                await asyncio.sleep(self._every_s)
                self.made.append(kind.__name__.strip("_").replace("_", " "))
                tell(f"fault: {self.made[-1]}")
                await kind()

    async def _cut(self) -> None:
        self._proxy.cut()

    async def _cut_in_mid_frame(self) -> None:
        self._proxy.cut_in_mid_frame(after_bytes=self._dice.randrange(4, 400))

    async def _black_hole(self) -> None:
        self._proxy.swallow()
        try:
            await asyncio.sleep(self._dice.uniform(0.5, self._longest_s))
        finally:
            self._proxy.flow()

    async def _slow(self) -> None:
        self._proxy.delay_s = 0.05
        try:
            await asyncio.sleep(self._longest_s)
        finally:
            self._proxy.delay_s = 0.0

    async def _pause(self) -> None:
        async with self._churn.paused():
            self._server.pause()
            try:
                await asyncio.sleep(self._dice.uniform(0.5, self._longest_s))
            finally:
                self._server.resume()
            await self._churn.wait_for_sessions()

    async def _kill(self) -> None:
        async with self._churn.paused():
            await asyncio.to_thread(self._server.kill)
            await asyncio.to_thread(self._server.start)
            await self._churn.wait_for_sessions()
