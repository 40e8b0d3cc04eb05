"""Spark, started by a command and a dashboard that log in with secrets: what its processes hold, and what it writes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from tests.trust.canaries import canary, forms_in
from tests.trust.ground import FOLDERS, SECRET_VARIABLES, Ground, ground
from tests.trust.leaks import Search
from tests.tui.data.pulses import Pulses
from tests.web.serving import descendants
from tui.cli.options import opening_of
from tui.engine.config import load_config
from tui.engine.link import ProcessLink

SWEEP = ("drill", "prod", "--each-broker", "--engine", "spark", "--spark-master", "local[1]", "--json")
KINDS = ("spark_tasks", "java", "pyspark.daemon")
"""Words of the command lines of Spark's processes: ours, its Java, Python workers."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
PATIENCE_S, LOOK_EVERY_S = 120.0, 0.05


@pytest.fixture
def here(tmp_path: Path, zookeeper: str) -> Iterator[Ground]:
    with ground(tmp_path, zookeeper) as here:
        yield here


class Watched:
    """What was seen of processes that come and go, and of files that are removed again."""

    def __init__(self, pid: int, folder: Path) -> None:
        self._pid, self._folder = pid, folder
        self.held: dict[str, set[str]] = {kind: set() for kind in KINDS}
        """Kind → names of its variables, and `words` for what it was started with."""
        self.secret: dict[str, set[str]] = {kind: set() for kind in KINDS}
        """The same, those with a canary."""
        self.files: dict[str, bytes] = {}
        """By their last bytes."""

    def look(self) -> None:
        for pid in descendants(self._pid):
            with suppress(OSError):
                self._look_at(Path(f"/proc/{pid}"))
        with suppress(OSError):  # a folder is gone while it is listed
            for path in self._folder.rglob("*"):
                if path.is_file():
                    self._read(path)

    def _read(self, path: Path) -> None:
        with suppress(OSError):
            self.files[str(path)] = path.read_bytes()

    def _look_at(self, process: Path) -> None:
        words = (process / "cmdline").read_bytes()
        variables = (process / "environ").read_bytes().split(b"\0")
        for kind in KINDS:
            if kind.encode() in words and variables[0]:
                named = {"words": words} | {each.partition(b"=")[0].decode(): each for each in variables}
                self.held[kind] |= {*named}
                self.secret[kind] |= {name for name, value in named.items() if forms_in(value)}


@contextmanager
def watched(pid: int, folder: Path) -> Iterator[Watched]:
    """Looks again and again until the block ends."""
    seen, is_over = Watched(pid, folder), threading.Event()

    def look() -> None:
        while not is_over.is_set():
            seen.look()

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        is_over.set()
        looking.join()


def searched(seen: Watched) -> Search:
    """The files. Every kind of process was seen, and has nothing secret but what is none of our business."""
    assert set(map(frozenset, seen.secret.values())) == {frozenset({"CANARY_KEY"})}, seen.secret
    assert {"java.log", "gateway"} <= {Path(name).name for name in seen.files}
    search = Search()
    for name, data in seen.files.items():
        search.look(name, data)
    return search


@pytest.mark.thorough  # the same secrets, by another way to start Spark
def test_started_by_a_command(here: Ground) -> None:
    with watched(here.server.pid, here.folder / FOLDERS["TMPDIR"]) as seen:
        assert here.run(*SWEEP) in (0, 2)
    assert any(name.endswith(".arrow") for name in seen.files)
    assert not searched(seen).found
    assert not here.searched().found


async def test_started_by_a_dashboard(here: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRET_VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TMPDIR", str(temporary := here.folder / FOLDERS["TMPDIR"]))
    opening = opening_of("prod", load_config(here.mine / "config.toml"))
    link, pulses = ProcessLink(msgspec.structs.replace(opening, spark_master="local[1]")), Pulses()
    with watched(link.pid, temporary) as seen:
        await link.open(pulses.hear)
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not seen.held["pyspark.daemon"]:
                    await asyncio.sleep(LOOK_EVERY_S)
        finally:
            await link.close()
    assert not searched(seen).found


def test_what_is_gone_again_was_seen(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "input()", "pyspark.daemon", canary("a word")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, env={"SECRET": canary("a variable")}) as process:
        seen = Watched(os.getpid(), tmp_path)
        (tmp_path / "file").write_text(canary("a file"))
        seen.look()
        (tmp_path / "file").unlink()
        process.communicate(b"\n")
    assert seen.secret["pyspark.daemon"] == {"words", "SECRET"}
    assert forms_in(seen.files[str(tmp_path / "file")])
