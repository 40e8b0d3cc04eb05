"""The moments of the last hours, within a bound of memory: a value, and questions about it.

A moment more makes another timeline; the oldest moments go when there are too many, or when they cost too much memory.
None is left out in between. Only the newest image is kept whole; a moment is kept as the way back from the one after it
and costs what changed. Findings are not kept: they can be found again from the image.
"""

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any

import msgspec
import numpy as np

from model.cluster.change import Change
from model.cluster.cluster_image import EMPTY, ClusterImage, differing_keys
from model.cluster.image_parts import GroupImage
from model.cluster.topic_image import TopicImage
from model.sources.feed import Moment

PARTS = ("brokers", "topics", "groups", "classic_groups", "log_ends", "configs", "unreadable")
"""The image's mappings: with thousands of topics, a copy of one weighs more than what changed in it."""

WayBack = Mapping[str, Mapping[Any, Any]]
"""Part → key → what stood there in the earlier image; None: nothing. Parts and keys that are the same are left out."""


def frame_of(image: ClusterImage) -> ClusterImage:
    """The image without its mappings."""
    return msgspec.structs.replace(image, **{name: {} for name in PARTS})


def way_back(earlier: ClusterImage, later: ClusterImage) -> WayBack:
    """What makes the earlier image of the later one, beside its frame. Compares objects, not what is in them."""
    ways = ((name, _differing(getattr(earlier, name), getattr(later, name))) for name in PARTS)
    return {name: way for name, way in ways if way}


def gone_back(newest: ClusterImage, frame: ClusterImage, ways: Iterable[WayBack]) -> ClusterImage:
    """The image that lies behind these ways, the first of them from the newest image. A part that none of them names is
    the newest image's own object."""
    parts: dict[str, dict[Any, Any]] = {}
    for way in ways:
        for name, old in way.items():
            if name not in parts:
                parts[name] = dict(getattr(newest, name))
            parts[name].update(old)
    known = {name: {key: value for key, value in part.items() if value is not None} for name, part in parts.items()}
    return msgspec.structs.replace(frame, **{name: known.get(name, getattr(newest, name)) for name in PARTS})


def _differing(earlier: Mapping[Any, Any], later: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return {key: earlier.get(key) for key in differing_keys(earlier, later)}


MARKS: Mapping[str, frozenset[str]] = {
    "broker": frozenset({"broker-lost", "broker-registered", "broker-bounced"}),
    "controller": frozenset({"controller-moved", "controller-lost", "controller-elected"}),
    "leader": frozenset({"leader-moved", "partition-offline", "partition-online", "unclean-election"}),
    "isr": frozenset({"isr-shrunk", "isr-expanded"}),
    "fault": frozenset({"sandbox-fault"}),
}
"""What one may go to the next of → the kinds of changes that are that."""

MARKED = frozenset(kind for name in ("broker", "controller", "leader", "fault") for kind in MARKS[name])
"""Kinds of changes that make a moment a mark. The ISR's are not among them: each loss of a broker brings hundreds."""

STEADY = frozenset({"offset-committed"})
"""Kinds that come all the time while all is well: who goes through moments does not stop at them."""


class Instant(msgspec.Struct, frozen=True, eq=False):
    """`seq` is the Moment's; `at_ms` when it was, never before the instant before it."""

    seq: int
    at_ms: int
    frame: ClusterImage
    """The image without its mappings; `Timeline.image_of` has all of it."""
    changes: tuple[Change, ...] = ()
    """What happened on the way from the instant before to this one."""
    errors: int = 0
    """Findings that are errors."""
    more_errors: bool = False
    """Than at the instant before."""
    total: int = 0
    """Changes since the source was opened, up to this instant."""
    way: WayBack = {}
    """From the instant after it to this one."""
    size_bytes: int = 0
    """What keeping this costs beside the instant after it; 0 for the newest, which is there anyway."""

    @property
    def is_mark(self) -> bool:
        """Whether the controller, a broker or a leader changed, a fault was made or errors were found."""
        return self.more_errors or any(change.kind in MARKED for change in self.changes)

    @property
    def is_event(self) -> bool:
        """Whether anything happened but what always does."""
        return self.more_errors or any(change.kind not in STEADY for change in self.changes)


OBJECT_BYTES = 500
"""A broker, a group's or a topic's frame, a setting: what has no columns."""

MOMENT_BYTES = 3_000
"""An instant itself, with its frame and the way back."""

ENTRY_BYTES = 32
"""A number that a mapping holds."""

CHANGE_BYTES = 600
"""A change in the feed: five texts and numbers. A constant, as texts are short."""

_COLUMNS = (
    "partitions", "replicas", "leader", "isr", "leader_epoch", "controller_epoch", "version", "recovering", "zxid",
    "time_ms", "in_isr", "preferred", "isr_count", "replica_count", "orphaned",
)  # fmt: skip
_GROUP_PARTS = ("members", "owners", "offsets", "rebalances")


def bytes_of(way: WayBack, later: ClusterImage) -> int:
    """Bytes that are kept to go back from `later`, about: columns exactly, mappings shallowly, the rest by count."""
    size = MOMENT_BYTES
    for name, old in way.items():
        beside, cost = getattr(later, name), _COSTS.get(name, _object)
        size += sys.getsizeof(old) + sum(
            cost(value, beside.get(key)) for key, value in old.items() if value is not None
        )
    return size


def _object(one: object, other: object) -> int:
    return OBJECT_BYTES


def _number(one: int, other: int | None) -> int:
    return ENTRY_BYTES


def _topic(one: TopicImage, other: TopicImage | None) -> int:
    had, has = vars(one), {} if other is None else vars(other)
    columns = (had[name] for name in _COLUMNS if name in had and had[name] is not has.get(name))
    size = OBJECT_BYTES + sum(column.nbytes for column in columns if isinstance(column, np.ndarray))
    rows = had.get("row_of")
    return size if rows is None or rows is has.get("row_of") else size + sys.getsizeof(rows) + ENTRY_BYTES * len(one)


def _group(one: GroupImage, other: GroupImage | None) -> int:
    size = OBJECT_BYTES
    for name in _GROUP_PARTS:
        part: Sized = getattr(one, name)
        if part is not getattr(other, name, None):
            size += sys.getsizeof(part) + ENTRY_BYTES * len(part)
    return size


_COSTS: Mapping[str, Callable[[Any, Any], int]] = {
    "topics": _topic,
    "groups": _group,
    "classic_groups": _group,
    "log_ends": _number,
}
"""Part of an image → what one of its values costs beside a later one."""


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

    def preceded_by(self, past: "Timeline", image: ClusterImage) -> "Timeline":
        """With the moments of another timeline in front, and an image in place of the newest, equal but for what groups
        remember. That everything was loaded, which this one begins with, is left out: it is no news of the cluster."""
        if not (self.instants and past.instants):
            return self
        first, *later = self.instants
        begun, seen = self.image_of(first), past.instants[-1]
        way = way_back(past.image, begun)
        cost = bytes_of(way, begun) + CHANGE_BYTES * len(seen.changes)
        more = seen.total - first.total
        instants = (
            *past.instants[:-1],
            msgspec.structs.replace(seen, way=way, size_bytes=cost),
            msgspec.structs.replace(first, changes=(), more_errors=False, total=seen.total),
            *(msgspec.structs.replace(each, total=each.total + more) for each in later),
        )
        own = self.feed[len(self.feed_at(first)) :]
        size = past.size_bytes + cost + self.size_bytes
        return self._bounded(instants, size, Moment(image=image, feed=(*past.feed, *own)))

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
