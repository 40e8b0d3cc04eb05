"""What an observer hands on → batches of facts: a listing once it is up to date, then what changes.

Of the first listing a large snapshot is told in parts while it is read. Nothing else is told before it, or between a
snapshot that replaces everything and the end of the log behind it: what was told before stands. Offsets take the place
of zxids.
"""

import time
from collections.abc import Callable, Iterable
from typing import Final

from model.cluster import records as r
from model.cluster.image_parts import Quorum
from model.hosts.observing.replaying import replay_batches, replay_snapshot
from model.hosts.process import uncollected
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.observer.messages import BatchesCommitted, Handed, LogPosition, QuorumSeen, SnapshotGrew, SnapshotRead
from model.sources.kafka.views import essence
from model.sources.quorum.growing import Growing
from model.sources.source import FactBatch

TOLD_BYTES: Final = 8 << 20
"""Of a snapshot, from one part to the next; the first is as much as comes at once."""


class LogFacts:
    """For one thread at a time."""

    def __init__(self, tell: Callable[[FactBatch], None], *, tells_parts: bool = True) -> None:
        """Whoever has a picture by others already wants no parts, and takes what the log tells once it is whole."""
        self._tell, self._tells_parts = tell, tells_parts
        self._replay = Replay()
        self._at = RecordPlace()
        self._is_listed = False
        self._quorum: Quorum | None = None
        self._cluster_id: str | None = None
        self._growing: Growing | None = None
        self._part = self._due = 0
        """Parts that were told of what is not listed yet, and bytes from which on the next one is."""

    @property
    def is_listed(self) -> bool:
        """Whether what was told is whole."""
        return self._is_listed

    @property
    def at(self) -> RecordPlace:
        """The last record that was taken."""
        return self._at

    @property
    def trouble(self) -> str:
        """One clause on records that could not be used; empty where there are none."""
        return self._replay.trouble

    def take(self, handed: Handed) -> None:
        """Tells what is new, where a listing was told already."""
        match handed:
            case SnapshotGrew():
                with uncollected():
                    self._grow(handed)
            case SnapshotRead(snapshot, data):
                with uncollected():
                    self._replace(snapshot, data)
            case BatchesCommitted(batches):
                if self._growing is not None:  # somebody else leads, who has the log that continues ours
                    self._growing, self._part = None, 0
                for batch in batches:
                    self._at = replay_batches(self._replay, batch.data)
                if self._is_listed:
                    self._tell_batch(tuple(self._replay.facts(self._at)))
            case QuorumSeen(quorum):
                if self._is_listed and (self._quorum is None or essence(quorum) != essence(self._quorum)):
                    self._tell(FactBatch((r.QuorumDescribed(quorum=quorum),), -1, time.time_ns() // 1_000_000))
                self._quorum = quorum

    def _grow(self, piece: SnapshotGrew) -> None:
        growing = self._growing
        if not piece.position:
            growing = self._growing = Growing(piece.id)
            self._part = self._due = 0
        if growing is None or growing.id != piece.id:
            return
        growing.take(piece)
        if self._tells_parts and not self._is_listed and growing.read > self._due:
            self._part, self._due = self._part + 1, growing.read + TOLD_BYTES
            facts = (r.GenerationRecognised(generation="kraft"), *growing.replay.facts(growing.at))
            self._tell(FactBatch(facts, growing.at.offset, growing.at.time_ms, part=self._part))

    def _replace(self, snapshot: LogPosition, data: bytes) -> None:
        growing, self._growing, self._is_listed = self._growing, None, False
        if growing is not None and growing.id == snapshot and growing.is_sound:
            self._replay, self._at = growing.replay, growing.at
            replay_batches(self._replay, data[growing.read :], is_snapshot=True)
        else:
            self._replay, self._part = Replay(), 0
            self._at = replay_snapshot(self._replay, snapshot, data)

    def led_by(self, leader: int, epoch: int) -> None:
        """Who leads, as its answers say: a snapshot does not, where nobody was elected since."""
        self._replay.assume_leader(leader, epoch, ())

    def list(self, cluster_id: str | None, others: Iterable[r.ClusterRecord] = ()) -> None:
        """It is up to date: tells everything and `others`, unless that was told; and which cluster it is."""
        if self._is_listed and cluster_id == self._cluster_id:
            return
        facts: list[r.ClusterRecord] = [] if cluster_id is None else [r.ClusterIdentified(cluster_id=cluster_id)]
        is_listing = not self._is_listed
        if is_listing:
            facts += [r.GenerationRecognised(generation="kraft"), *self._replay.facts(self._at), *others]
            if self._quorum is not None:
                facts.append(r.QuorumDescribed(quorum=self._quorum))
        self._cluster_id, self._is_listed = cluster_id, True
        part = self._part + 1 if is_listing and self._part else 0
        self._part = 0
        self._tell_batch(tuple(facts), listing=is_listing, part=part)

    def _tell_batch(self, facts: tuple[r.ClusterRecord, ...], *, listing: bool = False, part: int = 0) -> None:
        logged = self._replay.logged()
        if facts or logged:
            self._tell(FactBatch(facts, self._at.offset, self._at.time_ms, listing=listing, part=part, logged=logged))
