"""What the terminal is measured on: a list of so many rows in a live cluster, and how one gets there by keys."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.benchmarks.timed_terminal import TimedTerminal, chosen, seen
from tests.benchmarks.zookeeper_image import Znodes, kafka_znodes, other_znodes, topic_name, write_image
from tests.harness.command import KDRILL, QUIET

MINIMAL = (sys.executable, "-m", "tests.benchmarks.minimal_app")
NEAR = 400
"""Rows from the first one on that one write in ten goes to: those in view are among them."""


@dataclass(frozen=True)
class Extent:
    """How much of everything there is."""

    entries: int = 1_000_000
    topics: int = 1_000
    partitions: int = 1_000
    heap_mb: int = 5_000


@dataclass(frozen=True)
class Scene:
    """`first` is the row that the first `j` leads to; `storm` what is written, of how many."""

    name: str
    znodes: Callable[[Extent], Znodes]
    way: tuple[tuple[str, re.Pattern[bytes]], ...]
    first: int
    row: Callable[[Extent, int], str]
    rows: Callable[[Extent], int]
    storm: Callable[[Extent], tuple[str, str]]


SCENES = (
    Scene(
        name="znode tree",
        znodes=lambda extent: chain(kafka_znodes(2, 5), other_znodes(extent.entries)),
        way=(
            ("2", chosen("/")),
            ("j", chosen("admin")),
            ("j", chosen("archive")),
            ("l", seen("entry-0000001")),
        ),
        first=0,
        row=lambda extent, number: f"entry-{number:07}",
        rows=lambda extent: extent.entries,
        storm=lambda extent: ("entries", str(extent.entries)),
    ),
    Scene(
        name="partition map",
        znodes=lambda extent: kafka_znodes(extent.topics, extent.partitions),
        way=(("3", chosen(f"{topic_name(0)}-0")),),
        first=1,
        row=lambda extent, number: f"{topic_name(number // extent.partitions)}-{number % extent.partitions}",
        rows=lambda extent: extent.topics * extent.partitions,
        storm=lambda extent: ("states", f"{extent.topics}x{extent.partitions}"),
    ),
)


@contextmanager
def cluster(folder: Path, znodes: Znodes, heap_mb: int) -> Iterator[str]:
    """A ZooKeeper with this tree; `host:port`."""
    write_image(folder / "data", znodes)
    with EmbeddedZooKeeper(folder, options=ServerOptions(heap_mb=heap_mb)) as server:
        yield server.address


class Stage:
    """Starts programs that leave nothing behind, with their bytecode at hand, as installed ones have it."""

    def __init__(self, folder: Path) -> None:
        kept = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
        self._environment = {
            **QUIET,
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            **{name: str(folder / "home") for name in kept},
        }

    def kdrill(self, address: str) -> TimedTerminal:
        return TimedTerminal([*KDRILL, f"zk://{address}"], self._environment)

    def minimal(self, rows: int) -> TimedTerminal:
        return TimedTerminal([*MINIMAL, str(rows)], self._environment)


@contextmanager
def stormed(address: str, rate: int, scene: Scene, extent: Extent) -> Iterator[list[float]]:
    """So many changes a second, by another process; how many it were stands in the list afterwards."""
    reached: list[float] = []
    if not rate:
        yield reached
        return
    kind, total = scene.storm(extent)
    near = min(NEAR, scene.rows(extent))
    command = [sys.executable, "-m", "tests.benchmarks.znode_storm", address, str(rate), kind, total, "0", str(near)]
    with ExitStack() as ends:
        storm = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ends.callback(storm.kill)
        assert storm.stdout is not None
        storm.stdout.readline()  # it has begun
        yield reached
        reached.append(float(storm.communicate()[0]))
