"""Who changes the tree: churn that does not give up, whatever becomes of servers; a canary; marks."""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_right
from contextlib import suppress

from model.sandbox.demo.tree import DemoCommand, InSession
from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sandbox.processes import SandboxError
from model.znodes.cluster import ClusterId
from model.znodes.codec import encode
from model.znodes.configs import EntityConfig
from model.zookeeper import Create, SetData
from tests.soak.churn import Churn

AGAIN_S = 0.05
CANARY = "canary"
CANARY_S = 0.1
CANARY_PREFIX = "canary-"
MARKED = "/config/clients"


class TenaciousChurn(Churn):
    """What a server that died may or may not have done is done again, write by write, until all of it stands."""

    async def write(self, command: DemoCommand) -> None:
        """As one of its own changes; for whoever has it paused. Returns when it is done."""
        await self._carry_out(command)

    async def _carry_out(self, command: DemoCommand) -> None:
        try:
            await super()._carry_out(command)
        except SandboxError:
            if isinstance(command, InSession):
                for write in command.writes:
                    await self._surely(InSession(command.session, (write,)))

    async def _surely(self, command: InSession) -> None:
        while True:
            try:
                await super()._carry_out(command)
                break
            except SandboxError as error:
                if "refused" in str(error):
                    break  # it was done before, or its session took its znodes along
                await asyncio.sleep(AGAIN_S)


class Canary:
    """Counts the cluster's id up, and knows since when which number is surely in the tree."""

    def __init__(self, churn: TenaciousChurn) -> None:
        self._churn = churn
        self._numbers: list[int] = []
        self._known_s: list[float] = []

    async def sing(self) -> None:
        """For ever, between two of the churn's writes."""
        loop, number = asyncio.get_running_loop(), 0
        while True:
            number += 1
            async with self._churn.paused():
                named = encode(ClusterId(cluster_id=f"{CANARY_PREFIX}{number}"))
                await self._churn.write(InSession(CANARY, (SetData("/cluster/id", named),)))
            self._numbers.append(number)
            self._known_s.append(loop.time())
            await asyncio.sleep(CANARY_S)

    def behind_s(self, cluster: str, now_s: float) -> float:
        """For how long whoever shows this id has not shown the newest one."""
        shown = int(cluster.removeprefix(CANARY_PREFIX)) if cluster.startswith(CANARY_PREFIX) else 0
        place = bisect_right(self._numbers, shown)
        return now_s - self._known_s[place] if place < len(self._numbers) else 0.0


class Marks:
    """Settings of clients, made through one server and never changed again: who misses one goes on missing it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._session: ZnodeSession | None = None
        self._tried = 0
        self._lock = threading.Lock()
        self.made = 0

    def make(self) -> None:
        """One more, from any thread; none where the server takes none. This server has it when it returns."""
        with self._lock, suppress(SandboxError):
            if self._session is None:
                self._session = ZnodeSession(self._address)
                self._session.make_path(MARKED)
            self._tried += 1
            name = f"mark-{self._address.rpartition(':')[2]}-{self._tried}"
            self._session.apply([Create(f"{MARKED}/{name}", encode(EntityConfig(config={"marked": name})))])
            self.made += 1

    def close(self) -> None:
        """Makes none any more."""
        with self._lock:
            if self._session is not None:
                self._session.close()
