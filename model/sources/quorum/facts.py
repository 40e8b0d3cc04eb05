"""What an observer hands on → batches of facts: a listing once it is up to date, then what changes.

Nothing is told before the first listing, or between a snapshot that replaces everything and the end of the log behind
it: what was told before stands. Offsets take the place of zxids.
"""

import time
from collections.abc import Callable, Iterable

from model.cluster import records as r
from model.cluster.image_parts import Quorum
from model.hosts.observing.replaying import replay_batches, replay_snapshot
from model.hosts.process import uncollected
from model.metadata_log.replay import Replay
from model.metadata_log.topics import Place
from model.observer.messages import BatchesCommitted, Handed, QuorumSeen, SnapshotRead
from model.sources.kafka.views import essence
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
