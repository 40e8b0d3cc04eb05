"""One source, followed: its moments told as pulses when there is something new, and its screens' questions taken in.

Runs in the data process, or in the same process for tests. Owns no terminal and draws nothing.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import msgspec

from model.cluster.changes import Change
from model.cluster.changes.change import SEVERITY
from model.sources.attentive import Attentive
from model.sources.combined_source import CombinedSource
from model.sources.feed import Feed, Moment
from model.sources.source import Source
from model.sources.timeline.remembering import Remembering
from model.sources.zookeeper.witness import Witness
from model.sources.zookeeper.zookeeper_source import ZooKeeperSource
from tui.clock import Proof, steady_ms, wall_clock_ms
from tui.data.acting.gate import ActionGate
from tui.data.alerts import Alerts
from tui.data.analyses.gate import AnalysisGate
from tui.data.drills.desk import DrillDesk
from tui.data.jobs import Jobs
from tui.data.logs.desk import LogDesk
from tui.data.messages import Answer, Pulse, Query, TimeAnswer, TimeQuery
from tui.data.opening import Opening
from tui.data.pace import LATE_MS, PULSE_S, RESTS_MS, Pace, is_news
from tui.data.pages.header import header_facts
from tui.data.past.desk import PastDesk
from tui.data.reception import Desks, Reception
from tui.data.sandbox.desk import SandboxDesk
from tui.data.served import refused
from tui.data.tree_desk import TreeDesk
from tui.data.wanted import wanted_for


class DataService:
    """One source, followed. Made on an event loop; `close` ends the source."""

    def __init__(
        self,
        source: Source,
        *,
        name: str = "",
        kind: str = "",
        sandbox: SandboxDesk | None = None,
        spark_master: str = "",
        is_served: bool = False,
        acting: Opening | None = None,
        now_ms: Callable[[], int] | None = None,
    ) -> None:
        """Opens nothing yet. `name` is what the operator calls the cluster, where it has a name; `kind` as in
        HeaderFacts; `sandbox` is open already, and stays so; `spark_master` and `is_served` as in Opening; `acting`:
        what is acted on, None for nothing; `now_ms` is what ages are counted from, the wall clock if None."""
        self._source = source
        self._name, self._kind, self._is_served = name, kind, is_served
        self._now_ms, self._steady_ms = now_ms or wall_clock_ms, now_ms or steady_ms
        self._feed = Feed(source.name, self._published, asks_brokers=not isinstance(source, ZooKeeperSource))
        if isinstance(source, CombinedSource):
            source.compare_with(lambda: self._feed.moment.image)
        self._published_last = self._feed.moment
        self._witness = Witness(self._feed)
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._pace, self._proof = Pace(), Proof(self._now_ms, self._steady_ms)
        self._rests = False
        """Whether the screens know that no news are good news; see HeaderFacts.rests_ms."""
        self._closed = False
        self._desks = self._desks_of(sandbox, spark_master, acting)
        self._reception = Reception(self._desks, lambda: self.moment, self._now_ms, self._steady_ms, self._tell)

    @property
    def moment(self) -> Moment:
        """The newest moment."""
        return self._feed.moment

    def open(self) -> None:
        """Begins to follow the source; raises SourceError where that cannot work."""
        self._source.open(self._witness)
        self._desks.past.begin(self._feed.recall)
        if self._desks.sandbox is not None:
            self._desks.sandbox.tell(self._feed.note, self._tell)
        if isinstance(self._source, ZooKeeperSource | CombinedSource | Attentive) and self._source.reader is not None:
            # What was published until now is no loss: a tree of which nothing was read yet has nothing that is stale.
            self._desks.tree.open(self._source.reader)

    async def close(self) -> None:
        """Ends the source, and what is being worked out."""
        self._closed = True
        self._desks.past.close()
        self._desks.drills.close()
        await self._desks.acting.close()
        await asyncio.gather(self._desks.analyses.close(), asyncio.to_thread(self._source.close))

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
        desks, header = self._desks, header_facts(moment, kind=self._kind)
        header = msgspec.structs.replace(
            header,
            cluster=self._name or header.cluster,
            source=header.source or self._source.name,
            spark=desks.analyses.spark,
            acknowledged=desks.alerts.counts,
            allows_writes=desks.acting.allows_writes,
            image_time_ms=self._proof.at_ms if header.image_time_ms else 0,
            rests_ms=RESTS_MS if self._rests else 0,
        )
        ended = moment.status.phase in ("closed", "denied") and not moment.image.provenance.complete
        return Pulse(
            moment.seq,
            header,
            fatal=moment.status.reason if ended and not self._closed else "",
            changes=desks.past.changes,
            doing=desks.jobs.doing,
            notice=desks.alerts.notice(self._steady_ms()),
            steady=self._pace.is_steady(self._steady_ms()),
        )

    async def answer(self, query: Query | TimeQuery) -> Answer | TimeAnswer:
        """Answers one question, and has the source learn what that takes."""
        if isinstance(query, TimeQuery):
            return await self._desks.past.answer(query, self.moment)
        if self._is_served and (answer := refused(query)) is not None:
            return answer
        if isinstance(self._source, Attentive):
            self._source.want(*wanted_for(query))
        return await self._reception.answer(query)

    def _desks_of(self, sandbox: SandboxDesk | None, spark_master: str, acting: Opening | None) -> Desks:
        jobs = Jobs(self._tell)
        return Desks(
            tree=TreeDesk(self._witness),
            past=PastDesk(self._kind, jobs, self._source if isinstance(self._source, Remembering) else None),
            alerts=Alerts(),
            jobs=jobs,
            drills=DrillDesk(lambda: self.moment.image, self._tell),
            logs=LogDesk(sandbox.folder if sandbox else ""),
            analyses=AnalysisGate(lambda: self.moment.image, self._tell, spark_master),
            acting=ActionGate(acting, lambda: self.moment.image, jobs, self._acted),
            sandbox=sandbox,
        )

    async def _until_news(self) -> None:
        fade_ms = self._desks.tree.next_fade_ms(self._steady_ms())
        marks = [at_ms for at_ms in (fade_ms, self._desks.alerts.due_ms()) if at_ms is not None]
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
        self._desks.past.take(moment)
        self._desks.alerts.take(moment)
        self._desks.tree.take(moment)
        before, self._published_last = self._published_last, moment
        if is_news(before, moment):
            self._pace.hear()
        elif self._rests:
            return  # that it lives is told when that is due
        self._soon(self._news.set)
        if moment.image.provenance.complete:
            self._soon(self._desks.analyses.warm_up)

    def _acted(self, said: str) -> None:
        """Something that was asked for has come to its end."""
        self._feed.note(Change("acted", "kdrill", said, SEVERITY["acted"], wall_clock_ms()))
        self._desks.alerts.tell(said, self._steady_ms())
        self._tell()

    def _tell(self) -> None:
        self._pace.hear()
        self._soon(self._news.set)

    def _soon(self, do: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended; the source is about to
            self._loop.call_soon_threadsafe(do)
