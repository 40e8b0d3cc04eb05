"""Follows a KRaft quorum: sends what its observer asks, tells it the answers and the time. It decides nothing.

One connection to whoever is asked for the log, and now and then one to another voter. At rest, two requests a second.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from model.hosts.observing.controller_wire import MAX_WAIT_MS, OBSERVER, answer_of, is_controller, request_of
from model.hosts.wire.connection import PLAINTEXT, Connection, Security
from model.hosts.wire.names import DeniedError, UnsupportedVersionError, WireError
from model.observer.follow import begin, decide
from model.observer.messages import (
    Address,
    Answer,
    Answered,
    Ask,
    Command,
    Event,
    Handed,
    HangUp,
    LoginRefused,
    NoController,
    Question,
    TimePassed,
    Unanswered,
    place,
)
from model.observer.state import Decision, ObserverStatus

CLIENT_ID = "kdrill"
ANSWER_MS = MAX_WAIT_MS + 2_000
"""So long may an answer take, or a connection: as followers wait by `controller.quorum.fetch.timeout.ms`."""


class Follows(Protocol):
    """Whoever wants to know. Called in the loop's thread, one call at a time; must not block."""

    def take(self, handed: Handed) -> None:
        """What was committed, or what the leader tells of the others."""
        ...

    def stand(self, standing: ObserverStatus) -> None:
        """How it stands, after each event; as a rule as before."""
        ...


class Controller:
    """Whoever listens at an address. What is asked at one time goes over one connection, and is answered in turn."""

    def __init__(
        self, address: Address, security: Security, client_id: str = CLIENT_ID, replica: int = OBSERVER
    ) -> None:
        self.address = address
        self._replica = replica
        self._security = security
        self._client_id = client_id
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._is_closed = False

    async def ask(self, question: Question) -> Answer:
        """The answer, or why there is none."""
        try:
            connection = await self._connected()
            if not is_controller(connection):
                return NoController("a broker's listener, not a controller's")
            request = request_of(question, connection, self._replica)
            return answer_of(question, await connection.ask(request, ANSWER_MS / 1000))
        except UnsupportedVersionError as error:
            return Unanswered(f"{place(self.address)}: {error}")
        except DeniedError as error:
            return LoginRefused(_at(self.address, error))
        except WireError as error:
            return Unanswered(_at(self.address, error))

    async def close(self) -> None:
        """End the connection, for good; who waits for an answer gets none."""
        self._is_closed = True
        if self._connection is not None:
            await self._connection.close()

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                host, port = self.address
                self._connection = await Connection.open(host, port, self._client_id, ANSWER_MS / 1000, self._security)
            if self._is_closed:
                await self._connection.close()
            return self._connection


def _at(address: Address, error: WireError) -> str:
    text = str(error)
    return text if place(address) in text or f"{address[0]}:{address[1]}" in text else f"{place(address)}: {text}"


class Observing:
    """For one event loop. Used once."""

    def __init__(
        self,
        addresses: Sequence[Address],
        follows: Follows,
        security: Security = PLAINTEXT,
        clock_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
        cluster_id: str | None = None,
        client_id: str = CLIENT_ID,
        replica: int = OBSERVER,
    ) -> None:
        """`cluster_id` makes every other cluster be refused; `client_id` tells controllers who asks.

        `replica` is the id of a broker that asks: controllers then tell of it as one that observes.
        """
        self._addresses = addresses
        self._follows = follows
        self._security = security
        self._clock_ms = clock_ms
        self._cluster_id = cluster_id
        self._client_id, self._replica = client_id, replica
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._controllers: dict[Address, Controller] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Follows until it is cancelled, or has come to an end that was told by `stand`."""
        try:
            decision = begin(self._addresses, self._clock_ms(), self._cluster_id)
            while self._carried_out(decision):
                event = await self._event(decision.wake_ms)
                decision = decide(decision.state, event, self._clock_ms())
        finally:
            for task in self._asking:
                task.cancel()
            await asyncio.gather(*self._asking, *self._closing, return_exceptions=True)
            await asyncio.gather(*(each.close() for each in self._controllers.values()))

    def _carried_out(self, decision: Decision) -> bool:
        """Whether there is more to come."""
        for command in decision.commands:
            self._carry_out(command)
        self._follows.stand(decision.standing)
        return not decision.state.ended

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Ask):
            _begin(self._ask(command), self._asking)
        elif isinstance(command, HangUp):
            if (controller := self._controllers.pop(command.address, None)) is not None:
                _begin(controller.close(), self._closing)
        else:
            self._follows.take(command)

    async def _ask(self, ask: Ask) -> None:
        if (controller := self._controllers.get(ask.address)) is None:
            controller = Controller(ask.address, self._security, self._client_id, self._replica)
            self._controllers[ask.address] = controller
        self._events.put_nowait(Answered(ask.number, await controller.ask(ask.question)))

    async def _event(self, wake_ms: int) -> Event:
        """The next answer; TimePassed where none comes before it is so late."""
        left_ms = wake_ms - self._clock_ms()
        if left_ms <= 0 and self._events.empty():
            return TimePassed()
        try:
            async with asyncio.timeout(max(left_ms, 0) / 1000):
                return await self._events.get()
        except TimeoutError:
            return TimePassed()


def _begin(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    """As one of these, until it is done."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
