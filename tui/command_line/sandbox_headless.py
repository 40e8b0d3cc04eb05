"""A sandbox without a dashboard: one line once it serves, and then until it is told to end. Draws nothing."""

import asyncio
import json
import os
import signal
import stat
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click
import msgspec

from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.control.sandbox import Sandbox
from model.sandbox.control.state import SandboxEvent, SandboxState
from model.sandbox.scenarios.scenario import read_scenario
from tui.text import plain

ENDS_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PASSED, FAILED = 0, 2


async def serve(options: SandboxOptions, scenario: Path | None) -> int:
    """Until a signal, or until the scenario is through; the exit code. Raises SandboxError."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in ENDS_BY:
        loop.add_signal_handler(number, told.set)
    _watch_owner(loop, told)
    sandbox = Sandbox(options, _tell, _ignore)
    work = asyncio.create_task(_work(sandbox, scenario, told))
    end = asyncio.create_task(told.wait())
    try:
        await asyncio.wait([work, end], return_when=asyncio.FIRST_COMPLETED)
        end.cancel()
        work.cancel()
        with suppress(asyncio.CancelledError):
            return await work
        return PASSED if scenario is None else FAILED
    finally:
        await sandbox.close()


async def _work(sandbox: Sandbox, scenario: Path | None, told: asyncio.Event) -> int:
    _print(await sandbox.start())
    if scenario is None:
        await told.wait()
        return PASSED
    outcome = await sandbox.play(read_scenario(scenario))
    _print(outcome)
    return PASSED if outcome.passed else FAILED


def _watch_owner(loop: asyncio.AbstractEventLoop, told: asyncio.Event) -> None:
    """Whoever started this with a pipe as standard input ends it by ending."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return

    def read() -> None:
        if not os.read(0, 65_536):
            loop.remove_reader(0)
            told.set()

    loop.add_reader(0, read)


def _print(line: msgspec.Struct) -> None:
    # In ASCII: a folder's name may be anything, and the line may be read on a terminal.
    click.echo(json.dumps(msgspec.to_builtins(line), separators=(",", ":")))
    sys.stdout.flush()


def _tell(event: SandboxEvent) -> None:
    at = datetime.fromtimestamp(event.at_ms / 1000).strftime("%H:%M:%S.%f")[:-3]
    cause = f" (fault {event.fault})" if event.fault is not None else ""
    for line in (f"{at} {event.kind}: {event.text}{cause}", *(f"    {detail}" for detail in event.details)):
        click.echo(plain(line), err=True)


def _ignore(state: SandboxState) -> None:
    """Nobody looks at it."""
