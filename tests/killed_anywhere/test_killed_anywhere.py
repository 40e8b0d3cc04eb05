"""A few rounds, so that the rounds themselves stay whole; `python -m tests.killed_anywhere` plays many."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.killed_anywhere.programs import KINDS, PROGRAMS, kind_of
from tests.killed_anywhere.rounds import play_rounds, starts_again
from tests.killed_anywhere.session import Session

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")

BY_NAME = {program.name: program for program in PROGRAMS}
QUICK = tuple(BY_NAME[name] for name in ("sandbox --headless --load --dir", "sandbox", "demo"))


def test_nothing_outlives_what_is_killed(tmp_path: Path) -> None:
    played = play_rounds(6, 5, tmp_path, print, QUICK)
    assert [str(each) for each in played if each.wrong] == []
    assert {each.phase for each in played} == {"start", "run"}
    assert starts_again(QUICK[0], tmp_path) == []


def test_what_is_left_is_seen(tmp_path: Path) -> None:
    """Else the test above proves nothing."""
    demo = BY_NAME["demo"]
    with Session(demo, tmp_path) as session:
        assert session.terminal is not None
        session.terminal.until(lambda: demo.shows(session.text))
        left = session.left()
        kinds = set(session.processes().values())
    assert {"program", "data process", "guard", "ZooKeeper"} <= kinds
    for sort in ("the program", "process", "port", "file"):
        assert any(each.startswith(sort) for each in left), sort
    assert session.processes() == {}


def test_a_process_is_told_by_its_command_line() -> None:
    assert kind_of((sys.executable, "-P", "-m", "tui.engine")) == "data process"
    assert kind_of(("/bin/sh", "-c", "…", "sh", "log", "java", "QuorumPeerMain")) == "guard"
    assert kind_of(("bash", "/…/pyspark/bin/spark-class", "org.apache.spark.deploy.SparkSubmit")) == "Spark's Java"
    assert kind_of(("java", "-XX:ArchiveClassesAtExit=…", "…", "QuorumPeerMain", "zoo.cfg")) == "archive builder"
    assert kind_of(("/usr/bin/true",)) == "true"
    assert {kind for program in PROGRAMS for kind in program.told} <= {kind for _, kind in KINDS}
