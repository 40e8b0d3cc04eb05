"""How long until all of a large cluster is known: ours a whole image, beside ways to only read the partition states.

The rivals make nothing of what they read: the Java client's asynchronous calls, as Kafka's controller makes them, and
kazoo's, under way together and one by one, and a bare socket with as many requests under way.

`python -m tests.benchmarks.zookeeper_load HOST:PORT` is a process that loads an image a few times: this one is full of
what it made the tree of.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient

from model.sandbox.java import java_environment, pyspark_jars_folder
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.sources.addresses import parse_zookeeper_address
from model.sources.feed import Feed, Moment
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tests.benchmarks.figure import Figure
from tests.benchmarks.zookeeper_image import kafka_znodes, state_path, write_image

PARTITIONS = 100
"""Of each topic."""
GOALS_S = {1_000: 1.5, 10_000: 8.0}
"""Topics → until there is a complete image."""
ONE_BY_ONE = 10_000
"""So many states, or who asks one by one is waited for for minutes."""
UNDER_WAY = 1_000
ROUNDS = 4
"""In one process, as the Java client has them: the first finds a server that has not warmed up."""
ALL_RIVALS = 100_000
PATIENCE_S = 120.0
LENGTH = struct.Struct("!i")
GET_DATA = 4


def measure(folder: Path) -> Iterator[Figure]:
    """The same tree for all; the largest for ours and the Java client only."""
    for topics, goal_s in GOALS_S.items():
        size, data = topics * PARTITIONS, folder / f"zookeeper-{topics}"
        write_image(data / "data", kafka_znodes(topics, PARTITIONS))
        with EmbeddedZooKeeper(data, options=ServerOptions(heap_mb=4096)) as server:
            what = f"{size:,} partitions, complete image"
            times = _loads(server.address)
            ours_s, first_s, cpu_s = min(times)
            every = ", ".join(f"{seconds:.2f}" for seconds, _, _ in times)
            note = f"goal {goal_s:g} s; first picture {first_s:.2f} s; CPU {cpu_s:.2f} s; all: {every}"
            yield Figure(what, ours_s, "Java, states only", java(server.address, topics), note=note)
            if size <= ALL_RIVALS:
                yield Figure(what, ours_s, "bare socket, states only", bare(server.port, size))
                yield Figure(what, ours_s, "kazoo get_async, states only", pipelined(server.address, size))
                yield Figure(what, ours_s, "kazoo get, 10k states only", one_by_one(server.address, ONE_BY_ONE))


def _loads(server: str) -> list[tuple[float, float, float]]:
    command = [sys.executable, "-m", "tests.benchmarks.zookeeper_load", server]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=ROUNDS * PATIENCE_S, check=True)
    return [(whole_s, first_s, cpu_s) for whole_s, first_s, cpu_s in json.loads(done.stdout)]


def load(server: str) -> tuple[float, float, float]:
    """Seconds until the image is complete and its findings found, until there is anything to be seen, and of CPU."""
    live, first = threading.Event(), list[float]()

    def publish(moment: Moment) -> None:
        if moment.image.topics and not first:
            first.append(time.monotonic())
        if moment.status.phase == "live":
            live.set()

    source = ZooKeeperSource(parse_zookeeper_address(f"zk://{server}"))
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    with closing(source):
        source.open(Feed(source.name, publish))
        assert live.wait(PATIENCE_S)
        return time.monotonic() - began_s, first[0] - began_s, time.process_time() - began_cpu_s


def one_by_one(server: str, count: int) -> float:
    """kazoo's `get`, as a script would."""
    return _timed(
        server, lambda client: [client.get(state_path(*divmod(number, PARTITIONS))) for number in range(count)]
    )


def pipelined(server: str, count: int) -> float:
    """kazoo's `get_async`, so many under way."""

    def read(client: Any) -> None:
        underway: list[Any] = []
        for number in range(count):
            underway.append(client.get_async(state_path(*divmod(number, PARTITIONS))))
            if len(underway) == UNDER_WAY:
                for answer in underway:
                    answer.get(timeout=60)
                underway.clear()
        for answer in underway:
            answer.get(timeout=60)

    return _timed(server, read)


def bare(port: int, count: int) -> float:
    """`getData` on a socket, so many under way; answers are counted, not looked at."""
    with closing(socket.create_connection(("127.0.0.1", port))) as connection, connection.makefile("rb") as answers:

        def send(*frames: bytes) -> None:
            connection.sendall(b"".join(LENGTH.pack(len(frame)) + frame for frame in frames))

        def take() -> None:
            answers.read(*LENGTH.unpack(answers.read(LENGTH.size)))

        send(struct.pack("!iqiqi", 0, 0, 30_000, 0, 16) + bytes(17))
        take()
        began_s = time.monotonic()
        for first in range(0, count, UNDER_WAY // 2):
            asked = range(first, min(first + UNDER_WAY // 2, count))
            send(*(_get_data(number) for number in asked))
            for _ in asked if first else ():  # those before these
                take()
        for _ in range(min(UNDER_WAY // 2, count)):
            take()
        return time.monotonic() - began_s


def _get_data(number: int) -> bytes:
    path = state_path(*divmod(number, PARTITIONS)).encode()
    return struct.pack("!iii", number + 1, GET_DATA, len(path)) + path + b"\0"


def java(server: str, topics: int) -> float:
    """The Java client's asynchronous `getData`, the best of three after a first."""
    program = Path(__file__).with_name("ReadStates.java")
    jars = f"{pyspark_jars_folder()}/*"
    command = ["java", "-Xmx2g", "-cp", jars, str(program), server, str(topics), str(PARTITIONS)]
    done = subprocess.run(command, capture_output=True, text=True, env=java_environment(), timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return float(done.stdout.split()[-1])


def _timed(server: str, read: Callable[[Any], object]) -> float:
    client: Any = KazooClient(server)
    client.start(timeout=30)
    try:
        began_s = time.monotonic()
        read(client)
        return time.monotonic() - began_s
    finally:
        client.stop()
        client.close()


if __name__ == "__main__":
    print(json.dumps([load(sys.argv[1]) for _ in range(ROUNDS)]))
