"""What the data process does: opens the source that it is told, tells of its news, and answers."""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from model.hosts.crash_reports import crash_line
from model.sandbox.errors import SandboxError
from model.sources.source import SourceError
from tui.data import wire
from tui.data.messages import SANDBOX, HeaderFacts, Pulse
from tui.data.opened import source_of
from tui.data.opening import Opening
from tui.data.sandbox.desk import SandboxDesk
from tui.data.service import DataService


async def serve(output: BinaryIO) -> None:
    """Follows the source that the first message names, until standard input ends. Raises `wire.Garbled`."""
    reader, writer = await wire.reader_of(sys.stdin.buffer), await wire.writer_of(output)
    opening = await wire.read(reader, msgspec.msgpack.Decoder(Opening))
    if opening is None:
        return
    async with contextlib.AsyncExitStack() as ends:
        # Opening takes seconds where servers have to be started first; the end of the input must be noticed meanwhile.
        service = asyncio.create_task(_open(opening, ends, lambda pulse: writer.write(wire.frame(pulse))))
        tasks = {asyncio.create_task(_tell(service, writer))}
        decoder = msgspec.msgpack.Decoder(wire.Asked)
        while (asked := await wire.read(reader, decoder)) is not None:
            task = asyncio.create_task(_answer(service, asked, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


async def _open(opening: Opening, ends: contextlib.AsyncExitStack, tell: Callable[[Pulse], object]) -> DataService:
    name, kind, sandbox = opening.name, opening.kind, None
    if opening.is_demo:
        from model.sandbox.demo_sandbox import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

        kind, demo = "DEMO", DemoSandbox()
        await asyncio.to_thread(demo.open)
        ends.callback(demo.close)
        opening = msgspec.structs.replace(opening, source=demo.source)
    elif not opening.source:
        name, kind, sandbox = "sandbox", SANDBOX, SandboxDesk(opening.sandbox)
        ends.push_async_callback(sandbox.close)
        starting = HeaderFacts(name, kind=kind, phase="starting")
        source = await sandbox.open(lambda who: tell(Pulse(0, msgspec.structs.replace(starting, reason=who))))
        opening = msgspec.structs.replace(opening, source=source, bootstrap=sandbox.bootstrap)
    service = DataService(
        source_of(opening),
        name=name,
        kind=kind,
        sandbox=sandbox,
        spark_master=opening.spark_master,
        is_served=opening.is_served,
        acting=msgspec.structs.replace(opening, bootstrap="") if sandbox else opening,
    )
    service.open()
    ends.push_async_callback(service.close)
    return service


async def _tell(opened: "asyncio.Task[DataService]", writer: asyncio.StreamWriter) -> None:
    try:
        async for pulse in (await opened).pulses():
            writer.write(wire.frame(pulse))
            await writer.drain()  # a UI that is suspended reads nothing; pulses must not pile up meanwhile
    except (SourceError, SandboxError) as error:
        writer.write(wire.frame(Pulse(0, HeaderFacts(), fatal=str(error))))
    except Exception as error:  # better no dashboard than one that stands still
        writer.write(wire.frame(Pulse(0, HeaderFacts(), fatal=crash_line(error))))


async def _answer(opened: "asyncio.Task[DataService]", asked: wire.Asked, writer: asyncio.StreamWriter) -> None:
    try:
        answer = await (await asyncio.shield(opened)).answer(asked.query)
        writer.write(wire.frame(wire.Answered(asked.id, msgspec.Raw(wire.encode(answer)))))
    except Exception as error:  # one answer failed; the others, and the terminal, live on
        writer.write(wire.frame(wire.Answered(asked.id, failure=crash_line(error))))
