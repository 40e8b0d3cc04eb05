"""How long another client of the same ZooKeeper waits for a read while a large cluster is loaded, again and again.

Ours makes whole images; the rivals only read the states: kazoo's asynchronous calls with 1,000 under way, and nobody
at all. The other client is a process of its own, one read at a time.

`python -m tests.benchmarks.zookeeper_neighbour HOST:PORT` is that process: it reads until its standard input ends.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.benchmarks.figure import Figure
from tests.benchmarks.zookeeper_image import kafka_znodes, state_path, write_image
from tests.benchmarks.zookeeper_load import load, pipelined

TOPICS, PARTITIONS = 1_000, 100
LASTING_S = 10.0
PAUSE_S = 0.002
PLACES = {"p50": 0.50, "p99": 0.99}


def measure(folder: Path) -> Iterator[Figure]:
    """Seconds that the other client waits."""
    write_image(folder / "data", kafka_znodes(TOPICS, PARTITIONS))
    with EmbeddedZooKeeper(folder, options=ServerOptions(heap_mb=2048)) as server:
        address = server.address
        ours = _waits(address, lambda: load(address))
        rivals = {
            "while nobody else asks": _waits(address, lambda: time.sleep(LASTING_S)),
            "beside kazoo get_async": _waits(address, lambda: pipelined(address, TOPICS * PARTITIONS // 10)),
        }
    for name, place in PLACES.items():
        for rival, waits in rivals.items():
            what = f"another client's read while ours loads, {name}"
            yield Figure(what, _at(ours, place), rival, _at(waits, place), note=f"{len(ours):,} reads")


def _waits(address: str, disturb: Callable[[], object]) -> list[float]:
    with _reading(address) as waits:
        ends_s = time.monotonic() + LASTING_S
        while time.monotonic() < ends_s:
            disturb()
    return sorted(waits)


@contextmanager
def _reading(address: str) -> Iterator[list[float]]:
    waits: list[float] = []
    command = [sys.executable, "-m", "tests.benchmarks.zookeeper_neighbour", address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        client.stdout.readline()
        yield waits
        waits += json.loads(client.communicate(timeout=60)[0])


def _at(waits: list[float], place: float) -> float:
    return waits[int(place * (len(waits) - 1))]


def main(address: str) -> None:
    client: Any = KazooClient(address)
    client.start(timeout=30)
    path, waits = state_path(0, 0), list[float]()
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE_S)[0]:
        began_s = time.perf_counter()
        client.get(path)
        waits.append(time.perf_counter() - began_s)
    client.stop()
    client.close()
    print(json.dumps(waits))


if __name__ == "__main__":
    main(sys.argv[1])
