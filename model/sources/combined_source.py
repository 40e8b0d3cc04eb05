"""A cluster's ZooKeeper and its brokers as one source: ZooKeeper says what the cluster is, brokers what groups do."""

import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.sources.source import Batch, Sink, Source, SourceStatus
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource


class Measures(Source, Protocol):
    """A source that can tell the log ends of partitions it would not look at by itself."""

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """From any thread."""
        ...


class CombinedSource:
    """Fares as its ZooKeeper does; that brokers cannot be asked is a warning. Used once."""

    def __init__(self, zookeeper: ZooKeeperSource, groups: Measures) -> None:
        self._zookeeper = zookeeper
        self._groups = groups
        self._lock = threading.RLock()
        self._read: set[TopicPartition] = set()
        """What ZooKeeper groups have committed offsets of."""
        self._status = SourceStatus()
        self._trouble = ""

    @property
    def name(self) -> str:
        return self._zookeeper.name

    @property
    def reader(self) -> ZooKeeperReader | None:
        """ZooKeeper's session, once open."""
        return self._zookeeper.reader

    def open(self, sink: Sink) -> None:
        self._zookeeper.open(_Part(self._lock, sink, self._take, self._fare))
        self._groups.open(_Part(self._lock, sink, lambda _: None, self._groups_fare))

    def close(self) -> None:
        self._groups.close()
        self._zookeeper.close()

    def _take(self, batch: Batch) -> None:
        if batch.listing:
            self._read.clear()
        before = len(self._read)
        self._read.update(record.partition for record in batch.records if isinstance(record, r.OffsetCommitted))
        if batch.listing or len(self._read) != before:
            self._groups.also_measure(self._read)

    def _fare(self, status: SourceStatus) -> SourceStatus:
        self._status = status
        return self._summary()

    def _groups_fare(self, status: SourceStatus) -> SourceStatus:
        self._trouble = f"consumer groups: {status.reason}" if status.reason else ""
        return self._summary()

    def _summary(self) -> SourceStatus:
        status = self._status
        return msgspec.structs.replace(status, warning=status.warning or self._trouble)


class _Part:
    """The sink of one of the two: lets one call at a time through."""

    def __init__(
        self,
        lock: threading.RLock,
        sink: Sink,
        listens: Callable[[Batch], object],
        fares: Callable[[SourceStatus], SourceStatus],
    ) -> None:
        self._lock, self._sink, self._listens, self._fares = lock, sink, listens, fares

    def take(self, batch: Batch) -> None:
        with self._lock:
            self._listens(batch)
            self._sink.take(batch)

    def report(self, status: SourceStatus) -> None:
        with self._lock:
            self._sink.report(self._fares(status))
