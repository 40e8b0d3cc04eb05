"""What goes wrong before Spark serves, and after: one line each, nothing left behind, and it can be started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from model.hosts.child_process import LENGTH_BYTES, NewsMessage, frame
from model.sandbox.processes import free_port
from spark_tasks.messages import Begin, SparkLost, SparkOptions, SparkStatus
from spark_tasks.spark_client import SparkClient
from tests.harness.waiting import eventually
from tests.spark.engine.held_job import DEADLINE_S, HeldJob
from tests.spark.engine.sums import SUMS, SumsParameters
from tests.spark.running_spark import RunningSpark

ARRAYS = {"values": np.arange(1000)}
NO_RESULT = ("", "NO_SUCH", "spark://", "spark://host", "local[0]", "local[two]", "http://127.0.0.1:80", "yarn-client")


async def reason_of_failure(*command: str, master: str = "local[2]") -> str:
    """Why it can't start, which it says once by an exception and once by its status."""
    told: list[SparkStatus] = []
    client = SparkClient(SparkOptions(master=master), told.append, *([command] if command else []))
    with pytest.raises(SparkLost) as failure:
        await client.start()
    assert client.status.state == "failed"
    assert client.status.reason == str(failure.value)
    assert "\n" not in client.status.reason
    await client.close()
    assert [status.state for status in told if status.state in ("failed", "off")] == ["failed", "off"]
    return str(failure.value)


@pytest.mark.parametrize("master", NO_RESULT)
async def test_what_is_no_master(master: str):
    reason = await reason_of_failure(master=master)
    assert reason.startswith(f"--spark-master {master!r}: no master is written so; write local[2], spark://host:7077")


async def test_a_master_that_is_not_there():
    port = free_port(0)
    reason = await reason_of_failure(master=f"spark://127.0.0.1:{port}")
    assert reason.startswith(f"no Spark master answers at 127.0.0.1:{port} (Connection refused): is it running")


async def test_no_java(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    for name in ("JAVA_HOME", "KDRILL_JAVA"):
        monkeypatch.delenv(name, raising=False)
    assert (await reason_of_failure()).startswith("no Java found on PATH or in JAVA_HOME. Install Java 17 or newer")


def fake_java(folder: Path, version: str, then: str = "exit 1") -> str:
    program = folder / "java"
    program.write_text(f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}"\' >&2 && exit\n{then}\n')
    program.chmod(0o755)
    return str(program)


async def test_java_is_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("KDRILL_JAVA", fake_java(tmp_path, "1.8.0_402"))
    assert (await reason_of_failure()).startswith("Java 17 or newer is needed; found Java 1.8.0_402 at")


async def test_java_that_ends_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("KDRILL_JAVA", fake_java(tmp_path, "21.0.1", "echo 'Error: out of luck' >&2; exit 1"))
    assert await reason_of_failure() == "Spark's Java process ended (Error: out of luck)"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.exit('out of luck')", "the Spark process ended (out of luck)"),
        ("import os; os.kill(os.getpid(), 9)", "the Spark process ended (killed by SIGKILL)"),
        ("print('hello', flush=True); input()", "the Spark process sent a message of "),
    ],
)
async def test_a_process_that_is_none_of_ours(program: str, reason: str):
    assert (await reason_of_failure(sys.executable, "-c", program)).startswith(reason)


