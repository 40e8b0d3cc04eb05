"""The scenarios that come with kdrill, as their guide shows them and as screen 4 does: with real consumers of 0.8.2.2.

A broker dies in each.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from model.sandbox.java import fetched_jars
from model.sandbox.load.load import OLD_GROUP
from model.sandbox.load.members import OLD_KAFKA
from model.sandbox.options import SandboxOptions
from model.sandbox.processes import SandboxError
from model.sandbox.scenario import SHIPPED, read_scenario
from tests.architecture.source_tree import ROOT
from tests.harness.command import KDRILL, NO_CONFIG
from tests.maven import skip_or_fail
from tests.tui.data.pulses import Pulses
from tests.tui.data.small_cluster import rows_of
from tests.tui.guides.console import Shown, missing, shown_commands
from tui.engine.history.queries import PastEventList
from tui.engine.link import ProcessLink
from tui.engine.messages import Opening
from tui.engine.queries import GroupList, OwnershipList

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

GUIDE = ROOT / "tui/guides/zookeeper-consumers.md"
SHOWN = [*shown_commands(GUIDE.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module", autouse=True)
def old_jars() -> None:
    try:
        fetched_jars("kafka-0.8.2.2", (OLD_KAFKA,), user_cache_path("kdrill") / "jars")
    except SandboxError as reason:
        skip_or_fail(str(reason))


def test_the_guide_leads_through_all_of_them() -> None:
    played = {shown.command.split()[3] for shown in SHOWN}
    assert played == {file.stem for file in SHIPPED.glob("*.toml")}


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.command)
def test_every_step_passes_and_the_feed_says_why(shown: Shown, tmp_path: Path) -> None:
    """As the guide shows it."""
    binary = tmp_path / "kdrill"
    binary.write_text(f'#!/bin/sh\nexec {shlex.join(KDRILL)} "$@"\n')
    binary.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", shown.command],
        cwd=tmp_path,
        env={**os.environ, **NO_CONFIG, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert not missing(shown, done.stdout), done.stdout


class Watched:
    """Screen 4 while a scenario plays in the dashboard's data process: all that it said of the group."""

    def __init__(self) -> None:
        self.states: list[str] = []
        """One after the other."""
        self.graph: set[str] = set()
        self.table: set[str] = set()
        """Cells."""

    async def look(self, link: ProcessLink) -> None:
        (row,) = rows_of(await link.rows(GroupList(filter=f"group:{OLD_GROUP}"))) or [""]
        self.states += [state for state in row.split(" | ")[2:3] if [state] != self.states[-1:]]
        for view, cells in (("graph", self.graph), ("table", self.table)):
            query = OwnershipList(scope=OLD_GROUP, view=view, width=120, count=60)
            cells |= {cell.strip() for row in rows_of(await link.rows(query)) for cell in row.split(" | ")}


async def watched(name: str) -> Watched:
    """Looks until the scenario has passed."""
    file, seen = SHIPPED / f"{name}.toml", Watched()
    given = {"settings" if key == "set" else key: value for key, value in read_scenario(file).sandbox.items()}
    options = SandboxOptions(**given, scenario=str(file))
    link, pulses = ProcessLink(Opening(sandbox=options)), Pulses()
    await link.open(pulses.hear)
    try:
        async with asyncio.timeout(300):
            while not (ended := rows_of(await link.rows(PastEventList(filter="scenario '")))):
                await seen.look(link)
                await asyncio.sleep(0.1)
        assert "passed" in ended[0]
    finally:
        await link.close()
    return seen


async def test_the_screen_says_that_two_read_one_partition_and_when_it_is_over() -> None:
    seen = await watched("split-brain")
    assert seen.states.count("split brain") == 1
    assert seen.states[-1] != "split brain"
    assert any(re.fullmatch(r"orders \d  ! o1 reads it too", cell) for cell in seen.graph), sorted(seen.graph)
    assert any(re.search(r"orders \S+  .*! o1 reads, too: orders \d", cell) for cell in seen.table), sorted(seen.table)


async def test_the_screen_says_who_gave_up_and_that_it_reads_nothing() -> None:
    seen = await watched("failed-rebalance")
    assert "gave up" in seen.states
    assert seen.states[-1] == ""
    assert "gave up, owns nothing until the next change" in seen.table
    assert any(re.fullmatch(r"X orders \d  no owner.*", cell) for cell in seen.graph), sorted(seen.graph)
