"""A source's records folded into moments: image, findings and the feed of changes, published as one immutable value.

The only place that applies deltas for a reader: screens, `kdrill status` and `kdrill snapshot` all read moments.
Decides nothing.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from model.cluster.changes import Change, changes_between
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings import Findings, find
from model.consumers.rebalance_history import with_rebalances
from model.sources.source import Batch, SourceStatus

FEED_LENGTH = 10_000
"""Changes kept in a moment's feed, newest last."""

_UNKNOWN = SourceStatus()
_NOTHING_FOUND = Findings()


@dataclass(frozen=True)
class Moment:
    """All that is known at one moment. `seq` grows with every moment published."""

    seq: int = 0
    image: ClusterImage = EMPTY
    findings: Findings = _NOTHING_FOUND
    feed: tuple[Change, ...] = ()
    status: SourceStatus = _UNKNOWN
    touched: tuple[str, ...] = ()
    """Paths that changed on the way from the moment before to this one."""
    relisted: bool = False
    """Everything was read again: anything may have changed on the way."""


class Feed:
    """A sink that publishes a Moment for every batch and every change of status.

    `publish` is called on the source's thread or a noting one, one call at a time, and must not block.
    """

    def __init__(self, source_name: str, publish: Callable[[Moment], None]) -> None:
        self._source_name = source_name
        self._publish = publish
        self._lock = threading.RLock()
        self.moment = Moment()

    def take(self, batch: Batch) -> None:
        """Applies a batch of records."""
        before = EMPTY if batch.fresh else self.moment.image
        delta = ClusterDelta(before).replay_all(batch.records)
        if batch.listing:
            delta.finish_listing()
        provenance = Provenance(
            source=self._source_name,
            zxid=max(batch.zxid, before.provenance.zxid),
            time_ms=batch.time_ms,
            complete=batch.listing or before.provenance.complete,
        )
        image = with_rebalances(before, delta.apply(provenance))
        changes = changes_between(before, image)
        findings = find(image, None if batch.fresh else self.moment.findings)
        with self._lock:
            feed = (*self.moment.feed, *changes)[-FEED_LENGTH:]
            self._step(image=image, findings=findings, feed=feed, touched=batch.touched, relisted=batch.listing)

    def note(self, change: Change) -> None:
        """Puts what somebody else knows of into the feed, such as a fault that was made; from any thread."""
        with self._lock:
            self._step(feed=(*self.moment.feed, change)[-FEED_LENGTH:], touched=(), relisted=False)

    def report(self, status: SourceStatus) -> None:
        """Takes in how the source fares."""
        self._step(status=status, touched=(), relisted=False)

    def _step(self, **changed: object) -> None:
        with self._lock:
            self.moment = replace(self.moment, seq=self.moment.seq + 1, **changed)  # pyright: ignore[reportArgumentType]
            self._publish(self.moment)
