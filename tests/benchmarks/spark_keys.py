"""Key → screen while Spark plays a fleet on all cores, beside the same keys with Spark at rest; and Ctrl-C meanwhile.

A dashboard in a pseudo-terminal looks at a snapshot of 12 brokers and 2,000 partitions and goes down the list of
partitions. Spark, its Java and its workers stand back behind it (nice 10). Beside that, how soon a command that plays
a fleet on Spark has ended after Ctrl-C, and all that it had started with it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from model.cluster.snapshot_image import document_of
from tests.benchmarks import spark_fleet
from tests.benchmarks.figure import Figure
from tests.benchmarks.process_memory import descendants
from tests.benchmarks.timed_terminal import PATIENCE_S, TimedTerminal, chosen, seen
from tests.harness.command import KDRILL, QUIET
from tests.harness.waiting import eventually

KEYS, ENDS = 100, 5
GAP_S = (0.02, 0.06)
"""Between two keys, at random: not in step with anybody's timer."""
BUSY, REST = "Spark busy", "Spark at rest"


def measure(folder: Path) -> Iterator[Figure]:
    """Keys first, then interruptions."""
    snapshot = folder / "cluster.json"
    snapshot.write_bytes(msgspec.json.encode(document_of(spark_fleet.cluster(12, 2_000))))
    kept = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    environment = {**QUIET, **{name: str(folder / "home") for name in kept}}
    yield from _keys(snapshot, environment)
    yield from _interruptions(snapshot, folder, environment)


def _keys(snapshot: Path, environment: dict[str, str]) -> Iterator[Figure]:
    with TimedTerminal([*KDRILL, str(snapshot), "--spark-master", "local[2]"], environment) as terminal:
        terminal.shows(seen("12 brokers up"))
        terminal.type("3", chosen("topic-00000-0"))
        quiet = sorted(_down(terminal, 1))
        terminal.type("7", seen("Summary"))
        terminal.type("p", seen("played"))
        terminal.type("W", seen("as asked"))
        terminal.rest(1.0)
        terminal.type("W", seen("busy"))  # on Spark, once that has started
        load = os.getloadavg()[0]
        terminal.type("3", chosen(_partition(KEYS)))
        cpu_s, began_s = terminal.cpu_s()[1], time.perf_counter()
        busy = sorted(_down(terminal, KEYS + 1))
        cores = (terminal.cpu_s()[1] - cpu_s) / (time.perf_counter() - began_s)
    for part in (0.5, 0.99):
        place = min(int(part * KEYS), KEYS - 1)
        note = f"{BUSY}: {cores:.1f} cores; load {load:.0f}"
        yield Figure(f"key to screen, p{100 * part:.0f}", busy[place], REST, quiet[place], note=note)


def _down(terminal: TimedTerminal, first: int) -> Iterator[float]:
    for number in range(first, first + KEYS):
        terminal.rest(random.uniform(*GAP_S))
        yield terminal.type("j", chosen(_partition(number)))


def _partition(number: int) -> str:
    topic, partition = divmod(number, spark_fleet.A_TOPIC)
    return f"topic-{topic:05}-{partition}"


def _interruptions(snapshot: Path, folder: Path, environment: dict[str, str]) -> Iterator[Figure]:
    took = [_interrupted(snapshot, folder / f"store-{number}", environment) for number in range(ENDS)]
    note = f"the longest of {ENDS}: {max(each[0] for each in took):.2f} s, {max(each[1] for each in took):.2f} s"
    yield Figure("Ctrl-C on a fleet on Spark: command over", median(each[0] for each in took), note=note)
    yield Figure("Ctrl-C on a fleet on Spark: all processes gone", median(each[1] for each in took))


def _interrupted(snapshot: Path, store: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds until the command has ended, and until all that it had started has."""
    asked = ("drill", str(snapshot), "--fleet", "random:1000000", "--spark-master", "local[2]", "--store", str(store))
    manifest = store / "manifest.json"
    command = subprocess.Popen(
        [*KDRILL, *asked],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with command:
        eventually(lambda: manifest.exists() and json.loads(manifest.read_bytes())["done"], patience_s=PATIENCE_S)
        started = [*descendants(command.pid)]
        began_s = time.perf_counter()
        command.send_signal(signal.SIGINT)
        code = command.wait()
        over_s = time.perf_counter() - began_s
        assert code == 130, f"ended with {code}"
        eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
        return over_s, time.perf_counter() - began_s
