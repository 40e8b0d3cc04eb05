"""`controllers://…` as a source: a KRaft cluster followed live at its quorum, and what only brokers know from them.

It takes the right CLUSTER_ACTION where rights are checked, and asks for nothing but the log and the quorum.
"""

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from model.cluster import records as r
from model.hosts.observing.observing import Observing
from model.hosts.observing.reading_past import read_past
from model.hosts.process import crash_line
from model.hosts.wire.connection import security_of
from model.observer.follow import RIGHT
from model.observer.messages import Address, Handed, SnapshotGrew
from model.observer.observed_log import GarbledError
from model.observer.past import NoPastError, begin
from model.observer.state import ObserverStatus
from model.sources.addresses import ControllersAddress
from model.sources.kafka.kafka_source import CONNECT_S, INTERVAL_S
from model.sources.kafka.polling_source import end
from model.sources.quorum.brokers_beside import BrokersBeside
from model.sources.quorum.facts import LogFacts
from model.sources.quorum.past_moments import PastMoments
from model.sources.source import FactBatch, Phase, Progress, Sink, SourceError, SourceStatus
from model.sources.timeline import Timeline

FAREWELL_S = 1.0
MOST_TRIES: Final = 3
"""So often the log's past is asked for where that fails, as with another leader."""
PROVED_MS: Final = 500
"""So often it is told that it is still live."""
_PHASES: Final[Mapping[str, Phase]] = {"live": "live", "stale": "stale", "denied": "denied", "fault": "closed"}


class _Past:
    """What was before: who wants to know, and how far the reading of it is."""

    def __init__(self) -> None:
        self.then: Callable[[Timeline], None] | None = None
        self.until_ms: int | None = None
        self.tries = 0
        self.unread = ""
        """Why it is not read, once it was tried often enough."""
        self.reading: asyncio.Task[None] | None = None
        self.closing = threading.Event()

    @property
    def is_due(self) -> bool:
        is_free = self.reading is None or (self.reading.done() and self.tries < MOST_TRIES)
        return self.then is not None and is_free


