"""A source's records folded into moments: image, findings and the feed of changes, published as one immutable value.

The only place that applies deltas for a reader: screens, `kdrill status` and `kdrill snapshot` all read moments.
Decides nothing.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from model.cluster.change import Change
from model.cluster.changes import changes_between
from model.cluster.cluster_delta import ClusterDelta, relisted, unlisted
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings import Findings, find
from model.consumers.ownership import with_rebalances
from model.sources.source import FactBatch, SourceStatus

FEED_LENGTH = 10_000
"""Changes kept in a moment's feed, newest last."""

GROWN_S, GROWN = 0.5, 0.25
"""Until more of a first listing is shown: at least so long, and this part of the time it has taken so far."""

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

    @property
    def verified_ms(self) -> int:
        """When the image was last known to be true, ms since the epoch; of a source that says so, what it says.

        What is told beside it, such as of consumer groups, is news of a part and proves nothing of the rest.
        """
        return self.status.verified_ms or self.image.provenance.time_ms


class Feed:
    """A sink that publishes a Moment for every batch and every change of status.

    `publish` is called on the source's thread or a noting one, one call at a time, and must not block.
    """

    def __init__(
        self,
        source_name: str,
        publish: Callable[[Moment], None],
        clock_s: Callable[[], float] = time.monotonic,
        *,
        asks_brokers: bool = True,
        seq: int = 0,
    ) -> None:
        """`seq`: of the moment before the first."""
        self._clock_s = clock_s
        self._begun_s = self._grows_s = 0.0
        """When the listing under way began, and when more of it is shown."""
        self._source_name, self._asks_brokers = source_name, asks_brokers
        self._publish = publish
        self._lock = threading.RLock()
        self._listed: ClusterImage | None = None
        """What the listing under way has said so far."""
        self.moment = Moment(seq)

    def take(self, batch: FactBatch) -> None:
        before = EMPTY if batch.fresh else self.moment.image
        provenance = Provenance(
            source=self._source_name,
            zxid=max(batch.zxid, before.provenance.zxid),
            time_ms=batch.time_ms,
            complete=batch.listing or before.provenance.complete,
            asks_brokers=self._asks_brokers,
        )
        image = self._after(batch, before, provenance)
        if image is None:
            return
        image = with_rebalances(before, image)
        findings = find(image, None if batch.fresh else self.moment.findings)
        changes = () if batch.is_known_late else changes_between(before, image)
        self._see(image, findings, changes, batch.touched, relisted=batch.listing)

    def _after(self, batch: FactBatch, before: ClusterImage, provenance: Provenance) -> ClusterImage | None:
        """The next image; None where what is shown stands until more has been read."""
        listed = unlisted(before) if batch.begins_listing else self._listed
        if listed is not None:  # what brokers say in between is true of both
            self._listed = listed = ClusterDelta(listed).replay_all(batch.records).apply(provenance)
        if listed is None or not batch.is_listed:
            return ClusterDelta(before).replay_all(batch.records).apply(provenance)
        if batch.listing:
            self._listed = None
        elif before.provenance.complete or not self._has_grown(batch):
            return None
        return relisted(before, listed)

    def _has_grown(self, batch: FactBatch) -> bool:
        """Whether a part of a first listing is shown, with those before it: what is shown costs time to look at."""
        now_s = self._clock_s()
        if batch.begins_listing:
            self._begun_s = self._grows_s = now_s
        if now_s < self._grows_s:
            return False
        self._grows_s = now_s + max(GROWN_S, GROWN * (now_s - self._begun_s))
        return True

    def show(self, image: ClusterImage) -> None:
        """Takes a whole image as it was put together elsewhere, such as the next one of a recording."""
        changes = changes_between(self.moment.image, image)
        self._see(image, find(image, self.moment.findings), changes, (), relisted=True)

    def _see(
        self,
        image: ClusterImage,
        findings: Findings,
        changes: Sequence[Change],
        touched: tuple[str, ...],
        *,
        relisted: bool,
    ) -> None:
        with self._lock:
            feed = (*self.moment.feed, *changes)[-FEED_LENGTH:]
            self._step(image=image, findings=findings, feed=feed, touched=touched, relisted=relisted)

    def note(self, change: Change) -> None:
        """Puts what somebody else knows of into the feed, such as a fault that was made; from any thread."""
        with self._lock:
            self._step(feed=(*self.moment.feed, change)[-FEED_LENGTH:], touched=(), relisted=False)

    def recall(self, changes: tuple[Change, ...]) -> None:
        """Puts what had happened before into the feed, once that is known; from any thread."""
        with self._lock:
            self._step(feed=changes[-FEED_LENGTH:], touched=(), relisted=False)

    def precede(self, joined: Callable[[], "tuple[tuple[Change, ...], ClusterImage]"]) -> None:
        """Puts what had happened before into the feed, and what groups remember of it into the image.

        `joined` says both, and is called while nothing is published. Nobody must `take` anything meanwhile.
        """
        with self._lock:
            feed, image = joined()
            self._step(feed=feed[-FEED_LENGTH:], image=image, touched=(), relisted=False)

    def report(self, status: SourceStatus) -> None:
        """Takes in how the source fares."""
        self._step(status=status, touched=(), relisted=False)

    def _step(self, **changed: object) -> None:
        with self._lock:
            self.moment = replace(self.moment, seq=self.moment.seq + 1, **changed)  # pyright: ignore[reportArgumentType]
            self._publish(self.moment)
