"""The data process itself, real: what it tells, what it answers, and that it never stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kazoo.security import make_digest_acl

from model.hosts.child_process import QuestionAsked, frame, raw
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.demo_tree import demo_tree
from tests.harness.waiting import eventually
from tests.harness.zookeeper import kazoo
from tests.tui.data.pulses import Pulses, live
from tui.engine.cluster.queries import BrokerList, ZnodeList, ZnodeText
from tui.engine.link import DATA_PROCESS, ProcessLink
from tui.engine.messages import Login, Opening

OWNER = """
import asyncio, os, subprocess
from tui.engine.link import ProcessLink
from tui.engine.messages import Opening

async def main():
    link = ProcessLink(Opening(is_demo=True))
    print(link.pid, "started", flush=True)
    await link.open(lambda pulse: print(link.pid, pulse.header.phase, flush=True))
    await asyncio.sleep(600)

asyncio.run(main())
"""


@asynccontextmanager
async def linked(opening: Opening) -> AsyncIterator[tuple[ProcessLink, Pulses]]:
    link, pulses = ProcessLink(opening), Pulses()
    await link.open(pulses.hear)
    try:
        yield link, pulses
    finally:
        await link.close()


async def test_it_follows_a_cluster_and_answers(zookeeper: str, is_gone: Callable[[int], bool]) -> None:
    with demo_tree(zookeeper) as tree:
        async with linked(Opening(source=tree.source, name="prod-eu1")) as (link, pulses):
            before = await pulses.until(live)
            assert before.header.cluster == "prod-eu1"
            assert before.header.brokers_up == (await link.rows(BrokerList())).total - 1
            assert (await link.rows(ZnodeList(opened=("/",)))).total > 3
            assert (await link.text(ZnodeText(key="/controller_epoch"))).lines
            tree.cluster.lose_broker(1)
            after = await pulses.until(lambda pulse: live(pulse) and pulse.header.brokers_up < before.header.brokers_up)
            assert after.seq > before.seq
    assert is_gone(link.pid)


@pytest.mark.parametrize("source", ["zk://:2181", "no/such/file.json", "zk://127.0.0.1:1/kafka"])
async def test_a_source_that_cannot_be_opened_is_told_in_one_line(source: str) -> None:
    async with linked(Opening(source=source, connect_timeout_s=1)) as (_, pulses):
        pulse = await pulses.until(lambda pulse: pulse.fatal)
        assert source in pulse.fatal
        assert "\n" not in pulse.fatal


async def test_secrets_reach_it_unseen_and_open_what_they_should(zookeeper: str) -> None:
    with kazoo(zookeeper, default_acl=[make_digest_acl("ann", "s3cret", all=True)]) as client:
        client.add_auth("digest", "ann:s3cret")
        client.create("/brokers/ids", makepath=True)
    source = f"zk://{zookeeper}"
    async with linked(Opening(source=source)) as (_, pulses):
        assert "no permission to read /brokers" in (await pulses.until(lambda pulse: pulse.fatal)).fatal
    async with linked(Opening(source=source, login=Login(credentials=(("digest", "ann:s3cret"),)))) as (link, pulses):
        await pulses.until(live)
        process = Path(f"/proc/{link.pid}")
        if process.exists():
            assert b"s3cret" not in (process / "cmdline").read_bytes() + (process / "environ").read_bytes()


async def test_modules_in_the_current_folder_are_not_taken_for_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("model", "tui", "click", "kazoo"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(tmp_path)
    async with linked(Opening(source="no/such/file.json")) as (_, pulses):
        assert "no such file" in (await pulses.until(lambda pulse: pulse.fatal)).fatal


def test_nonsense_on_its_input_ends_it() -> None:
    done = subprocess.run(DATA_PROCESS, input=b"Hello, world!", capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode() == "the dashboard's process sent a message of 1,214,606,444 bytes\n"


def test_an_input_that_ends_at_once_ends_it() -> None:
    done = subprocess.run(DATA_PROCESS, input=b"", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("phase", ["started", "live"])
def test_it_and_the_demos_server_end_when_the_owner_is_killed(phase: str, is_gone: Callable[[int], bool]) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = next(int(line.split()[0]) for line in owner.stdout if line.split()[1] == phase)
        eventually(lambda: descendants(pid))
        family = [pid, *descendants(pid)]
        os.kill(owner.pid, signal.SIGKILL)
    eventually(lambda: all(map(is_gone, family)))


async def test_the_demos_server_ends_when_it_is_killed(is_gone: Callable[[int], bool]) -> None:
    async with linked(Opening(is_demo=True)) as (link, pulses):
        await pulses.until(live)
        family = descendants(link.pid)
        os.kill(link.pid, signal.SIGKILL)
        assert (await pulses.until(lambda pulse: pulse.fatal)).fatal == "the data process ended (killed by SIGKILL)"
        assert family
        eventually(lambda: all(map(is_gone, family)))


def test_it_ends_while_the_server_does_not_answer(own_zookeeper: EmbeddedZooKeeper) -> None:
    with (
        demo_tree(f"{own_zookeeper.address}/paused") as tree,
        subprocess.Popen(DATA_PROCESS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(frame(Opening(source=tree.source)))
        while b"live" not in process.stdout.read(65536):
            pass
        own_zookeeper.pause()
        process.stdin.write(frame(QuestionAsked(1, raw(ZnodeList(opened=("/",))))))
        process.stdin.close()
        assert process.wait(10) == 0
        own_zookeeper.resume()


def descendants(pid: int) -> list[int]:
    """Process ids of its children and of theirs."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in found.splitlines()]
    children = [child for child, parent in pairs if parent == pid]
    return [*children, *(grandchild for child in children for grandchild in descendants(child))]