class QuorumSource:
    """Used once."""

    def __init__(
        self,
        address: ControllersAddress,
        bootstrap: str = "",
        interval_s: float = INTERVAL_S,
        security: Mapping[str, Any] | None = None,
        connect_s: float = CONNECT_S,
        *,
        cluster_id: str | None = None,
        asks_brokers: bool = True,
    ) -> None:
        """Brokers are asked at `bootstrap` (`host:port[,…]`), or where they are registered, every `interval_s`.

        Where nobody led for `connect_s` after the beginning, it closes. `security` as kafka-python's options, for
        controllers and brokers alike. Controllers of another cluster than `cluster_id` are refused.
        Raises SourceError for what is no way to log in.
        """
        self._address, self._bootstrap, self._connect_s = address, bootstrap, connect_s
        try:
            self._controllers = security_of(security or {})
            self._observing = Observing(address.controllers, self, self._controllers, cluster_id=cluster_id)
        except ValueError as error:
            raise SourceError(f"{address}: {error}") from None
        self._asks_brokers = asks_brokers
        self._facts = LogFacts(self._tell, tells_parts=asks_brokers)
        self._brokers = BrokersBeside(self._tell_beside, self._hear_beside, interval_s, security)
        self._endpoints: dict[int, tuple[str, ...]] = {}
        self.reader = None
        self._lock = threading.RLock()
        self._sink: Sink | None = None
        self._loop = asyncio.new_event_loop()
        self._following: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._opened_s = math.inf
        self._status = SourceStatus(is_partial=asks_brokers)
        self._beside = ""
        """What is wrong with the brokers."""
        self._handed, self._past = 0, _Past()
        self.is_unreached = False
        """Whether it closed because no controller told anything."""

    @property
    def name(self) -> str:
        return str(self._address)

    def recall(self, then: Callable[[Timeline], None], until_ms: int | None = None) -> None:
        """As Recalling has it; what is later than `until_ms` was told by others before."""
        self._past.then, self._past.until_ms = then, until_ms

    def open(self, sink: Sink) -> None:
        self._sink = sink
        self._opened_s = time.monotonic()
        self._following = self._loop.create_task(self._observing.run())
        self._thread = threading.Thread(target=self._run, name="kraft-observer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._past.closing.set()
        self._brokers.close()
        if self._following is None or self._thread is None:
            return
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._following.cancel)
        if self._thread is not threading.current_thread():
            self._thread.join(FAREWELL_S)

    def want(self, *what: str) -> None:
        self._brokers.want(*what)

    def progress(self) -> Progress:
        beside = self._brokers.source
        told = Progress() if beside is None else beside.progress()
        return Progress(self._handed + told.answers, connections=told.connections)

    def _run(self) -> None:
        assert self._following is not None
        try:
            self._loop.run_until_complete(self._following)
        except asyncio.CancelledError:
            pass
        except Exception as error:
            self._say(SourceStatus("closed", _now_ms(), f"{self.name}: {crash_line(error)}"))
        finally:
            if self._past.reading is not None:
                self._past.reading.cancel()
            end(self._loop)

    # As the observer tells.

    def take(self, handed: Handed) -> None:
        self._handed += 1
        self._facts.take(handed)
        if isinstance(handed, SnapshotGrew) and not self._status.verified_ms:
            done = handed.position + len(handed.data)
            with self._lock:
                self._status = msgspec.structs.replace(self._status, done=done, total=handed.size)

    def stand(self, standing: ObserverStatus) -> None:
        """Lists everything once it is up to date, and says how it fares where that is news."""
        if standing.phase == "live":
            self._facts.led_by(standing.leader, standing.epoch)
            self._facts.list(standing.cluster_id, self._brokers.told)
            if self._asks_brokers:
                self._brokers.open(self._listening(), self._bootstrap)
            self._begin_to_recall(standing)
        phase, reason = _PHASES[standing.phase], standing.reason
        is_new = not self._status.verified_ms
        if phase == "stale" and is_new:
            phase = "loading" if standing.heard_ms else "connecting"
            if time.monotonic() - self._opened_s >= self._connect_s and not standing.heard_ms:
                phase, self.is_unreached = "closed", standing.epoch == 0
        if phase in ("closed", "denied"):
            reason = f"{self.name}: {reason}"
        if phase == "denied" and RIGHT in reason:
            reason += "; kafka://BROKER:PORT polls brokers, which takes no such right"
        self._fare(phase, reason)
        if phase == "closed" and self._following is not None:
            self._following.cancel()

    def _fare(self, phase: Phase, reason: str) -> None:
        with self._lock:
            last, now_ms = self._status, _now_ms()
            is_same = (phase, reason) == (last.phase, last.reason)
            if is_same and (phase != "live" or now_ms - last.verified_ms < PROVED_MS):
                return
            self._say(
                msgspec.structs.replace(
                    last,
                    phase=phase,
                    since_ms=last.since_ms if phase == last.phase else now_ms,
                    reason=reason,
                    verified_ms=now_ms if phase == "live" else last.verified_ms,
                    done=last.done if phase == "loading" else 0,
                    total=last.total if phase == "loading" else 0,
                )
            )

    def _say(self, status: SourceStatus) -> None:
        with self._lock:
            warning = "; ".join(each for each in (self._facts.trouble, self._beside) if each)
            is_partial = status.is_partial and bool(self._endpoints or not self._facts.is_listed)
            unread = self._past.unread
            self._status = msgspec.structs.replace(status, warning=warning, is_partial=is_partial, unread=unread)
            if self._sink is not None:
                self._sink.report(self._status)

    def _tell(self, batch: FactBatch) -> None:
        if batch.begins_listing:
            self._endpoints.clear()
        for record in batch.records:
            if isinstance(record, r.BrokerRegistered):
                self._endpoints[record.broker] = record.endpoints
        self._pass_on(batch)

    def _listening(self) -> list[str]:
        return [endpoint for endpoints in self._endpoints.values() for endpoint in endpoints]

    # What was before.

    def _begin_to_recall(self, standing: ObserverStatus) -> None:
        if self._past.is_due and standing.at is not None:
            self._past.tries += 1
            self._past.reading = self._loop.create_task(self._recall(standing, standing.at))

    async def _recall(self, standing: ObserverStatus, leader: Address) -> None:
        """Reads the log from its start to where the first picture ended, and tells of it once."""
        past = self._past
        moments = PastMoments(self.name, standing.cluster_id, past.until_ms)
        reading = begin(standing.epoch, self._facts.at.offset + 1, standing.cluster_id)
        try:
            await read_past(leader, reading, moments.take, self._controllers)
            timeline = await asyncio.to_thread(moments.timeline, past.closing.wait)
        except (NoPastError, GarbledError) as error:  # it is tried again while it is live
            with self._lock:
                past.unread = str(error) if past.tries == MOST_TRIES else ""
                self._say(self._status)
            return
        with self._lock:
            then, past.then, records = past.then, None, moments.records()
            if self._sink is None or then is None or past.closing.is_set():
                return
            self._sink.take(FactBatch((), -1, self._facts.at.time_ms, logged=records))
            if timeline.instants:
                then(timeline)

    # As the brokers tell.

    def _tell_beside(self, batch: FactBatch) -> None:
        self._pass_on(msgspec.structs.replace(batch, zxid=-1))

    def _hear_beside(self, status: SourceStatus) -> None:
        said = status.reason or status.warning
        trouble = f"brokers: {said}" if said else ""
        with self._lock:
            if trouble != self._beside or self._status.is_partial:
                self._beside = trouble
                self._say(msgspec.structs.replace(self._status, is_partial=False))

    def _pass_on(self, batch: FactBatch) -> None:
        with self._lock:
            if self._sink is not None:
                self._sink.take(batch)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
