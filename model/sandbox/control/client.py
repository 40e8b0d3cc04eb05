"""Starts a sandbox in a process of its own and orders it about. For one event loop; loads nothing of what that does.

The process ends, and all of its children with it, when this one does, however that happens.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from model.hosts.child_process import AskedChild
from model.sandbox.faults import Deed
from model.sandbox.messages import (
    Audit,
    AuditReport,
    ControlNews,
    Done,
    Order,
    SandboxEvent,
    SandboxReady,
    SandboxState,
    SessionScenario,
)
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError

T = TypeVar("T")

CONTROL = (sys.executable, "-P", "-m", "model.sandbox.control")
"""-P: whatever lies in the current folder is not ours."""

OnEvent = Callable[[SandboxEvent], None]
OnState = Callable[[SandboxState], None]


class SandboxClient:
    """One sandbox, from `open` to `close`."""

    def __init__(self, options: SandboxOptions, command: Sequence[str] = CONTROL) -> None:
        """Starts the process at once, so that it loads while this one goes on; `open` waits for it."""
        self.state = SandboxState()
        """How the sandbox stood when it last said so."""
        self._child = AskedChild[ControlNews]("the sandbox's process", command, ControlNews, SandboxError)
        self._child.begin(options)
        self._ready: asyncio.Future[SandboxReady] | None = None

    @property
    def pid(self) -> int:
        """The control process's id."""
        return self._child.pid

    async def open(self, on_event: OnEvent, on_state: OnState) -> SandboxReady:
        """Wait until every broker serves. Raises SandboxError: one line that says why it can't.

        Both callables are called on the event loop, from now until `close`; the last event may be that the
        sandbox's own process is gone.
        """
        self._ready = ready = asyncio.get_running_loop().create_future()

        def hear(told: ControlNews) -> None:
            if told.event is not None:
                on_event(told.event)
            elif told.state is not None:
                self.state = told.state
                on_state(told.state)
            elif told.ready is not None:
                ready.set_result(told.ready)
            elif told.failed is not None:
                self._lose(told.failed)

        async def end(why: str) -> None:
            if ready.done():  # else whoever waits for it to be ready is told
                on_event(SandboxEvent(number=0, at_ms=time.time_ns() // 1_000_000, kind="process", text=why))
            self._lose(why)

        await self._child.open(hear, end)
        return await ready

    async def do(self, deed: Deed) -> Done:
        """Carry out a fault or a repair. Raises SandboxError: refused, with the reason, or the process is gone."""
        return await self._ask(Order(do=deed), Done)

    async def audit(self) -> AuditReport:
        """Stop the load's producer and prove what became of its records. Raises SandboxError, also without load."""
        return await self._ask(Order(ask=Audit()), AuditReport)

    async def scenario(self) -> str:
        """What was ordered so far, as the text of a scenario file (TOML). Raises SandboxError."""
        return await self._ask(Order(ask=SessionScenario()), str)

    async def close(self) -> None:
        """End the sandbox and everything in it."""
        self._lose("the sandbox was closed")
        await self._child.close("the sandbox was closed")

    async def _ask(self, order: Order, answer: type[T]) -> T:
        if self._ready is None:
            raise SandboxError("the sandbox is not open")
        return await self._child.ask(order, answer)

    def _lose(self, why: str) -> None:
        self._child.lose(why)
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(SandboxError(why))
            self._ready.exception()  # looked at, or asyncio complains where nobody waits any more
