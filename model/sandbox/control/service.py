"""Takes orders from one client over a pair of pipes, for one sandbox. What orders mean is not known here."""

import asyncio
import signal
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from model.hosts.crash_reports import crash_line
from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.control.messages import Audit, Order, SessionScenario, Told
from model.sandbox.control.sandbox import Sandbox
from model.sandbox.errors import SandboxError
from model.sandbox.scenarios.scenario import read_scenario

LONGEST_LINE_BYTES = 1 << 20
MOST_UNREAD_BYTES = 1 << 18


async def serve(source: BinaryIO, target: BinaryIO) -> None:
    """One sandbox, from the first line to the end of the input, or SIGTERM."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(LONGEST_LINE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, target)
    service = Service(asyncio.StreamWriter(transport, protocol, None, loop))
    work = asyncio.create_task(service.run(reader))
    loop.add_signal_handler(signal.SIGTERM, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        pass
    finally:
        await service.close()


class Service:
    """Between the pipes and the sandbox."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._sandbox: Sandbox | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, reader: asyncio.StreamReader) -> None:
        """Take orders until they end."""
        try:
            options = msgspec.json.decode(await reader.readline(), type=SandboxOptions)
        except msgspec.MsgspecError as error:
            self._tell(Told(failed=f"these are no options: {error}"))
            return
        self._spawn(self._open(options))
        while line := await reader.readline():
            self._spawn(self._obey(line))

    async def close(self) -> None:
        """End the sandbox."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._sandbox is not None:
            await self._sandbox.close()

    async def _open(self, options: SandboxOptions) -> None:
        try:
            self._sandbox = Sandbox(
                options,
                lambda event: self._tell(Told(event=event)),
                lambda state: self._tell(Told(state=state)),
            )
            self._tell(Told(ready=await self._sandbox.start()))
            if options.scenario is not None:
                await self._sandbox.play(read_scenario(Path(options.scenario)))
        except SandboxError as error:
            self._tell(Told(failed=str(error)))

    async def _obey(self, line: bytes) -> None:
        try:
            order = msgspec.json.decode(line, type=Order)
        except msgspec.MsgspecError as error:
            self._tell(Told(id=_id_in(line), refused=f"this is no order: {error}"))
            return
        try:
            self._tell(await self._answer(order))
        except SandboxError as error:
            self._tell(Told(id=order.id, refused=str(error)))
        except Exception as error:  # one order failed; the sandbox lives on
            self._tell(Told(id=order.id, refused=crash_line(error)))

    async def _answer(self, order: Order) -> Told:
        sandbox = self._sandbox
        if sandbox is None:
            raise SandboxError("the sandbox does not serve yet")
        if order.do is not None:
            return Told(id=order.id, done=await sandbox.do(order.do))
        match order.ask:
            case Audit():
                return Told(id=order.id, report=await sandbox.audit())
            case SessionScenario():
                return Told(id=order.id, scenario=sandbox.scenario_text())
            case None:
                raise SandboxError("an order needs `do` or `ask`")

    def _tell(self, told: Told) -> None:
        """Never waits: while a client is suspended, the links must go on. It misses states then, and no events."""
        if told.state is not None and self._writer.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            return
        if not self._writer.is_closing():
            self._writer.write(msgspec.json.encode(told) + b"\n")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _id_in(line: bytes) -> int | None:
    try:
        number = msgspec.json.decode(line, type=dict[str, object], strict=False).get("id")
    except msgspec.MsgspecError:
        return None
    return number if isinstance(number, int) else None
