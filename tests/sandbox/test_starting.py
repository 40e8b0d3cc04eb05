"""A sandbox that is ended while it starts leaves none of its processes behind."""

import asyncio
import subprocess
import threading
from pathlib import Path

import pytest

from model.sandbox.messages import EventFeed
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.sandbox_cluster import SandboxCluster
from model.sandbox.server_process import started
from tests.harness.waiting import eventually_async


class SlowStart:
    """A start that goes on when it is told to."""

    def __init__(self, error: SandboxError | None = None) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()
        self._error = error

    def __call__(self) -> str:
        self.began.set()
        assert self.goes_on.wait(60)
        if self._error is not None:
            raise self._error
        return "a server"


async def ended_by_a_cancellation(start: SlowStart) -> list[str]:
    """What was ended after somebody was cancelled who had it started."""
    ended: list[str] = []
    starting = asyncio.create_task(started(start, ended.append))
    assert await asyncio.to_thread(start.began.wait, 60)
    starting.cancel()
    start.goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await starting
    return ended


async def test_who_is_cancelled_while_something_starts_ends_it():
    assert await ended_by_a_cancellation(SlowStart()) == ["a server"]


async def test_what_could_not_be_started_is_not_ended():
    ended: list[str] = []
    start = SlowStart(SandboxError("no Java"))
    start.goes_on.set()
    with pytest.raises(SandboxError, match="no Java"):
        await started(start, ended.append)
    assert ended == []
    assert await ended_by_a_cancellation(SlowStart(SandboxError("no Java"))) == []


async def test_a_start_that_is_called_off_leaves_no_process(tmp_path: Path):
    cluster = SandboxCluster(SandboxOptions(brokers=1, folder=str(tmp_path / "lab")), EventFeed(lambda _: None))
    starting = asyncio.create_task(cluster.start())
    await eventually_async(lambda: any("zoo.cfg" in each for each in command_lines(tmp_path)))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert command_lines(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def command_lines(named: Path) -> list[str]:
    """Of every process whose command line names a folder."""
    asked = subprocess.run(
        ["ps", "-A", "-ww", "-o", "args="], capture_output=True, check=True, text=True, errors="replace"
    )
    return [line for line in asked.stdout.splitlines() if str(named) in line]