def statuses(said: bytes) -> list[SparkStatus]:
    """What a process told, from its frames."""
    found: list[SparkStatus] = []
    while said:
        end = LENGTH_BYTES + int.from_bytes(said[:LENGTH_BYTES], "big")
        told = msgspec.msgpack.decode(said[LENGTH_BYTES:end], type=NewsMessage)
        found.append(msgspec.msgpack.decode(told.news, type=SparkStatus))
        said = said[end:]
    return found


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (Begin(SparkOptions(master="spork"), "FOLDER"), "--spark-master 'spork': no master is"),
        ("nonsense", "this is no beginning: no message: "),
        (None, "this is no beginning: no message: "),
    ],
)
def test_the_process_ends_in_order_once_it_has_failed(tmp_path: Path, first: Begin | str | None, reason: str):
    folder = tmp_path / "files"
    folder.mkdir()
    told = subprocess.run(
        [sys.executable, "-m", "spark_tasks"],
        input=frame(Begin(first.options, str(folder)) if isinstance(first, Begin) else first),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert told.returncode == 0
    assert told.stderr == b""
    last = statuses(told.stdout)[-1]
    assert last.reason.startswith(reason)
    assert last.state == "failed"
    assert folder.exists() is not isinstance(first, Begin)


@pytest.mark.thorough  # waits half a minute
def test_killed_in_mid_job_it_can_be_started_again(tmp_path: Path, is_gone):
    """First Java, then the process that started it. In the end nothing is left of either."""
    victims = {"Java": (1, "Spark's Java process ended"), "process": (0, "the Spark process ended (killed by SIGKILL)")}
    with RunningSpark("local[2]") as spark:
        for victim, (place, reason) in victims.items():
            held = HeldJob(tmp_path / victim)
            held.folder.mkdir()
            parameters = SumsParameters(folder=str(held.folder), held=(0,))
            working = spark.begin(SUMS, ARRAYS, parameters, "doomed")
            worker = held.workers()[0]
            pids = spark.client.status.pids
            os.kill(pids[place], signal.SIGKILL)
            with pytest.raises(SparkLost) as failure:
                working.result(DEADLINE_S)
            assert str(failure.value).startswith(reason)
            assert spark.client.status.state == "failed"
            for pid in (*pids, worker):
                eventually(lambda pid=pid: is_gone(pid))


OWNER = """
import asyncio, sys
import numpy as np
from spark_tasks.spark_client import SparkClient
from spark_tasks.messages import SparkOptions
from tests.spark.engine.sums import SUMS, SumsParameters
def tell(status):
    if len(status.pids) > 1:
        print(*status.pids, flush=True)
async def main(folder):
    client = SparkClient(SparkOptions(master="local[2]", build_archive=False), tell)
    await client.run(SUMS, {"values": np.arange(10)}, SumsParameters(folder=folder, held=(0,)), "held")
asyncio.run(main(sys.argv[1]))
"""


MAKES_ITS_FOLDER_AGAIN = """
folder=$PWD
echo > "$MARKS/begun"
while [ -e "$folder" ]; do sleep 0.02; done
sleep 1
mkdir -p "$folder"
echo > "$folder/gateway"
echo > "$MARKS/ended"
"""
"""As Spark's Java does where it is alone before it has listened to its input. After a second: by then a guard that did
not wait for it is through."""


@pytest.mark.parametrize("owner_too", [False, True], ids=["Spark", "Spark and its owner"])
def test_java_that_makes_its_folder_again_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner_too: bool
):
    files, marks = tmp_path / "files", tmp_path / "marks"
    files.mkdir()
    marks.mkdir()
    monkeypatch.setenv("TMPDIR", str(files))
    monkeypatch.setenv("MARKS", str(marks))
    monkeypatch.setenv("KDRILL_JAVA", fake_java(tmp_path, "21.0.1", MAKES_ITS_FOLDER_AGAIN))
    with subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        eventually((marks / "begun").exists)
        spark = int(owner.stdout.readline().split()[0])
        os.kill(spark, signal.SIGKILL)
        if owner_too:
            owner.kill()
        eventually((marks / "ended").exists)
        owner.kill()
    eventually(lambda: not list(files.iterdir()))


@pytest.mark.parametrize("busy", [False, True], ids=["starting", "busy"])
def test_nothing_outlives_an_owner_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_gone: Callable[[int], bool], busy: bool
):
    files, held = tmp_path / "files", HeldJob(tmp_path / "held")
    files.mkdir()
    held.folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(files))
    command = [sys.executable, "-c", OWNER, str(held.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        assert not any(map(is_gone, pids))
        if busy:
            pids += held.workers().values()
        owner.kill()
    for pid in pids:
        eventually(lambda pid=pid: is_gone(pid))
    eventually(lambda: not list(files.iterdir()))
