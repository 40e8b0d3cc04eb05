"""A stretch of what a source remembers as a timeline, within its bound: played when somebody goes there.

A remembering source, such as a recording, knows what was before it was opened, and after.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import find
from model.sources.feed import Feed, Moment
from model.sources.timeline import MOST_BYTES, Timeline

if TYPE_CHECKING:
    from model.recordings.playback import Stretch


@runtime_checkable
class Remembering(Protocol):
    """A source with a past of its own, such as a recording. Its questions may take long; any thread may ask."""

    @property
    def opened_ms(self) -> int:
        """The moment that `open` tells is the last one recorded until this time."""
        ...

    @property
    def folder(self) -> str:
        """Where this is remembered; empty where that is no folder of a recording."""
        ...

    def around(self, at_ms: int, most: int) -> "Stretch":
        """A stretch of about so many moments, with this time in its middle if it can be. Raises SourceError."""
        ...

    def images(self, from_ms: int, to_ms: int) -> Iterator[tuple[int, ClusterImage]]:
        """When each moment was recorded (ms), and the cluster then, in order. Raises SourceError."""
        ...


@runtime_checkable
class Recalling(Protocol):
    """A source that follows a cluster, and gets to know what was before it was opened."""

    def recall(self, then: Callable[[Timeline], None]) -> None:
        """Who is told of the past, once, from another thread; called before `open`. Its seqs are below `RECALLED`."""
        ...


RECALLED = 10_000
"""The `seq` from which the moments of such a source count."""

SEQS_A_MS = 1_000
"""A recorded moment's `seq` comes of its time, so that it is the same whichever stretch it is played in."""

NOTHING = Timeline(most_moments=2_000, most_bytes=MOST_BYTES // 2)
"""As many as are played in seconds, and half of the memory: while a stretch is played, another is still looked at."""


class TimelineWindow(msgspec.Struct, frozen=True, eq=False):
    """`is_first`, `is_last`: whether the recording begins and ends with it."""

    timeline: Timeline = NOTHING
    is_first: bool = False
    is_last: bool = False


def seq_at(at_ms: int) -> int:
    """The highest `seq` that a moment recorded until this time has."""
    return (at_ms + 1) * SEQS_A_MS - 1


def recorded_ms(seq: int) -> int:
    """When a moment with this `seq` was recorded."""
    return seq // SEQS_A_MS


def window_around(
    source: Remembering,
    at_ms: int,
    told: Callable[[int, int], None],
    ended: Callable[[], bool],
    nothing: Timeline = NOTHING,
) -> TimelineWindow:
    """The moments around a time, as many as fit into `nothing`. Ended early, it holds what was played until then.

    told: moments played, of how many. Raises SourceError.
    """
    stretch = source.around(at_ms, nothing.most_moments)
    feed = Feed("", lambda _: None)
    timeline, played, seq, is_whole = nothing, 0, 0, True
    for time_ms, image in source.images(stretch.from_ms, stretch.to_ms):
        if ended():
            return TimelineWindow(timeline, stretch.is_first and not timeline.dropped)
        if seq or stretch.is_first:
            feed.show(image)
        else:
            feed.moment = _begun(image)
        played, seq = played + 1, max(seq + 1, time_ms * SEQS_A_MS)
        longer = timeline.then(replace(feed.moment, seq=seq))
        if time_ms > at_ms and longer.dropped > timeline.dropped and _is_half_past(timeline, at_ms):
            is_whole = False
            break
        timeline = longer
        told(min(played, stretch.count), stretch.count)
    return TimelineWindow(timeline, stretch.is_first and not timeline.dropped, stretch.is_last and is_whole)


def _begun(image: ClusterImage) -> Moment:
    """Where the recording went on before: nothing happened on the way to this moment that is known."""
    return Moment(image=image, findings=find(image))


def _is_half_past(timeline: Timeline, at_ms: int) -> bool:
    """Whether what was at a time is in the timeline's earlier half, which a moment more would push out."""
    meant, middle = timeline.at_seq(seq_at(at_ms)), timeline.instants[len(timeline.instants) // 2]
    return meant is not None and middle.seq >= meant.seq
