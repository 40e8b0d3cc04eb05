"""One source, followed: its moments told as pulses when there is something new, and its screens' questions taken in.

Panes ask again at once when something changed, seldom while only time passes, and never so often that answering is
all the process does. This runs in the data process, or in the same process for tests. It owns no terminal and draws
nothing.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec

from model.cluster.change import SEVERITY, Change
from model.sources.combined_source import CombinedSource
from model.sources.feed import Feed, Moment
from model.sources.source import Attentive, Source
from model.sources.timeline_window import RECALLED, Recalling, Remembering
from model.sources.zookeeper.browser import Witness
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tui.engine.clock import Proof, steady_ms, wall_clock_ms
from tui.engine.cluster.findings import Alerts
from tui.engine.cluster.overview import header_facts
from tui.engine.cluster.znode_tree import ZnodeService
from tui.engine.drill.playback import DrillService
from tui.engine.history.past_service import PastService
from tui.engine.jobs import Jobs
from tui.engine.lazy import LazyActions, LazyAnalyses, LazyLogs
from tui.engine.messages import Answer, Opening, Pulse, Query
from tui.engine.registry import REGISTRY
from tui.engine.router import Router, Services
from tui.engine.sandbox.service import SandboxService

PULSE_S = 0.1
"""Pulses are at least this far apart."""

REST, LONGEST_S = 4, 0.5
"""So many times as long as answering took, nothing more is told; but not longer than this."""

COUNTED_MS = 60_000
"""An age below a minute counts in seconds."""

SECONDS_MS, MINUTES_MS = 1_000, 30_000
"""How often panes ask again at most, for ages that count in seconds and for others."""

PROVED_MS, QUIET_MS = 2_000, 6_000
"""How often is told that a source still lives, while ages count in seconds and later."""

LATE_MS, RESTS_MS = 4_000, 8_000
"""A live source that has not proved itself for so long is late, which is told at once; see HeaderFacts.rests_ms."""


class PulsePace:
    """For one event loop."""

    def __init__(self) -> None:
        self._has_news = True
        self._news_ms = self._told_ms = self._pulsed_ms = 0

    def hear(self) -> None:
        """Something changed that panes may show."""
        self._has_news = True

    def is_steady(self, now_ms: int) -> bool:
        """Whether panes have nothing to ask for. Where they have, they are taken to be told so now."""
        self._pulsed_ms = now_ms
        if self._has_news:
            self._news_ms = now_ms
        every_ms = SECONDS_MS if now_ms - self._news_ms < COUNTED_MS else MINUTES_MS
        steady = not self._has_news and now_ms - self._told_ms < every_ms
        if not steady:
            self._has_news, self._told_ms = False, now_ms
        return steady

    @property
    def due_ms(self) -> int:
        """When it is to be told again that a live source lives, though nothing changed."""
        return self._pulsed_ms + (PROVED_MS if self._pulsed_ms - self._news_ms < COUNTED_MS else QUIET_MS)

    @staticmethod
    def pause_s(spent_s: float) -> float:
        """Until the next pulse, after processor time spent on the one before."""
        return min(max(PULSE_S, REST * spent_s), LONGEST_S)


def is_news(before: Moment, after: Moment) -> bool:
    """Whether anything differs that panes show: not when the source was last heard of, nor how far it has read."""
    return (
        after.relisted
        or bool(after.touched)
        or after.image is not before.image
        or after.findings is not before.findings
        or after.feed is not before.feed
        or _without_time(after) != _without_time(before)
    )


def _without_time(moment: Moment) -> object:
    status = moment.status
    return status.phase, status.reason, status.warning, status.server, status.polled


def _recording(source: Source) -> str:
    return source.folder if isinstance(source, Remembering) else ""


class DataService:
    """One source, followed. Made on an event loop; `close` ends the source."""

    def __init__(
        self,
        source: Source,
        *,
        name: str = "",
        kind: str = "",
        sandbox: SandboxService | None = None,
        spark_master: str = "",
        is_served: bool = False,
        acting: Opening | None = None,
        now_ms: Callable[[], int] | None = None,
    ) -> None:
        """Opens nothing yet. `name` is what the operator calls the cluster, where it has a name; `kind` as in
        HeaderFacts; `sandbox` is open already, and stays so; `spark_master` and `is_served` as in Opening; `acting`:
        what is acted on, None for nothing; `now_ms` is what ages are counted from, the wall clock if None."""
        self._source = source
        self._name, self._kind = name, kind
        self._now_ms, self._steady_ms = now_ms or wall_clock_ms, now_ms or steady_ms
        self._feed = self._feed_of(source)
        self._published_last = self._feed.moment
        self._witness = Witness(self._feed)
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._pace, self._proof = PulsePace(), Proof(self._now_ms, self._steady_ms)
        self._rests = False
        """Whether the screens know that no news are good news; see HeaderFacts.rests_ms."""
        self._closed = False
        self._services = self._services_of(sandbox, spark_master, acting, is_served=is_served)
        self._router = Router(
            REGISTRY,
            self._services,
            lambda: self.moment,
            (self._now_ms, self._steady_ms),
            self._tell,
            want=source.want if isinstance(source, Attentive) else lambda *_: None,
            is_served=is_served,
        )

    @property
    def moment(self) -> Moment:
        """The newest moment."""
        return self._feed.moment

    def open(self) -> None:
        """Begins to follow the source; raises SourceError where that cannot work."""
        self._source.open(self._witness)
        self._services.past.begin(self._feed.recall)
        if self._services.sandbox is not None:
            self._services.sandbox.tell(self._feed.note, self._tell)
        if isinstance(self._source, ZooKeeperSource | CombinedSource | Attentive) and self._source.reader is not None:
            # What was published until now is no loss: a tree of which nothing was read yet has nothing that is stale.
            self._services.tree.open(self._source.reader)

    async def close(self) -> None:
        """Ends the source, and what is being worked out."""
        self._closed = True
        self._services.past.close()
        self._services.drills.close()
        await self._services.acting.close()
        await asyncio.gather(self._services.analyses.close(), asyncio.to_thread(self._source.close))

    async def pulses(self) -> AsyncIterator[Pulse]:
        """A pulse now, and one whenever a moment was published, coalesced; never ends."""
        while True:
            self._news.clear()
            has_data, begun_s = bool(self.moment.image.topics), time.thread_time()
            yield self.pulse()
            await asyncio.sleep(PULSE_S)
            if has_data:  # the first data must not wait, however long the first answers took
                await asyncio.sleep(self._pace.pause_s(time.thread_time() - begun_s) - PULSE_S)
            await self._until_news()

    def pulse(self) -> Pulse:
        """Where things stand."""
        moment = self.moment
        self._rests = moment.status.phase == "live" and self._steady_ms() <= self._late_ms
        services, header = self._services, header_facts(moment, kind=self._kind)
        header = msgspec.structs.replace(
            header,
            cluster=self._name or header.cluster,
            source=header.source or self._source.name,
            spark=services.analyses.spark,
            acknowledged=services.alerts.counts,
            allows_writes=services.acting.allows_writes,
            image_time_ms=self._proof.at_ms if header.image_time_ms else 0,
            rests_ms=RESTS_MS if self._rests else 0,
            recording=_recording(self._source),
        )
        ended = moment.status.phase in ("closed", "denied") and not moment.image.provenance.complete
        return Pulse(
            moment.seq,
            header,
            fatal=moment.status.reason if ended and not self._closed else "",
            changes=services.past.changes,
            doing=services.jobs.doing,
            notice=services.alerts.notice(self._steady_ms()),
            steady=self._pace.is_steady(self._steady_ms()),
        )

    async def answer(self, query: Query) -> Answer:
        """Answers one question, and has the source learn what that takes."""
        return await self._router.answer(query)

    def _services_of(
        self, sandbox: SandboxService | None, spark_master: str, acting: Opening | None, *, is_served: bool
    ) -> Services:
        jobs = Jobs(self._tell)
        return Services(
            tree=ZnodeService(self._witness),
            past=PastService(self._kind, jobs, self._source if isinstance(self._source, Remembering) else None),
            alerts=Alerts(),
            jobs=jobs,
            drills=DrillService(lambda: self.moment.image, self._tell),
            logs=LazyLogs(sandbox.folder if sandbox else ""),
            analyses=LazyAnalyses(
                lambda: self.moment.image,
                self._tell,
                spark_master,
                keeps=not is_served,
                recording=_recording(self._source),
            ),
            acting=LazyActions(acting, lambda: self.moment.image, jobs, self._acted),
            sandbox=sandbox,
        )

    def _feed_of(self, source: Source) -> Feed:
        is_recalling = isinstance(source, Recalling)
        feed = Feed(
            source.name,
            self._published,
            asks_brokers=not isinstance(source, ZooKeeperSource),
            seq=RECALLED if is_recalling else 0,
        )
        if is_recalling:
            source.recall(lambda past: feed.precede(lambda: self._services.past.precede(past)))
        if isinstance(source, CombinedSource):
            source.compare_with(lambda: feed.moment.image)
        return feed

    async def _until_news(self) -> None:
        fade_ms = self._services.tree.next_fade_ms(self._steady_ms())
        marks = [at_ms for at_ms in (fade_ms, self._services.alerts.due_ms()) if at_ms is not None]
        while True:
            late_ms = self._late_ms
            due_ms = min((*marks, *((self._pace.due_ms, late_ms) if self._rests else ())), default=None)
            timeout_s = None if due_ms is None else max((due_ms - self._steady_ms()) / 1000, 0) + PULSE_S
            try:
                async with asyncio.timeout(timeout_s):  # wait_for goes on where news come in the moment it is cancelled
                    await self._news.wait()
            except TimeoutError:
                if due_ms in marks:
                    self._pace.hear()  # a mark fades
                elif due_ms == late_ms < self._late_ms:
                    continue  # the source has proved itself meanwhile
            return

    @property
    def _late_ms(self) -> int:
        """When the source is late with its next proof that it lives; on the steady clock, as all that is due."""
        return self._proof.at_steady_ms + LATE_MS + self.moment.status.poll_ms

    def _published(self, moment: Moment) -> None:
        self._proof.take(moment.verified_ms)
        self._services.past.take(moment)
        self._services.alerts.take(moment)
        self._services.tree.take(moment)
        before, self._published_last = self._published_last, moment
        if is_news(before, moment):
            self._pace.hear()
        elif self._rests:
            return  # that it lives is told when that is due
        self._soon(self._news.set)
        if moment.image.provenance.complete:
            self._soon(self._services.analyses.warm_up)

    def _acted(self, said: str) -> None:
        """Something that was asked for has come to its end."""
        self._feed.note(Change("acted", "kdrill", said, SEVERITY["acted"], wall_clock_ms()))
        self._services.alerts.tell(said, self._steady_ms())
        self._tell()

    def _tell(self) -> None:
        self._pace.hear()
        self._soon(self._news.set)

    def _soon(self, do: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended; the source is about to
            self._loop.call_soon_threadsafe(do)
