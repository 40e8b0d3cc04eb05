"""The metadata log as it is read from its start → moments before a source was opened, as many as there is room for.

However long the log is, memory holds one image, the facts of the last batches and the last records.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.cluster.findings import find
from model.hosts.observing.replaying import replay_batches, replay_snapshot
from model.metadata_log.journal import MOST_RECORDS, Logged
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.observer.messages import BatchesCommitted, Handed, SnapshotRead
from model.sources.feed import Feed, Moment
from model.sources.timeline import MOST_BYTES, Timeline

MOST_MOMENTS: Final = 4_000
"""Of those that are played; each is one batch that said something."""
MOST_FACTS: Final = 200_000
"""That wait to be played."""
BREATH_S: Final = 0.002
"""Between two moments: whoever asks something meanwhile is answered."""


class _Step(msgspec.Struct, frozen=True):
    at: RecordPlace
    facts: list[r.ClusterRecord]


class PastMoments:
    """For one thread at a time."""

    def __init__(self, source: str, cluster_id: str | None, until_ms: int | None = None) -> None:
        """Batches later than `until_ms` belong to what was told since; None: none is."""
        self._source, self._until_ms = source, until_ms
        self._replay = Replay(MOST_RECORDS)
        named = [] if cluster_id is None else [r.ClusterIdentified(cluster_id=cluster_id)]
        self._base = ClusterDelta(EMPTY).replay_all([r.GenerationRecognised(generation="kraft"), *named])
        self._base_at: RecordPlace | None = None
        """The last record that is in the base, where that is not empty."""
        self._steps: deque[_Step] = deque()
        self._facts = 0

    def take(self, handed: Handed) -> None:
        """What was read."""
        match handed:
            case SnapshotRead(snapshot, data):
                self._base_at = replay_snapshot(self._replay, snapshot, data)
                self._base.replay_all(self._replay.facts(self._base_at))
            case BatchesCommitted(batches):
                for batch in batches:
                    if self._until_ms is None or batch.timestamp_ms <= self._until_ms:
                        at = replay_batches(self._replay, batch.data)
                        self._add(at, self._replay.facts(at))
            case _:
                pass

    def _add(self, at: RecordPlace, facts: list[r.ClusterRecord]) -> None:
        if not facts:
            return
        self._steps.append(_Step(at, facts))
        self._facts += _weight(facts)
        while len(self._steps) > MOST_MOMENTS or (self._facts > MOST_FACTS and len(self._steps) > 1):
            oldest = self._steps.popleft()
            self._facts -= _weight(oldest.facts)
            self._base.replay_all(oldest.facts)
            self._base_at = oldest.at

    def records(self) -> tuple[Logged, ...]:
        """The last of those that were read."""
        return self._replay.logged()

    def timeline(self, wait: Callable[[float], bool]) -> Timeline:
        """The moments, with what happened between each and the next; as far as it has come once `wait` says so."""
        feed, timeline = Feed(self._source, lambda _: None), Timeline(MOST_MOMENTS + 1, MOST_BYTES // 4)
        image = EMPTY
        if self._base_at is not None:
            image = self._base.apply(self._provenance(self._base_at))
            feed.moment = Moment(image=image, findings=find(image))
            timeline = timeline.then(replace(feed.moment, seq=1))
        delta = ClusterDelta(image) if self._base_at is not None else self._base
        for seq, step in enumerate(self._steps, 2):
            image = delta.replay_all(step.facts).apply(self._provenance(step.at))
            feed.show(image)
            timeline = timeline.then(replace(feed.moment, seq=seq))
            delta = ClusterDelta(image)
            if wait(BREATH_S):
                break
        return timeline

    def _provenance(self, at: RecordPlace) -> Provenance:
        return Provenance(self._source, at.offset, at.time_ms, complete=True)


def _weight(facts: list[r.ClusterRecord]) -> int:
    """How many partitions, or other things, they are about."""
    return sum(len(fact.states) if isinstance(fact, r.PartitionStatesWritten) else 1 for fact in facts)
