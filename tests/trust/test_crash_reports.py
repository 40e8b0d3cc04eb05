"""Defects are told without values: of the dashboard, the data process, a command, a thread and a forgotten task."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo_tree import DemoTree, demo_tree
from tests.harness.command import KDRILL, QUIET, in_terminal
from tests.trust.canaries import canary, forms_in
from tests.trust.ground import SECRET_VARIABLES
from tests.trust.leaks import Search
from tests.tui.data.pulses import Pulses, live
from tui.engine.cluster.queries import ZnodeText
from tui.engine.link import DataLost, ProcessLink
from tui.engine.messages import Opening

SECRET = SECRET_VARIABLES["CANARY_KEY"]
FAIL = """
import os
def fail(*_):
    kept = os.environ["CANARY_KEY"]
    held = {"password": kept, "bytes": kept.encode()}
    try:
        int(kept)
    except ValueError:
        raise KeyError(held) from None
"""
MAIN = "from tui.cli import main\nmain()\n"
IN_THE_DASHBOARD = f"{FAIL}from tui.app.app import Kdrill\nKdrill.action_help = fail\n"
TEXTUALS_OWN = "del Kdrill._fatal_error\n"
IN_THE_SOURCE = f"""{FAIL}
from model.sources.zookeeper import translate
translate._SAYS = dict.fromkeys(translate._SAYS, fail)
"""
IN_A_COMMAND = f"{FAIL}from tui.cli import described\ndescribed._zookeeper_line = fail\n"
IN_AN_ANSWER = f"{FAIL}from tui.engine.service import DataService\nDataService.answer = fail\n"
ELSEWHERE = f"""{FAIL}
import asyncio, gc, resource, threading
from model.hosts.process import tell_no_values
tell_no_values()
assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
async def forgets():
    async def fails(): fail()
    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
    gc.collect()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fails())
class Ends:
    def __del__(self): fail()
(thread := threading.Thread(target=fail)).start()
thread.join()
Ends()
asyncio.run(forgets())
"""
RUNS = {"CANARY_KEY": SECRET, **QUIET, "COLUMNS": "300"}


@pytest.fixture
def tree(zookeeper: str) -> Iterator[DemoTree]:
    with demo_tree(zookeeper) as tree:
        yield tree


def ran(program: str, *words: str, **environment: str) -> str:
    """What it said, having failed."""
    command = [*KDRILL[:-1], program, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **RUNS, **environment}, timeout=120, check=False
    )
    assert done.returncode == 1
    return done.stdout + done.stderr


def crashed(program: str, source: str, folder: Path) -> bytes:
    """What a dashboard left on the terminal after it failed at a key; all it wrote into files stands in the folder."""
    log = str(folder / "textual.log")
    environment = {**RUNS, "TEXTUAL_LOG": log, "XDG_STATE_HOME": str(folder)}
    with in_terminal(source, program=program, columns=200, environment=environment) as terminal:
        terminal.shows("LIVE")
        terminal.press("?")
        assert terminal.exit_code() == 1
        return bytes(terminal.sent)


def test_of_the_dashboard(tree: DemoTree, tmp_path: Path) -> None:
    said = crashed(IN_THE_DASHBOARD + MAIN, tree.source, tmp_path)
    assert b"a defect in kdrill: KeyError in " in said
    search = Search()
    search.look_into(tmp_path)
    assert search.files and not search.found
    assert not forms_in(said)


def test_of_the_dashboard_as_textual_would_tell_it(tree: DemoTree, tmp_path: Path) -> None:
    assert forms_in(crashed(IN_THE_DASHBOARD + TEXTUALS_OWN + MAIN, tree.source, tmp_path))


def test_of_what_follows_a_cluster(tree: DemoTree) -> None:
    said = ran(IN_THE_SOURCE + MAIN, "status", tree.source)
    assert re.fullmatch(r"kdrill: zk://\S+: a defect in kdrill: KeyError in model/sources/\S+ \(\w+\)\n", said)


def test_of_a_command(tree: DemoTree) -> None:
    said = ran(IN_A_COMMAND + MAIN, "configs", tree.source, "describe", "--entity-type", "topics")
    assert "a defect in kdrill: KeyError in tui/cli/described.py:" in said
    assert not forms_in(said.encode())


def test_of_threads_and_tasks_that_nobody_waits_for() -> None:
    said = ran(ELSEWHERE)
    assert said.count("a defect in kdrill: KeyError") == 4
    assert not forms_in(said.encode())
    assert forms_in(ran(ELSEWHERE.replace("tell_no_values()\n", "resource.setrlimit(4, (0, 0))\n")).encode())


async def test_of_an_answer_of_the_data_process(tree: DemoTree) -> None:
    program = f"{IN_AN_ANSWER}from tui.engine.__main__ import main\nmain()\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY_KEY", canary("CANARY_KEY"))
        link = ProcessLink(Opening(source=tree.source), (sys.executable, "-P", "-c", program))
    pulses = Pulses()
    await link.open(pulses.hear)
    try:
        await pulses.until(live)
        with pytest.raises(DataLost, match=r"a defect in kdrill: KeyError in tui/engine/process.py:") as lost:
            await link.text(ZnodeText(key="/controller", width=80))
        assert not forms_in(str(lost.value).encode())
    finally:
        await link.close()
