"""The moments of the last hours, within a bound: a value, and questions about it.

A moment more makes another timeline; the oldest moments go when there are too many, or when they cost too much memory.
None is left out in between. A moment costs what changed after it: only the newest image is kept whole.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable

import msgspec

from model.cluster.changes import Change
from model.cluster.cluster_image import EMPTY, ClusterImage
from model.sources.feed import Moment
from model.sources.timeline.instant import Instant
from model.sources.timeline.memory import CHANGE_BYTES, bytes_of
from model.sources.timeline.sharing import frame_of, gone_back, way_back

MOST_MOMENTS = 10_000
MOST_BYTES = 256 << 20


class Timeline(msgspec.Struct, frozen=True, eq=False):
    """Instants, oldest first; the newest is always kept. Both `seq` and `at_ms` only grow."""

    most_moments: int = MOST_MOMENTS
    most_bytes: int = MOST_BYTES
    instants: tuple[Instant, ...] = ()
    size_bytes: int = 0
    """What the instants cost together beside the newest, about."""
    dropped: int = 0
    """Instants that were kept once."""
    feed: tuple[Change, ...] = ()
    """The newest moment's."""
    image: ClusterImage = EMPTY
    """The newest moment's."""

    def then(self, moment: Moment) -> "Timeline":
        """With one moment more. One in which nothing changed, or whose image is not whole, adds none."""
        changes = added(self.feed, moment.feed)
        last = self.instants[-1] if self.instants else None
        if not moment.image.provenance.complete or (last is not None and moment.image is self.image and not changes):
            return self
        known = self.instants
        if last is not None:
            way = way_back(self.image, moment.image)
            cost = bytes_of(way, moment.image) + CHANGE_BYTES * len(last.changes)
            known = (*known[:-1], msgspec.structs.replace(last, way=way, size_bytes=cost))
        size = self.size_bytes + (known[-1].size_bytes if known else 0)
        newest = self._instant(moment, changes)
        return self._bounded((*known, newest), size, moment)

    def _instant(self, moment: Moment, changes: tuple[Change, ...]) -> Instant:
        last = self.instants[-1] if self.instants else None
        errors = moment.findings.census.of("error")
        is_new = last is None or moment.image is not self.image
        seen_ms = moment.image.provenance.time_ms if is_new else changes[-1].time_ms
        return Instant(
            seq=moment.seq,
            at_ms=seen_ms if last is None else max(seen_ms, last.at_ms),
            frame=frame_of(moment.image),
            changes=changes,
            errors=errors,
            more_errors=last is not None and errors > last.errors,
            total=len(changes) + (0 if last is None else last.total),
        )

    def _bounded(self, instants: tuple[Instant, ...], size: int, newest: Moment) -> "Timeline":
        gone = max(len(instants) - self.most_moments, 0)
        size -= sum(instant.size_bytes for instant in instants[:gone])
        while size > self.most_bytes and gone < len(instants) - 1:
            size -= instants[gone].size_bytes
            gone += 1
        return msgspec.structs.replace(
            self,
            instants=instants[gone:],
            size_bytes=size,
            dropped=self.dropped + gone,
            feed=newest.feed,
            image=newest.image,
        )

    def image_of(self, instant: Instant) -> ClusterImage:
        """The cluster as it was at one of the instants. The farther back, the longer: 1 µs a moment at least."""
        place = bisect_left(self.instants, instant.seq, key=lambda each: each.seq)
        later = self.instants[place:-1]
        return gone_back(self.image, instant.frame, (each.way for each in reversed(later))) if later else self.image

    def feed_at(self, instant: Instant) -> tuple[Change, ...]:
        """The feed as it was at one of the instants, as far as the newest one still has it."""
        return self.feed[: max(len(self.feed) - (self.instants[-1].total - instant.total), 0)]

    # Which instant

    def at_seq(self, seq: int) -> Instant | None:
        """The last one with this `seq` or a smaller one; the oldest where all are later."""
        return self._last(bisect_right(self.instants, seq, key=lambda each: each.seq))

    def at_time(self, at_ms: int) -> Instant | None:
        """The last one at this time or before; None where all are later."""
        place = bisect_right(self.instants, at_ms, key=lambda each: each.at_ms)
        return self.instants[place - 1] if place else None

    def with_epoch(self, epoch: int) -> Instant | None:
        """The first one under this controller epoch."""
        return next((each for each in self.instants if each.frame.controller.epoch == epoch), None)

    def with_zxid(self, zxid: int) -> Instant | None:
        """The first one that knows of this transaction; None where none does, or the oldest is later already."""
        first = self.first(lambda each: each.frame.provenance.zxid >= zxid)
        if first is None or (first is self.instants[0] and first.frame.provenance.zxid > zxid):
            return None
        return first

    def first(self, wanted: Callable[[Instant], bool]) -> Instant | None:
        """The oldest one of these."""
        return next((each for each in self.instants if wanted(each)), None)

    def before(self, seq: int, wanted: Callable[[Instant], bool]) -> Instant | None:
        """The last one of these before `seq`."""
        place = bisect_left(self.instants, seq, key=lambda each: each.seq)
        return next((each for each in reversed(self.instants[:place]) if wanted(each)), None)

    def after(self, seq: int, wanted: Callable[[Instant], bool]) -> Instant | None:
        """The first one of these after `seq`."""
        place = bisect_right(self.instants, seq, key=lambda each: each.seq)
        return next((each for each in self.instants[place:] if wanted(each)), None)

    def _last(self, end: int) -> Instant | None:
        return self.instants[max(end - 1, 0)] if self.instants else None


def added(before: tuple[Change, ...], after: tuple[Change, ...]) -> tuple[Change, ...]:
    """What a feed has behind the last change of an earlier one."""
    if not before:
        return after
    newest = before[-1]
    count = next((count for count, change in enumerate(reversed(after)) if change is newest), len(after))
    return after[len(after) - count :]
