"""Spark behind the dashboard: it starts by itself, its death is told, and nothing of it stays behind."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from tests.demo_tree import DemoTree
from tests.pty.conftest import Open

WITH_SPARK = {"KDRILL_SPARK_MASTER": "local[2]"}


def java_of(pid: int) -> list[int]:
    """Java processes below a process that run Spark."""
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            command = Path(f"/proc/{child}/cmdline").read_bytes()
            found += [int(child)] if b"org.apache.spark" in command else java_of(int(child))
    return found


def test_spark_starts_beside_the_dashboard_and_its_death_is_told(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source, environment=WITH_SPARK, columns=200, rows=40)
    terminal.shows("LIVE")
    terminal.press("7")
    terminal.shows("every broker", "in process")  # the screens do not wait for it
    terminal.until(lambda: re.search(r"Spark +local\[2\] ready, started in \d+", terminal.text))
    java = java_of(terminal.pid)
    assert len(java) == 1
    os.kill(java[0], signal.SIGKILL)
    terminal.until(lambda: "no Spark" in terminal.lines[0])
    terminal.press("vv")
    terminal.shows("every rack", "in process")
    terminal.press("Q")
    assert terminal.exit_code() == 0


def test_a_wrong_master_is_told_in_a_line_and_nothing_else_suffers(open_kdrill: Open, tree: DemoTree) -> None:
    terminal = open_kdrill(tree.source, environment={"KDRILL_SPARK_MASTER": "sparkle://x"}, columns=200, rows=40)
    terminal.until(lambda: "no Spark" in terminal.lines[0])
    terminal.press("7")
    terminal.shows("every broker", "in process", "no Spark: ")
    terminal.press("Q")
    assert terminal.exit_code() == 0
