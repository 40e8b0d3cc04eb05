"""Carries a cluster's life out on a ZooKeeper, so many changes a second; pauses for whoever wants the tree to stand."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Self

from model.sandbox.demo.tree import DemoCommand, EndSession, InSession
from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sandbox.processes import SandboxError
from model.zookeeper import SetData
from tests.soak.group_life import GroupLife
from tests.soak.shape import Shape
from tests.soak.topic_life import TopicLife

PATIENCE_S = 60.0
NOTHING_NEW = SetData("/consumers", b"")
"""May be carried out any number of times."""


class Churn:
    """One cluster, from `found` to the end of the context. Its sessions reach the server by no proxy."""

    def __init__(self, address: str, shape: Shape, seed: int) -> None:
        self._address = address
        self._dice = random.Random(seed)
        self._topics = TopicLife(shape, self._dice)
        self._groups: list[GroupLife] = []
        self._shape = shape
        self._sessions: dict[str, ZnodeSession] = {}
        self._going_on = asyncio.Lock()
        self.changes = 0
        """Carried out since `found`: znodes written, and sessions ended."""
        self.busy_s = 0.0
        """For how long it was going on since then."""

    @property
    def sessions(self) -> int:
        """How many are open."""
        return len(self._sessions)

    async def found(self) -> None:
        """The first tree. Raises SandboxError."""
        for command in self._topics.founding():
            await self._carry_out(command)
        for number, topic in enumerate([*self._topics.topics][: self._shape.groups]):
            self._groups.append(GroupLife(number, topic, self._shape, self._dice))
            for command in self._groups[-1].founding():
                await self._carry_out(command)
        self.changes = 0

    async def go_on(self, changes_per_s: int) -> None:
        """For ever, at this rate; where a burst was faster, it rests afterwards. Raises SandboxError."""
        loop, begun_at = asyncio.get_running_loop(), self.changes
        for command in self._life():
            async with self._going_on:
                began_s = loop.time()
                await self._carry_out(command)
                ahead_s = (self.changes - begun_at) / changes_per_s - self.busy_s
                await asyncio.sleep(max(ahead_s - (loop.time() - began_s), 0))
                self.busy_s += loop.time() - began_s

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Nothing is written inside."""
        async with self._going_on:
            yield

    async def wait_for_sessions(self) -> None:
        """Until every session writes again, as after a restart of the server. Raises SandboxError."""
        deadline_s = asyncio.get_running_loop().time() + PATIENCE_S
        for session in self._sessions.values():
            while True:
                try:
                    await asyncio.to_thread(session.apply, [NOTHING_NEW])
                    break
                except SandboxError:
                    if asyncio.get_running_loop().time() > deadline_s:
                        raise
                    await asyncio.sleep(0.05)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.gather(*(asyncio.to_thread(session.close) for session in self._sessions.values()))

    def _life(self) -> Iterator[DemoCommand]:
        topics = self._topics
        acts = {
            topics.rewrite_states: 300,
            topics.replace_topic: 20,
            topics.add_partitions: 20,
            topics.configure: 20,
            topics.ask_for_work: 20,
            topics.controller_moves: 2,
            topics.broker_dies: 2,
            **{group.commit: 40 for group in self._groups},
            **{group.rebalance: 4 for group in self._groups},
        }
        while True:
            (act,) = self._dice.choices([*acts], [*acts.values()])
            yield from act()

    async def _carry_out(self, command: DemoCommand) -> None:
        match command:
            case InSession(name, writes):
                if name not in self._sessions:
                    self._sessions[name] = await asyncio.to_thread(ZnodeSession, self._address)
                await asyncio.to_thread(self._sessions[name].apply, writes)
                self.changes += len(writes)
            case EndSession(name):
                await asyncio.to_thread(self._sessions.pop(name).close)
                self.changes += 1
