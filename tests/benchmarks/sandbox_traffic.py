"""Records through three brokers of ours and three Java brokers 3.9.1: how long one takes, and many.

Both clusters are up all the time and take turns, so that whatever else the machine does slows both. Replication factor
3, acks=all, the same client (librdkafka), settings and ZooKeeper; the JVM compiles as it does outside of tests, and
gets to know the work first. A figure is the median of its rounds.
"""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.benchmarks.figure import Figure
from tests.benchmarks.process_memory import TICKS
from tests.benchmarks.sandbox import PATIENCE_S, cluster_of, create_topics, knows_all, read_all
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

ROUNDS = 3
SMALLEST_SHARE = 0.8
"""Of a real broker's throughput."""
LONGEST_SHARE = 1.3
"""Of a real broker's time for one record."""
PARTITIONS = 6
RECORDS = {100: 300_000, 1_000: 60_000}
"""How many are written at a time, by their size in bytes."""
SINGLE_RECORDS = 1_000
WARM_UP = 2
"""Rounds that do not count; the JVM compiles in them."""


class Took(NamedTuple):
    """Seconds; those of the processor are all brokers' together."""

    wall_s: float
    cpu_s: float


Work = Callable[[], tuple[Took, ...]]


def measure(folder: Path) -> Iterator[Figure]:
    with EmbeddedZooKeeper(folder / "zookeeper", options=ServerOptions(heap_mb=512)) as server, ExitStack() as stack:
        clusters = [
            stack.enter_context(cluster_of(kind, server.address, folder, quick_jvm=False)) for kind in ("ours", "java")
        ]
        for cluster in clusters:
            eventually(lambda cluster=cluster: knows_all(cluster), "all brokers in the metadata")
        yield from _figures(["one record, acks=all"], [_singly(each) for each in clusters], 1 / LONGEST_SHARE)
        for size, count in RECORDS.items():
            what = [f"{verb} {count:,} records of {size:,} bytes" for verb in ("write", "read")]
            yield from _figures(what, [_transferred(each, size, count) for each in clusters], SMALLEST_SHARE)


def _figures(what: Sequence[str], works: Sequence[Work], goal: float) -> Iterator[Figure]:
    rounds = [[work() for work in works] for _ in range(WARM_UP + ROUNDS)][WARM_UP:]
    for number, each in enumerate(what):
        ours, java = ([both[place][number] for both in rounds] for place in range(2))
        cpu = " and ".join(f"{statistics.median(took.cpu_s for took in side):.2g}" for side in (ours, java))
        seconds = [statistics.median(took.wall_s for took in side) for side in (ours, java)]
        yield Figure(each, seconds[0], "Java 3.9.1", seconds[1], goal, f"processor time of all brokers {cpu} s")


def _cpu_s(cluster: Cluster) -> float:
    """Of all brokers until now."""
    stats = [Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split() for each in cluster.brokers.values()]
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICKS


@contextmanager
def _timed(cluster: Cluster) -> Iterator[list[Took]]:
    """What is done within took."""
    took: list[Took] = []
    cpu_s, began_s = _cpu_s(cluster), time.perf_counter()
    yield took
    took.append(Took(time.perf_counter() - began_s, _cpu_s(cluster) - cpu_s))


def _producer(cluster: Cluster, linger_ms: int) -> Any:
    settings = {"log_level": 0, "bootstrap.servers": cluster.bootstrap, "acks": "all", "linger.ms": linger_ms}
    return Producer({**settings, "queue.buffering.max.messages": max(RECORDS.values())})


def _singly(cluster: Cluster) -> Work:
    """One record after the other, each when the one before it is acknowledged; the median of what each took."""
    admin = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap})
    create_topics(cluster, admin, ["single"], 1)
    producer, record, seconds, errors = _producer(cluster, 0), os.urandom(100), list[float](), list[Any]()

    def send_one() -> None:
        errors.clear()
        began_s = time.perf_counter()
        producer.produce("single", record, on_delivery=lambda error, message: errors.append(error))
        while not errors:
            producer.poll(1)
        seconds.append(time.perf_counter() - began_s)
        assert errors == [None]

    def work() -> tuple[Took, ...]:
        seconds.clear()
        with _timed(cluster) as took:
            for _ in range(SINGLE_RECORDS):
                send_one()
        return (Took(statistics.median(seconds), took[0].cpu_s / SINGLE_RECORDS),)

    return work


def _transferred(cluster: Cluster, size: int, count: int) -> Work:
    """Written and read again, each time in a new topic."""
    admin = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap})
    producer, record, numbers = _producer(cluster, 20), os.urandom(size), itertools.count()

    def work() -> tuple[Took, ...]:
        topic = f"data-{size}-{next(numbers)}"
        create_topics(cluster, admin, [topic], PARTITIONS)
        with _timed(cluster) as writing:
            for number in range(count):
                producer.produce(topic, record, partition=number % PARTITIONS)
            assert producer.flush(PATIENCE_S) == 0
        with _timed(cluster) as reading:
            read_all(cluster, topic, PARTITIONS, count)
        admin.delete_topics([topic])[topic].result(PATIENCE_S)
        return (*writing, *reading)

    return work
