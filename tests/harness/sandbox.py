"""A sandbox: in this process, and as `kdrill sandbox --headless`. Each serves in its block, and has ended after it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

from model.sandbox import faults
from model.sandbox.broker_process import LIVE_BROKER
from model.sandbox.control.sandbox import RunningSandbox
from model.sandbox.messages import OnEvent
from model.sandbox.options import SandboxOptions
from model.sandbox.scenario import Expectation, SandboxScenario, ScenarioStep
from tests.harness.command import running

ONE_BROKER = ("--brokers", "1", "--topics", "1", "--partitions", "1")
"""The quickest to start."""


@asynccontextmanager
async def started_sandbox(
    options: SandboxOptions, tell: OnEvent = lambda _: None, broker_command: Sequence[str] = LIVE_BROKER
) -> AsyncIterator[RunningSandbox]:
    """`tell` hears what happens in it."""
    sandbox = RunningSandbox(options, tell, lambda _: None, broker_command)
    try:
        await sandbox.start()
        yield sandbox
    finally:
        await sandbox.close()


async def play(sandbox: RunningSandbox, *what: faults.Deed | Expectation) -> None:
    """One after the other; each must pass."""
    outcome = await sandbox.play(SandboxScenario(steps=tuple(ScenarioStep(0, each) for each in what)))
    assert outcome.passed, [step.text for step in outcome.steps if not step.passed]


class Headless(NamedTuple):
    """The command, and the line that it prints once everything serves."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]


def ready_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Waits for it. Fails with what the command says instead."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    ready = json.loads(line)
    assert ready["format"] == "kdrill.sandbox/1"
    assert ready["zookeeper"].endswith("/kafka") != bool(ready["controllers"])
    return ready


@contextmanager
def headless_sandbox(*arguments: str) -> Iterator[Headless]:
    """Killed at the end, if it has not ended."""
    with running("sandbox", "--headless", *arguments) as process:
        yield Headless(process, ready_line(process))
