"""The moments of one source: those that are told, those that a recording remembers, and the one that is looked at.

Used on one event loop, but for `take`, which the source's thread calls. A moment can be written as a snapshot file.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from model.cluster.change import Change
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import find
from model.cluster.snapshot_file import SnapshotError, write_snapshot
from model.consumers.ownership import remembering
from model.sources.feed import Moment
from model.sources.source import SourceError
from model.sources.timeline import Instant, Timeline
from model.sources.timeline_window import NOTHING, Remembering, TimelineWindow, recorded_ms, seq_at, window_around
from tui.engine.cluster.gauges import Gauges, Recent, sampled
from tui.engine.cluster.overview import header_facts
from tui.engine.history.moments import Marks, NoSuchMoment, TimePosition, gone, happened
from tui.engine.jobs import Jobs
from tui.engine.messages import TimeAnswer, TimeQuery
from tui.engine.sheets import clock_text, date_text


def saved(moment: Moment, at_ms: int, name: str, ended: Callable[[], bool]) -> str:
    """What was written where, or why nothing was. No file is replaced; ended while it was written, none is left."""
    if not moment.image.provenance.complete:
        return "nothing was read yet: there is nothing to save"
    try:
        path = Path(name).expanduser()
        if path.exists():
            return f"{path} exists already: choose another name"
        write_snapshot(path, moment.image, moment.findings.found)
        if ended():
            path.unlink()
            return f"{path}: stopped, nothing is saved"
    except (SnapshotError, RuntimeError, ValueError, OSError) as error:
        return str(error).splitlines()[0]
    return f"{path}: the cluster at {clock_text(at_ms)}, {path.stat().st_size:,} bytes"


KEPT = 3
"""Moments looked at last that stay at hand: one is looked at, and two are compared."""

STANDS_STILL = frozenset({"snapshot", "closed"})
"""Phases in which the newest moment is of the past: its last ten minutes end with it."""


class PastService:
    """Keeps the moments, and those that were looked at last even when they have left the timeline."""

    def __init__(
        self,
        kind: str = "",
        jobs: Jobs | None = None,
        source: Remembering | None = None,
        nothing: Timeline = NOTHING,
    ) -> None:
        """`kind` as in HeaderFacts; `source`: where moments come from that were never told, into `nothing` at first."""
        self._kind = kind
        self._jobs = jobs or Jobs(lambda: None)
        self._source = source
        self._nothing = nothing
        self.window = TimelineWindow() if source else TimelineWindow(Timeline(), is_first=True, is_last=True)
        self.marks = Marks()
        self._gauges = Gauges()
        self._sampled: tuple[Timeline, int, Gauges] | None = None
        self.recalled_ms = 0
        """Since when the source itself remembers what was before it was opened; 0: it does not."""
        self._opened: Instant | None = None
        self._looked: dict[int, tuple[Instant, Moment]] = {}
        self._begun: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._then: Callable[[tuple[Change, ...]], None] = lambda _: None
        self._one_at_a_time = asyncio.Lock()

    @property
    def timeline(self) -> Timeline:
        """The moments at hand."""
        return self.window.timeline

    def take(self, moment: Moment) -> None:
        """A moment was published."""
        if self._source is None:
            before, timeline = self.timeline, self.timeline.then(moment)
            changes = timeline.instants[-1].changes if timeline is not before else ()
            self.window = TimelineWindow(timeline, is_first=True, is_last=True)
            self._gauges = self._gauges.then(moment, changes)

    def precede(self, past: Timeline) -> tuple[tuple[Change, ...], ClusterImage]:
        """Takes what was before the moments that were told. All that is known to have happened then, and the newest
        image, in which groups remember it."""
        self.recalled_ms = past.instants[0].at_ms if past.instants else 0
        image = remembering(past.image, self.timeline.image)
        timeline = self.timeline.preceded_by(past, image)
        self._gauges = self._gauges.preceded_by(sampled(past, past.instants[-1].at_ms if past.instants else 0))
        self.window = TimelineWindow(timeline, is_first=True, is_last=True)
        return timeline.feed, image

    def begin(self, then: Callable[[tuple[Change, ...]], None]) -> None:
        """Begins to play what a recording has around the moment that was opened; then tells what happened before it."""
        self._then = then
        self._begun = asyncio.create_task(self._try_to_open())

    def close(self) -> None:
        """Ends what is being played."""
        self._jobs.stop()

    @property
    def newest(self) -> Instant | None:
        """The newest moment; of a recording, the one that was opened."""
        if self._source is not None:
            return self._opened
        instants = self.timeline.instants
        return instants[-1] if instants else None

    @property
    def feed(self) -> tuple[Change, ...]:
        """What is known to have happened, in what was played of a recording; of other sources the live moment knows."""
        return self.timeline.feed if self._source else ()

    @property
    def changes(self) -> int:
        """How many there were since the source was opened."""
        return self.newest.total if self.newest else 0

    async def look(self, seq: int, live: Moment) -> tuple[Moment, int]:
        """The moment with this `seq`, or the last before it, and its time (ms)."""
        if seq not in self._looked:  # what is looked at stays usable while a recording is searched
            async with self._one_at_a_time:
                await self._cover(seq)
                await asyncio.to_thread(self._seen, seq, live)
        instant, moment = self._seen(seq, live)
        return moment, instant.at_ms if instant else live.image.provenance.time_ms

    async def recent(self, moment: Moment, at_ms: int) -> Recent:
        """What was counted in the ten minutes before a moment that is looked at; `at_ms` is what its ages are counted
        from."""
        if moment.status.phase in STANDS_STILL:
            at_ms = min(at_ms, moment.verified_ms)
        if self._source is None:
            return self._gauges.at(at_ms)
        timeline = self.timeline
        if self._sampled is None or self._sampled[0] is not timeline or self._sampled[1] != at_ms:
            gauges = await asyncio.to_thread(sampled, timeline, at_ms)
            self._sampled = (timeline, at_ms, gauges)
        return self._sampled[2].at(at_ms)

    async def answer(self, query: TimeQuery, live: Moment) -> TimeAnswer:
        """Where in time the question leads; nowhere: one line that says why."""
        try:
            await self._open()
            async with self._one_at_a_time:
                if (newest := self.newest) is None:
                    return TimeAnswer(said="nothing was read yet")
                instant = await self._found(query, newest)
                return await asyncio.to_thread(self._told, instant, newest, live)
        except NoSuchMoment as none:
            return TimeAnswer(said=str(none))

    async def mark(self, note: str, at: int, live: Moment) -> str:
        """Marks the moment with this `seq`, 0 the newest; what was done, in a sentence. No note: takes a mark away."""
        if (newest := self.newest) is None:
            return "nothing was read yet: there is no moment to mark"
        seq = at or newest.seq
        if not note.strip() and (old := self.marks.at(seq)) is not None:
            self.marks = self.marks.without(seq)
            return f"the mark {old.note!r} is gone"
        moment, at_ms = await self.look(seq, live)
        self.marks = self.marks.marked(note, self._instant(seq) or newest, moment)
        return f"{clock_text(at_ms)[:8]} is marked {self.marks.made[-1].note!r}"

    def called(self, seq: int) -> str:
        """What a moment is to the operator."""
        if (mark := self.marks.at(seq)) is not None:
            return f"the mark {mark.note!r}"
        if self.newest is not None and seq in (0, self.newest.seq):
            return "the moment opened" if self._source else "the newest moment"
        return "looked at"

    # Where a moment is

    async def _found(self, query: TimeQuery, newest: Instant) -> Instant:
        seq = query.at or newest.seq
        await self._cover(seq)
        here = self._instant(seq) or newest
        while True:
            try:
                return gone(query.to, TimePosition(self.window, self.marks, newest, here), query.text)
            except NoSuchMoment as none:
                if none.near_ms is None or not await self._play(none.near_ms):
                    raise

    def _instant(self, seq: int) -> Instant | None:
        if (mark := self.marks.at(seq)) is not None:
            return mark.instant
        if seq in self._looked:
            return self._looked[seq][0]
        if self._opened is not None and self._opened.seq == seq:
            return self._opened
        return self.timeline.at_seq(seq)

    def _told(self, instant: Instant, newest: Instant, live: Moment) -> TimeAnswer:
        clock = clock_text(instant.at_ms)[:8]
        day = date_text(instant.at_ms)[:10]
        if day != date_text(newest.at_ms)[:10]:
            clock = f"{day} {clock}"
        facts = header_facts(self._seen(instant.seq, live)[1], kind=self._kind)
        said = happened(instant)
        return TimeAnswer(instant.seq, clock, instant.total, said, facts)

    def _seen(self, seq: int, live: Moment) -> tuple[Instant | None, Moment]:
        """In a thread: the findings of a large cluster take a while. At once for what was looked at last."""
        if seq in self._looked:
            return self._looked[seq]
        instant, timeline = self._instant(seq), self.timeline
        if instant is None or (self._opened is not None and instant.seq == self._opened.seq):
            return instant, live
        if (mark := self.marks.at(seq)) is not None:
            return instant, mark.moment
        image = timeline.image_of(instant)
        moment = Moment(instant.seq, image, find(image, live.findings), timeline.feed_at(instant), live.status)
        self._looked = dict([*self._looked.items(), (instant.seq, (instant, moment))][-KEPT:])
        return instant, moment

    # What a recording remembers

    async def _try_to_open(self) -> None:
        with suppress(NoSuchMoment):  # who wants to go anywhere is told why not
            await self._open()

    async def _open(self) -> None:
        """Until the moment that was opened is at hand. What was stopped before begins anew."""
        if self._source is not None and self._opened is None:
            if self._opening is None or self._opening.done():
                self._opening = asyncio.create_task(self._load(self._source.opened_ms))
            await asyncio.shield(self._opening)

    async def _load(self, at_ms: int) -> None:
        async with self._one_at_a_time:
            await self._play(at_ms)
            self._opened = self.timeline.at_seq(seq_at(at_ms))
        if self._opened is not None:
            self._then(self.timeline.feed_at(self._opened))

    async def _cover(self, seq: int) -> None:
        """Plays what is around a moment that is not at hand."""
        window, instants = self.window, self.timeline.instants
        if self._source is None or not instants or seq in self._looked or self.marks.at(seq) is not None:
            return
        if (seq < instants[0].seq and not window.is_first) or (seq > instants[-1].seq and not window.is_last):
            await self._play(recorded_ms(seq))

    async def _play(self, at_ms: int) -> bool:
        """Plays what is around a time; whether anything else is at hand then."""
        if self._source is None:
            return False
        before = self.window
        with self._jobs.job("reading the recording") as job:
            try:
                window = await asyncio.to_thread(
                    window_around, self._source, at_ms, job.tell, job.is_stopped, self._nothing
                )
            except SourceError as error:
                raise NoSuchMoment(str(error)) from None
            if job.is_stopped():
                raise NoSuchMoment("stopped: what was at hand before still is")
        self.window = window
        return _edges(before) != _edges(window)


def _edges(window: TimelineWindow) -> tuple[int, ...]:
    instants = window.timeline.instants
    return (instants[0].seq, instants[-1].seq) if instants else ()
