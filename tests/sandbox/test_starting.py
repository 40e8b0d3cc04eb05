"""A sandbox that is ended while it starts leaves none of its processes behind."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from model.sandbox.cluster.chronicle import Chronicle
from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.cluster.sandbox_cluster import SandboxCluster
from model.sandbox.cluster.starting import started
from model.sandbox.errors import SandboxError
from tests.sandbox.conftest import EventuallyAsync


async def test_who_is_cancelled_while_something_starts_ends_it():
    ended: list[str] = []

    def start() -> str:
        time.sleep(0.1)
        return "a server"

    starting = asyncio.create_task(started(start, ended.append))
    await asyncio.sleep(0.02)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert ended == ["a server"]


async def test_what_could_not_be_started_is_not_ended():
    ended: list[object] = []

    def fail() -> None:
        time.sleep(0.1)
        raise SandboxError("no Java")

    with pytest.raises(SandboxError, match="no Java"):
        await started(fail, ended.append)
    starting = asyncio.create_task(started(fail, ended.append))
    await asyncio.sleep(0.02)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert ended == []


async def test_a_start_that_is_called_off_leaves_no_process(tmp_path: Path, eventually_async: EventuallyAsync):
    cluster = SandboxCluster(SandboxOptions(brokers=1, folder=str(tmp_path / "lab")), Chronicle(lambda _: None))
    starting = asyncio.create_task(cluster.start())
    await eventually_async(lambda: any("zoo.cfg" in each for each in command_lines(tmp_path)))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert command_lines(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def command_lines(named: Path) -> list[str]:
    """Of every process whose command line names a folder."""
    found: list[str] = []
    for entry in os.scandir("/proc"):
        try:
            words = Path(entry.path, "cmdline").read_text(errors="replace")
        except OSError:
            continue
        if str(named) in words:
            found.append(words)
    return found
