"""A member's connection to a broker: requests are answered one after the other, late, or never."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tests.simulation.groups.broker import Broker
from tests.simulation.groups.network import Network

T = TypeVar("T")


class DisconnectedError(Exception):
    """No answer is going to come. Whether the request was heard is not known."""


class Connection:
    """Open until something is lost, or not answered in time."""

    def __init__(self, broker: Broker, network: Network) -> None:
        self.broker = broker
        self.is_open = True
        self._network = network
        self._one_by_one = asyncio.Lock()
        self._arrival = 0.0

    async def ask(self, serve: Callable[[Broker], Awaitable[T]], timeout_s: float) -> T:
        """The answer. Raises DisconnectedError."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._arrival = max(self._arrival, loop.time() + self._network.delay_s())
        task = loop.create_task(self._carry(serve, answer, self._arrival - loop.time()))
        task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            raise DisconnectedError from None
        finally:
            if not answer.done() or answer.cancelled():
                self.is_open = False

    async def _carry(self, serve: Callable[[Broker], Awaitable[T]], answer: asyncio.Future[T], delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        async with self._one_by_one:
            is_heard = self.broker.alive and (self.is_open or self._network.dice.random() < 0.5)
            if not is_heard or self._network.loses():
                self._break(answer)
                return
            given = await serve(self.broker)
        await asyncio.sleep(self._network.delay_s())
        if not self.broker.alive or self._network.loses():
            self._break(answer)
        elif not answer.done():
            answer.set_result(given)

    def _break(self, answer: asyncio.Future[T]) -> None:
        self.is_open = False
        if not answer.done():
            answer.set_exception(DisconnectedError())
