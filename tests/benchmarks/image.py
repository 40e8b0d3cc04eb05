"""The image of a large cluster: memory, what one delta costs, and filters and sorts of the partition list.

The rival of what is worked out step by step is the same worked out anew; all of it in processor time. Moments are fed
as a source feeds them.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from model.cluster.findings import find
from model.cluster.records import (
    BrokerRegistered,
    ControllerElected,
    ControllerEpochChanged,
    PartitionState,
    PartitionStatesWritten,
    Record,
    TopicAssigned,
)
from model.sources.feed import Feed, Moment
from model.sources.source import Batch
from tests.benchmarks.figure import Figure
from tests.benchmarks.zookeeper_image import BROKERS, FACTOR, TIME_MS, replicas_of, topic_name
from tui.data.messages import ListQuery
from tui.data.pages.listing import Memory
from tui.data.pages.partitions import partitions_window, table_of

PARTITIONS = 100
SIZES = (1_000, 10_000)
"""Topics."""

LISTED = 2_000
"""Topics of the list that is filtered and sorted."""

CHANGES = (1, 1_000)
ROUNDS = 15
FILTERS = ("topic-0012", "~t12", "re:^topic-001.*-(3|4)$", "state:under", "broker:5", "age:<1m", "!ok")
SORTS = ("topic", "leader", "isr", "epoch", "age", "state")
GOAL_S = 0.1
"""For a filter or a sort of two hundred thousand rows."""


def measure(folder: Path) -> Iterator[Figure]:
    """At a hundred thousand and a million partitions; lists at two hundred thousand."""
    yield from measured(SIZES, LISTED)


def measured(sizes: tuple[int, ...], listed: int) -> Iterator[Figure]:
    """Clusters of so many topics, and the list of one of so many."""
    for topics in sizes:
        size = f"{topics * PARTITIONS:,} partitions"
        cluster = Cluster(topics)
        yield Figure(f"{size}: image from records", cluster.loaded_s, note=f"{cluster.bytes_each:.0f} bytes each")
        for changes in CHANGES:
            yield from _deltas(cluster, f"{size}, {changes:,} changed", changes)
    yield from _lists(Cluster(listed))


class Cluster:
    """A feed that has told so many topics, all of them well, and is told changes."""

    def __init__(self, topics: int) -> None:
        self._topics, self._turn = topics, 0
        self._random = random.Random(topics)
        self._memory = Memory()
        batch = Batch(tuple(_listing(topics)), zxid=1, time_ms=TIME_MS, listing=True)
        self.feed = Feed("benchmark", lambda _: None)
        tracemalloc.start()
        self.feed.take(batch)
        gc.collect()
        self.bytes_each = tracemalloc.get_traced_memory()[0] / (topics * PARTITIONS)
        tracemalloc.stop()
        self.feed = Feed("benchmark", lambda _: None)
        self.loaded_s = _cpu_s(lambda: self.feed.take(batch))
        self.table()

    def change(self, count: int) -> float:
        """Tells that so many partitions, anywhere, have other leaders; processor time (s)."""
        self._turn += 1
        by_topic: dict[int, list[int]] = {}
        for number in self._random.sample(range(self._topics * PARTITIONS), count):
            by_topic.setdefault(number // PARTITIONS, []).append(number % PARTITIONS)
        records = tuple(_written(topic, partitions, self._turn) for topic, partitions in by_topic.items())
        batch = Batch(records, zxid=self._turn, time_ms=TIME_MS + self._turn)
        return _cpu_s(lambda: self.feed.take(batch))

    def table(self) -> None:
        """What the partition list needs of all topics, made from what there was before."""
        _look_at(self.feed.moment, self._memory)

    def sorted_by_python(self, name: str) -> float:
        """Processor time (s) of sorting alone, as Python does it, of what a field has for each row."""
        ranks = table_of(self.feed.moment, self._memory).fields(TIME_MS + 60_000)[name].ranks().tolist()
        return _cpu_s(lambda: sorted(range(len(ranks)), key=ranks.__getitem__))

    def answer(self, **asked: str) -> float:
        """Processor time (s) of an answer about the partition list."""
        key = f"{topic_name(0)}-5"
        query = ListQuery(list="partitions", count=150, width=120, key=key, **asked)  # pyright: ignore[reportArgumentType]
        return _cpu_s(lambda: partitions_window(self.feed.moment, query, TIME_MS + 60_000, self._memory))


def _deltas(cluster: Cluster, what: str, changes: int) -> Iterator[Figure]:
    whole, findings, tables, rivals = list[float](), list[float](), list[float](), (list[float](), list[float]())
    for number in range(ROUNDS):
        before = cluster.feed.moment.findings
        whole.append(cluster.change(changes))
        moment = cluster.feed.moment
        findings.append(_cpu_s(lambda was=before, image=moment.image: find(image, was)))
        tables.append(_cpu_s(cluster.table))
        if number < 3:
            rivals[0].append(_cpu_s(lambda image=moment.image: find(image)))
            rivals[1].append(_cpu_s(lambda now=moment: _look_at(now, Memory())))
    yield Figure(f"{what}: image, findings and feed", median(whole))
    yield Figure(f"{what}: findings", median(findings), "all anew", median(rivals[0]))
    yield Figure(f"{what}: partition table", median(tables), "all anew", median(rivals[1]))


def _lists(cluster: Cluster) -> Iterator[Figure]:
    """Each after a change, so that nothing but the names is at hand."""
    cluster.answer(filter="x")
    for asked in (*({"filter": text} for text in FILTERS), *({"sort": name} for name in SORTS)):
        times: list[float] = []
        for _ in range(5):
            cluster.change(1)
            times.append(cluster.answer(**asked))
        (kind, text), size = *asked.items(), cluster.feed.moment.image.partition_count
        what, ours_s = f"{size:,} rows, {kind} {text}", median(times)
        yield Figure(what, ours_s, "the goal", GOAL_S, goal=1, note=f"{max(times) * 1e3:.0f} ms at most")
        if kind == "sort":
            yield Figure(what, ours_s, "Python's sorted", median(cluster.sorted_by_python(text) for _ in range(5)))


def _look_at(moment: Moment, memory: Memory) -> None:
    table = table_of(moment, memory)
    assert len(table) and table.brokers and table.widest_name and table.isr_width


def _listing(topics: int) -> Iterator[Record]:
    for broker in range(1, BROKERS + 1):
        yield BrokerRegistered(broker=broker, rack=f"rack-{broker % FACTOR}")
    yield ControllerElected(broker=1)
    yield ControllerEpochChanged(epoch=1)
    replicas = {partition: tuple(replicas_of(partition)) for partition in range(PARTITIONS)}
    for topic in range(topics):
        yield TopicAssigned(topic=topic_name(topic), replicas=replicas)
        yield _written(topic, range(PARTITIONS), 0)


def _written(topic: int, partitions: list[int] | range, turn: int) -> PartitionStatesWritten:
    """With every turn another replica leads."""
    states: list[PartitionState] = []
    for partition in partitions:
        isr = tuple(replicas_of(partition))
        leader = isr[turn % FACTOR]
        states.append(PartitionState(partition, leader, turn, isr, 1, turn, zxid=turn, time_ms=TIME_MS + turn))
    return PartitionStatesWritten(topic=topic_name(topic), states=tuple(states))


def _cpu_s(do: Callable[[], object]) -> float:
    began_s = time.process_time()
    do()
    return time.process_time() - began_s
