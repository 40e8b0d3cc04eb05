"""A large cluster told as a source tells it, and what the dashboard works out of it, in processor time."""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator

from model.cluster.records import (
    BrokerRegistered,
    ClusterRecord,
    ControllerElected,
    ControllerEpochChanged,
    PartitionState,
    PartitionStatesWritten,
    TopicAssigned,
)
from model.sources.feed import Feed, Moment
from model.sources.source import FactBatch
from tests.benchmarks.zookeeper_image import BROKERS, FACTOR, TIME_MS, replicas_of, topic_name
from tui.engine.listing import AnswerMemo
from tui.engine.partitions.rows import partitions_window, table_of
from tui.engine.queries import PartitionList

PARTITIONS = 100
"""Of each topic."""


class FedCluster:
    """A feed that has told so many topics, all of them well, and is told changes."""

    def __init__(self, topics: int) -> None:
        self._topics, self._turn = topics, 0
        self._random = random.Random(topics)
        self._memory = AnswerMemo()
        batch = FactBatch(tuple(_listing(topics)), zxid=1, time_ms=TIME_MS, listing=True)
        self.feed = Feed("benchmark", lambda _: None)
        tracemalloc.start()
        self.feed.take(batch)
        gc.collect()
        self.bytes_each = tracemalloc.get_traced_memory()[0] / (topics * PARTITIONS)
        tracemalloc.stop()
        self.feed = Feed("benchmark", lambda _: None)
        self.loaded_s = cpu_s(lambda: self.feed.take(batch))
        self.table()

    def change(self, count: int) -> float:
        """Tells that so many partitions, anywhere, have other leaders; processor time (s)."""
        self._turn += 1
        by_topic: dict[int, list[int]] = {}
        for number in self._random.sample(range(self._topics * PARTITIONS), count):
            by_topic.setdefault(number // PARTITIONS, []).append(number % PARTITIONS)
        records = tuple(_written(topic, partitions, self._turn) for topic, partitions in by_topic.items())
        batch = FactBatch(records, zxid=self._turn, time_ms=TIME_MS + self._turn)
        return cpu_s(lambda: self.feed.take(batch))

    def table(self) -> None:
        """What the partition list needs of all topics, made from what there was before."""
        look_at(self.feed.moment, self._memory)

    def sorted_by_python(self, name: str) -> float:
        """Processor time (s) of sorting alone, as Python does it, of what a field has for each row."""
        ranks = table_of(self.feed.moment, self._memory).fields(TIME_MS + 60_000)[name].ranks().tolist()
        return cpu_s(lambda: sorted(range(len(ranks)), key=ranks.__getitem__))

    def answer(self, **asked: str) -> float:
        """Processor time (s) of an answer about the partition list."""
        key = f"{topic_name(0)}-5"
        query = PartitionList(count=150, width=120, key=key, **asked)  # pyright: ignore[reportArgumentType]
        return cpu_s(lambda: partitions_window(self.feed.moment, query, TIME_MS + 60_000, self._memory))


def look_at(moment: Moment, memory: AnswerMemo) -> None:
    """Works out what the partition list needs of all topics, but for what the memory has."""
    table = table_of(moment, memory)
    assert len(table) and table.brokers and table.widest_name and table.isr_width


def cpu_s(do: Callable[[], object]) -> float:
    """The processor time (s) of this process that something takes."""
    began_s = time.process_time()
    do()
    return time.process_time() - began_s


def _listing(topics: int) -> Iterator[ClusterRecord]:
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
