"""A sandbox without a dashboard: one line once it serves, and then until it is told to end. Draws nothing."""

import asyncio
import os
import signal
import stat
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click
import msgspec

from model.sandbox.control.sandbox import RunningSandbox
from model.sandbox.first_topics import first_topics
from model.sandbox.messages import SandboxEvent, SandboxState, uses
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import read_scenario
from tui.cli.output import json_line, tell

ENDS_BY = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PASSED, FAILED = 0, 2


async def serve(options: SandboxOptions, scenario: Path | None) -> int:
    """Until a signal, the end of its owner, or until the scenario is through; the exit code.

    Raises SandboxError, also where it is to end before it serves.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[str] = loop.create_future()
    for number in ENDS_BY:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
            loop.add_signal_handler(number, _end, told, f"{number.name} came")
    _watch_owner(loop, told)
    sandbox = RunningSandbox(options, _tell, _ignore)
    serving = asyncio.Event()
    work = asyncio.create_task(_work(sandbox, options, scenario, serving))
    try:
        await asyncio.wait([work, told], return_when=asyncio.FIRST_COMPLETED)
        work.cancel()
        with suppress(asyncio.CancelledError):
            return await work
        if not serving.is_set():
            raise SandboxError(f"the sandbox ended before it served: {told.result()}")
        return PASSED if scenario is None else FAILED
    finally:
        await sandbox.close()


async def _work(sandbox: RunningSandbox, options: SandboxOptions, scenario: Path | None, serving: asyncio.Event) -> int:
    ready = await sandbox.start()
    serving.set()
    _print(ready)
    if scenario is None:
        topic = next((topic.name for topic in first_topics(options)), "TOPIC")
        for client, line in uses(ready.bootstrap, topic).items():
            tell(f"{client:8} {line}", head="")
        await asyncio.Event().wait()  # until it is cancelled
        return PASSED
    outcome = await sandbox.play(read_scenario(scenario))
    _print(outcome)
    return PASSED if outcome.passed else FAILED


def _end(told: "asyncio.Future[str]", why: str) -> None:
    if not told.done():
        told.set_result(why)


def _watch_owner(loop: asyncio.AbstractEventLoop, told: "asyncio.Future[str]") -> None:
    """Whoever started this with a pipe as standard input ends it by ending."""
    if sys.stdin is None or not stat.S_ISFIFO(os.fstat(0).st_mode):  # None: it was closed, and 0 is something else
        return

    def read() -> None:
        if not os.read(0, 65_536):
            loop.remove_reader(0)
            _end(told, "standard input is a pipe whose other end is closed; use </dev/null to keep it running")

    loop.add_reader(0, read)


def _print(line: msgspec.Struct) -> None:
    click.echo(json_line(msgspec.to_builtins(line)))
    sys.stdout.flush()


def _tell(event: SandboxEvent) -> None:
    at = datetime.fromtimestamp(event.at_ms / 1000).strftime("%H:%M:%S.%f")[:-3]
    cause = f" (fault {event.fault})" if event.fault is not None else ""
    about = event.subject if event.kind in ("group", "isr") else event.kind
    for line in (f"{at} {about}: {event.text}{cause}", *(f"    {detail}" for detail in event.details)):
        tell(line, head="")


def _ignore(state: SandboxState) -> None:
    """Nobody looks at it."""
