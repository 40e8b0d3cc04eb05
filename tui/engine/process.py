"""The data service behind a pipe: the process opens the source that it is told, tells of its news, and answers."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from model.hosts.child_process import ParentProcess
from model.hosts.process import crash_line, keep
from model.sandbox.processes import SandboxError
from model.sources.source import SourceError
from tui.engine.messages import (
    SANDBOX,
    HeaderFacts,
    Opening,
    Pulse,
    Query,
)
from tui.engine.registry import REGISTRY
from tui.engine.router import queries_of
from tui.engine.sandbox.service import SandboxService
from tui.engine.service import DataService
from tui.engine.sources import source_of

KEPT_S = 1.0
"""From the first whole picture, which is asked for then, until what there is by then is kept."""


async def serve(output: BinaryIO) -> None:
    """Follows the source that the first message names, until standard input ends. Raises Garbled."""
    owner = await ParentProcess.of(output)
    opening = await owner.first(Opening)
    if opening is None:
        return
    async with contextlib.AsyncExitStack() as ends:
        # Opening takes seconds where servers have to be started first; the end of the input must be noticed meanwhile.
        service = asyncio.create_task(_open(opening, ends, owner.tell))
        owner.spawn(_tell(service, owner))

        async def answer(query: Query) -> object:
            return await (await asyncio.shield(service)).answer(query)

        await owner.answer_all(queries_of(REGISTRY), answer, crash_line)


async def _open(opening: Opening, ends: contextlib.AsyncExitStack, tell: Callable[[Pulse], object]) -> DataService:
    name, kind, sandbox = opening.name, opening.kind, None
    if opening.is_demo:
        from model.sandbox.demo.demo import DemoSandbox  # noqa: PLC0415 - only the demo pays for it

        kind, demo = "DEMO", DemoSandbox()
        await asyncio.to_thread(demo.open)
        ends.callback(demo.close)
        opening = msgspec.structs.replace(opening, source=demo.source, demo_began_ms=demo.began_ms)
    elif not opening.source:
        name, kind, sandbox = "sandbox", SANDBOX, SandboxService(opening.sandbox)
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
        acting=acting_in_sandbox(opening) if sandbox else opening,
    )
    service.open()
    ends.push_async_callback(service.close)
    return service


def acting_in_sandbox(opening: Opening) -> Opening:
    """The way in which a sandbox is acted on: its ZooKeeper, to be looked at; in KRaft mode brokers alone take it."""
    return opening if opening.sandbox.is_kraft else msgspec.structs.replace(opening, bootstrap="")


async def _tell(opened: "asyncio.Task[DataService]", owner: ParentProcess) -> None:
    try:
        service, is_whole = await opened, False
        async for pulse in service.pulses():
            owner.tell(pulse)
            await owner.drain()  # a UI that is suspended reads nothing; pulses must not pile up meanwhile
            if not is_whole and service.moment.image.provenance.complete:
                is_whole = True
                asyncio.get_running_loop().call_later(KEPT_S, keep)
    except (SourceError, SandboxError) as error:
        owner.tell(Pulse(0, HeaderFacts(), fatal=str(error)))
    except Exception as error:  # better no dashboard than one that stands still
        owner.tell(Pulse(0, HeaderFacts(), fatal=crash_line(error)))
