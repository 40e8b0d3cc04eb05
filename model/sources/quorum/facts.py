"""What an observer hands on → batches of facts: a listing once it is up to date, then what changes.

Nothing is told before the first listing, or between a snapshot that replaces everything and the end of the log behind
it: what was told before stands. Offsets take the place of zxids.
"""

import time
from collections.abc import Callable, Iterable

from model.cluster import records as r
from model.cluster.image_parts import Quorum
from model.hosts.process import uncollected
from model.log.records import Record, RecordBatch, records_of, scan
from model.log.records.columns import batch_columns
from model.metadata_log.partition_records import Values
from model.metadata_log.replay import Replay
from model.metadata_log.topics import Place
from model.observer.messages import BatchesCommitted, Handed, LogPosition, QuorumSeen, SnapshotRead
from model.sources.kafka.views import essence
from model.sources.metadata_log.snapshots import control_number, header_time
from model.sources.source import Batch


class LogFacts:
    """For one thread at a time."""

    def __init__(self, tell: Callable[[Batch], None]) -> None:
        self._tell = tell
        self._replay = Replay()
        self._at = Place()
        self._is_listed = False
        self._quorum: Quorum | None = None
        self._cluster_id: str | None = None

    @property
    def is_listed(self) -> bool:
        """Whether what was told is whole."""
        return self._is_listed

    @property
    def at(self) -> Place:
        """The last record that was taken."""
        return self._at

    @property
    def trouble(self) -> str:
        """One clause on records that could not be used; empty where there are none."""
        return self._replay.trouble

    def take(self, handed: Handed) -> None:
        """Tells what is new, where a listing was told already."""
        match handed:
            case SnapshotRead(snapshot, data):
                self._replay, self._is_listed = Replay(), False
                with uncollected():
                    self._at = replay_snapshot(self._replay, snapshot, data)
            case BatchesCommitted(batches):
                for batch in batches:
                    self._at = replay_batches(self._replay, batch.data)
                if self._is_listed:
                    self._tell_batch(tuple(self._replay.facts(self._at)))
            case QuorumSeen(quorum):
                if self._is_listed and (self._quorum is None or essence(quorum) != essence(self._quorum)):
                    self._tell(Batch((r.QuorumDescribed(quorum=quorum),), -1, time.time_ns() // 1_000_000))
                self._quorum = quorum

    def led_by(self, leader: int, epoch: int) -> None:
        """Who leads, as its answers say: a snapshot does not, where nobody was elected since."""
        self._replay.assume_leader(leader, epoch, ())

    def list(self, cluster_id: str | None, others: Iterable[r.Record] = ()) -> None:
        """It is up to date: tells everything and `others`, unless that was told; and which cluster it is."""
        if self._is_listed and cluster_id == self._cluster_id:
            return
        facts: list[r.Record] = [] if cluster_id is None else [r.ClusterIdentified(cluster_id=cluster_id)]
        is_listing = not self._is_listed
        if is_listing:
            facts += [r.GenerationRecognised(generation="kraft"), *self._replay.facts(self._at), *others]
            if self._quorum is not None:
                facts.append(r.QuorumDescribed(quorum=self._quorum))
        self._cluster_id, self._is_listed = cluster_id, True
        self._tell_batch(tuple(facts), listing=is_listing)

    def _tell_batch(self, facts: tuple[r.Record, ...], *, listing: bool = False) -> None:
        logged = self._replay.logged()
        if facts or logged:
            self._tell(Batch(facts, self._at.offset, self._at.time_ms, listing=listing, logged=logged))


def replay_snapshot(replay: Replay, snapshot: LogPosition, data: bytes) -> Place:
    """A whole snapshot, whose bytes were checked. Where and when its last record was written."""
    replay_batches(replay, data, is_snapshot=True)
    return Place(snapshot.offset - 1, snapshot.epoch, _snapshot_time(data))


def replay_batches(replay: Replay, data: bytes, *, is_snapshot: bool = False) -> Place:
    """Batches that follow each other, of the log or of a snapshot; the last record of the log."""
    at = Place()
    for batch in scan(data):
        if not isinstance(batch, RecordBatch):
            break
        if is_snapshot and not batch.is_control and (columns := batch_columns(data, batch)) is not None:
            replay.load(Values(columns.data, columns.value_start, columns.value_size))
            continue
        for record in records_of(data, batch):
            if not isinstance(record, Record):
                replay.note(f"a batch is damaged: {record.cause}", at)
                break
            at = place = Place(record.offset, batch.partition_leader_epoch, batch.max_timestamp)
            if batch.is_control:
                replay.take_control(control_number(record.key), record.value, Place() if is_snapshot else place)
            else:
                replay.take(record.value, Place() if is_snapshot else place)
        at = Place(batch.last_offset, batch.partition_leader_epoch, batch.max_timestamp)
    return at


def _snapshot_time(data: bytes) -> int:
    first = next((batch for batch in scan(data) if isinstance(batch, RecordBatch)), None)
    record = None if first is None else next(records_of(data, first), None)
    return header_time(record.value) if isinstance(record, Record) else 0
