"""Starts a sandbox in a process of its own and orders it about. For one event loop; loads nothing of what that does.

The process ends, and all of its children with it, when this one does, however that happens.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from model.hosts.background import ChildProcess
from model.sandbox.control.messages import (
    Audit,
    Done,
    Order,
    SandboxEvent,
    SandboxOptions,
    SandboxReady,
    SandboxState,
    SessionScenario,
    Told,
)
from model.sandbox.faults.faults import Deed
from model.sandbox.load.messages import AuditReport
from model.sandbox.processes import SandboxError

CONTROL = (sys.executable, "-P", "-m", "model.sandbox.control")
"""-P: whatever lies in the current folder is not ours."""
LONGEST_LINE_BYTES = 16 << 20
FAREWELL_S = 15.0

OnEvent = Callable[[SandboxEvent], None]
OnState = Callable[[SandboxState], None]


class SandboxClient:
    """One sandbox, from `open` to `close`."""

    def __init__(self, options: SandboxOptions, command: Sequence[str] = CONTROL) -> None:
        """Starts the process at once, so that it loads while this one goes on; `open` waits for it."""
        self.state = SandboxState()
        """How the sandbox stood when it last said so."""
        self._process = ChildProcess(command)
        self._options = options
        self._writer: asyncio.StreamWriter | None = None
        self._ready: asyncio.Future[SandboxReady] | None = None
        self._asked: dict[int, asyncio.Future[Told]] = {}
        self._last_id = 0
        self._lost: SandboxError | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The control process's id."""
        return self._process.pid

    async def open(self, on_event: OnEvent, on_state: OnState) -> SandboxReady:
        """Wait until every broker serves. Raises SandboxError: one line that says why it can't.

        Both callables are called on the event loop, from now until `close`; the last event may be that the
        sandbox's own process is gone.
        """
        self._writer = await self._process.open_input()
        self._ready = asyncio.get_running_loop().create_future()
        self._listening = asyncio.create_task(self._listen(on_event, on_state))
        self._send(self._options)
        return await self._ready

    async def do(self, deed: Deed) -> Done:
        """Carry out a fault or a repair. Raises SandboxError: refused, with the reason, or the process is gone."""
        told = await self._ask(Order(self._next_id(), do=deed))
        return told.done or Done("")

    async def audit(self) -> AuditReport:
        """Stop the load's producer and prove what became of its records. Raises SandboxError, also without load."""
        told = await self._ask(Order(self._next_id(), ask=Audit()))
        assert told.report is not None
        return told.report

    async def scenario(self) -> str:
        """What was ordered so far, as the text of a scenario file (TOML). Raises SandboxError."""
        told = await self._ask(Order(self._next_id(), ask=SessionScenario()))
        return told.scenario or ""

    async def close(self) -> None:
        """End the sandbox and everything in it."""
        if self._listening is not None:
            self._listening.cancel()
        self._lose(SandboxError("the sandbox was closed"))
        (self._writer or self._process.input).close()
        await asyncio.to_thread(self._process.wait_or_kill, FAREWELL_S)

    async def _ask(self, order: Order) -> Told:
        if self._lost is not None or self._writer is None:
            raise self._lost or SandboxError("the sandbox is not open")
        answer = self._asked[order.id] = asyncio.get_running_loop().create_future()
        self._send(order)
        told = await answer
        if told.refused is not None:
            raise SandboxError(told.refused)
        return told

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _send(self, message: SandboxOptions | Order) -> None:
        assert self._writer is not None
        self._writer.write(msgspec.json.encode(message) + b"\n")

    async def _listen(self, on_event: OnEvent, on_state: OnState) -> None:
        reader = await self._process.open_output(LONGEST_LINE_BYTES)
        decoder = msgspec.json.Decoder(Told)
        try:
            while line := await reader.readline():
                self._hear(decoder.decode(line), on_event, on_state)
        except (ValueError, msgspec.MsgspecError) as error:
            self._process.kill()
            self._lose(SandboxError(f"the sandbox's process sent what is no message: {error}"))
        lost = f"the sandbox's process ended ({await self._process.why_it_ended()})"
        is_news = self._ready is not None and self._ready.done()
        self._lose(SandboxError(lost))
        if is_news:  # else whoever waits for it to be ready is told
            on_event(SandboxEvent(number=0, at_ms=time.time_ns() // 1_000_000, kind="process", text=lost))

    def _hear(self, told: Told, on_event: OnEvent, on_state: OnState) -> None:
        assert self._ready is not None
        if told.event is not None:
            on_event(told.event)
        elif told.state is not None:
            self.state = told.state
            on_state(told.state)
        elif told.ready is not None:
            self._ready.set_result(told.ready)
        elif told.failed is not None:
            self._lose(SandboxError(told.failed))
        elif told.id is not None and (answer := self._asked.pop(told.id, None)) and not answer.done():
            answer.set_result(told)

    def _lose(self, lost: SandboxError) -> None:
        self._lost = self._lost or lost
        waiting: list[asyncio.Future[Any]] = [*self._asked.values(), *([self._ready] if self._ready else [])]
        self._asked.clear()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(self._lost)
                answer.exception()  # looked at, or asyncio complains about those whom nobody waits for any more
