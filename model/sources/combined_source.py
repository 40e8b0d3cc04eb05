"""A cluster's ZooKeeper and its brokers as one source: ZooKeeper says what the cluster is, brokers what groups do.

Brokers tell log ends now and then, ZooKeeper tells offsets at once: an offset may lie beyond the ends that were read.
Whoever commits an offset has read so far: until the ends are read again, the log is taken to have grown to it. Only a
look that began later can say that it did not.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.records import ClusterRecord, LogEndsRead, OffsetCommitted
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.sources.source import FactBatch, Progress, Sink, Source, SourceStatus, TellsProgress
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource


class GrownLogs:
    """What was told, and what was committed since the look before last. For one thread at a time."""

    def __init__(self) -> None:
        self._ends: dict[TopicPartition, int] = {}
        self._before: dict[TopicPartition, int] = {}
        self._since: dict[TopicPartition, int] = {}
        """Committed before, and since, the end of the last look."""

    def commit(self, records: Iterable[ClusterRecord]) -> tuple[ClusterRecord, ...]:
        """ZooKeeper told these; the ends as they are known with them, where that differs."""
        has_grown = False
        for record in records:
            if isinstance(record, OffsetCommitted):
                has_grown |= record.offset > self._end(record.partition, record.offset)
                self._since[record.partition] = max(record.offset, self._since.get(record.partition, 0))
        return (self._known(),) if has_grown else ()

    def read(self, records: tuple[ClusterRecord, ...]) -> tuple[ClusterRecord, ...]:
        """Brokers told these; the same, but for the ends."""
        for record in records:
            if isinstance(record, LogEndsRead):
                self._ends = dict(record.ends)
        return tuple(self._known() if isinstance(record, LogEndsRead) else record for record in records)

    def looked(self) -> tuple[ClusterRecord, ...]:
        """Brokers were asked for all ends; those ends as they are known by now, where that differs."""
        known = self._known()
        self._before, self._since = self._since, {}
        return () if self._known() == known else (self._known(),)

    def _end(self, partition: TopicPartition, unknown: int) -> int:
        end = self._ends.get(partition, unknown)
        return max(end, self._before.get(partition, end), self._since.get(partition, end))

    def _known(self) -> LogEndsRead:
        committed = self._before.keys() | self._since.keys()
        return LogEndsRead(ends=self._ends | {read: self._end(read, 0) for read in committed & self._ends.keys()})


class CompanionSource(Source, TellsProgress, Protocol):
    """A source beside another one: it is told what that one knows."""

    image: Callable[[], ClusterImage | None]
    """What is compared; None while not all of it is known."""
    is_forgotten: bool
    """What was told is not known any more."""

    def also_measure(self, partitions: Iterable[TopicPartition]) -> None:
        """Their log ends are wanted, too; from any thread."""
        ...


class CombinedSource:
    """Fares as its ZooKeeper does; that brokers cannot be asked is a warning. Used once."""

    def __init__(self, zookeeper: ZooKeeperSource, groups: CompanionSource) -> None:
        self._zookeeper = zookeeper
        self._groups = groups
        self._lock = threading.RLock()
        self._read: set[TopicPartition] = set()
        """What ZooKeeper groups have committed offsets of."""
        self._logs = GrownLogs()
        self._status = SourceStatus()
        self._trouble = ""
        self._is_partial = True

    @property
    def name(self) -> str:
        return self._zookeeper.name

    @property
    def reader(self) -> ZooKeeperReader | None:
        """ZooKeeper's session, once open."""
        return self._zookeeper.reader

    def compare_with(self, image: Callable[[], ClusterImage]) -> None:
        """What the brokers tell is compared with this, which comes of what this source tells; called before `open`."""

        def whole() -> ClusterImage | None:
            return known if (known := image()).provenance.complete else None

        self._groups.image = whole

    def open(self, sink: Sink) -> None:
        self._zookeeper.open(_Part(self._lock, sink, self._take, self._fare))
        self._groups.open(_Part(self._lock, sink, self._groups_take, lambda status: self._groups_fare(status, sink)))

    def progress(self) -> Progress:
        """Of both; once ZooKeeper has told everything, what is not told is the brokers'."""
        told, beside = self._zookeeper.progress(), self._groups.progress()
        unread = told.unread if self._status.phase != "live" else "the consumer groups of the brokers"
        answers, connections = told.answers + beside.answers, told.connections + beside.connections
        return Progress(answers, told.pieces, connections, unread)

    def close(self) -> None:
        self._groups.close()
        self._zookeeper.close()

    def _take(self, batch: FactBatch) -> FactBatch:
        if batch.fresh:
            self._groups.is_forgotten = True
            self._logs = GrownLogs()
        if batch.begins_listing:
            self._read.clear()
        before = len(self._read)
        self._read.update(record.partition for record in batch.records if isinstance(record, r.OffsetCommitted))
        if batch.listing or len(self._read) != before:
            self._groups.also_measure(self._read)
        return msgspec.structs.replace(batch, records=(*batch.records, *self._logs.commit(batch.records)))

    def _groups_take(self, batch: FactBatch) -> FactBatch:
        return msgspec.structs.replace(batch, records=self._logs.read(batch.records))

    def _fare(self, status: SourceStatus) -> SourceStatus:
        self._status = status
        return self._summary()

    def _groups_fare(self, status: SourceStatus, sink: Sink) -> SourceStatus | None:
        if status.phase == "live" and (ends := self._logs.looked()):
            sink.take(FactBatch(ends, -1, status.verified_ms))
        said = status.reason or status.warning
        before = (self._trouble, self._is_partial)
        self._trouble, self._is_partial = f"consumer groups: {said}" if said else "", False
        return self._summary() if (self._trouble, self._is_partial) != before else None

    def _summary(self) -> SourceStatus:
        status = self._status
        warning = status.warning or self._trouble
        return msgspec.structs.replace(status, warning=warning, is_partial=self._is_partial)


class _Part:
    """The sink of one of the two: lets one call at a time through."""

    def __init__(
        self,
        lock: threading.RLock,
        sink: Sink,
        takes: Callable[[FactBatch], FactBatch],
        fares: Callable[[SourceStatus], SourceStatus | None],
    ) -> None:
        self._lock, self._sink, self._takes, self._fares = lock, sink, takes, fares

    def take(self, batch: FactBatch) -> None:
        with self._lock:
            self._sink.take(self._takes(batch))

    def report(self, status: SourceStatus) -> None:
        with self._lock:
            if (summary := self._fares(status)) is not None:
                self._sink.report(summary)
