"""However many scenarios Spark plays: the command, and Spark's Python beside it, hold what they come to and no more."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from model.cluster.snapshot_file import write_snapshot
from tests.benchmarks.process_memory import SPARKS, descendants, own_mib
from tests.harness.command import KDRILL
from tests.model.drills.clusters import cluster, topic

FIRST, ALL = 2_000, 20_000
MOST_MIB = 4.0
"""All rows would be 25 MiB."""


@pytest.mark.thorough  # half a minute
def test_ten_times_the_scenarios_take_no_more_memory(tmp_path: Path) -> None:
    source, store = tmp_path / "two.json", tmp_path / "store"
    write_snapshot(source, cluster([1, 2], *topic((1, 2), (1, 2), 1)))
    where = ("--spark-master", "local[2]", "--store", store)
    with subprocess.Popen([*KDRILL, "drill", source, "--fleet", f"random:{ALL}", *where]) as command:
        early, late = 0.0, 0.0
        while command.poll() is None:
            played = played_in(store)
            if played >= FIRST:
                now = held_mib(command.pid)
                early, late = early or now, max(late, now)
            time.sleep(0.05)
    assert (command.returncode, played_in(store)) == (2, ALL)
    assert early > 0  # it was looked at while it played
    assert late - early < MOST_MIB


def played_in(store: Path) -> int:
    with suppress(FileNotFoundError):
        return sum(end - begin for begin, end in json.loads((store / "manifest.json").read_bytes())["done"])
    return 0


def held_mib(command: int) -> float:
    """By the command and the Spark process; nothing where one has ended."""
    with suppress(OSError):
        drivers = [pid for pid in descendants(command) if SPARKS["driver"] in said_of(pid)]
        return sum(map(own_mib, (command, *drivers)))
    return 0.0


def said_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
