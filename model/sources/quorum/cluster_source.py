"""`kafka://…` as a source: a cluster as its brokers tell it, and KRaft's metadata log once it can be followed.

Brokers are polled from the beginning, and the first picture is theirs, groups and all. They name the quorum's
controllers, which are tried a moment later: whoever looks only once has gone by then. Once the log is known up to its
end, all that it tells comes from there, and only the rest from the brokers. Where it cannot be followed, or not any
more, brokers tell everything, and `SourceStatus.polled` says why.
"""

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from model.hosts.zookeeper.protocol import BrowsesZnodes
from model.observer.follow import RIGHT
from model.sources.addresses import ControllersAddress
from model.sources.kafka.kafka_source import KafkaSource
from model.sources.kafka.views import KRAFT, ClusterView
from model.sources.quorum.brokers_beside import BrokersBeside
from model.sources.quorum.quorum_source import QuorumSource
from model.sources.source import FactBatch, Progress, Sink, SourceStatus
from model.sources.timeline import Timeline

REST_S: Final = 1.0
"""From the brokers' first picture to the first trial."""
TRIAL_S: Final = 2.0
"""So long controllers are waited for that do not answer."""
RETRY_S: Final = 60.0
"""From one trial that failed to the next."""
PATIENCE_S: Final = 10.0
"""So long it may be stale, as in an election, before brokers tell everything again."""


class ClusterSource:
    """Used once."""

    def __init__(
        self,
        polling: KafkaSource,
        security: Mapping[str, Any] | None = None,
        trial_s: float = TRIAL_S,
        retry_s: float = RETRY_S,
        patience_s: float = PATIENCE_S,
        rest_s: float = REST_S,
    ) -> None:
        """Controllers are logged in to by `security`, as kafka-python's options, like the brokers."""
        self._polling = polling
        self._security = security
        self._trial_s, self._retry_s, self._patience_s = trial_s, retry_s, patience_s
        self._beside = BrokersBeside(self._tell_beside, lambda _: None)
        self._lock = threading.RLock()
        self._sink: Sink | None = None
        self._brokers = SourceStatus()
        self._rest = threading.Timer(rest_s, self._consider)
        self._rest.daemon = True
        self._trial: _Trial | None = None
        self._is_followed = False
        """Whether the log tells what it knows."""
        self._polled = ""
        self._then: Callable[[Timeline], None] | None = None
        self._begun_ms: int | None = None
        """Since when brokers have told."""
        self._next_s = 0.0
        """Not before this controllers are tried again."""

    @property
    def name(self) -> str:
        return self._polling.name

    @property
    def reader(self) -> BrowsesZnodes:
        """What brokers told last, to browse like znodes."""
        return self._polling.reader

    def want(self, *what: str) -> None:
        self._polling.want(*what)

    def progress(self) -> Progress:
        return self._polling.progress()

    def recall(self, then: Callable[[Timeline], None]) -> None:
        """As Recalling has it: the metadata log's past, where that is followed."""
        self._then = then

    def open(self, sink: Sink) -> None:
        self._sink = sink
        self._polling.open(self)

    def close(self) -> None:
        with self._lock:
            self._sink, trial = None, self._trial
        self._rest.cancel()
        if trial is not None:
            trial.quorum.close()
        self._polling.close()

    # As the brokers tell.

    def take(self, batch: FactBatch) -> None:
        with self._lock:
            self._beside.take(batch)
            if not self._is_followed:
                self._pass_on(batch)

    def report(self, status: SourceStatus) -> None:
        """A look at the brokers is over."""
        with self._lock:
            self._brokers = status
            self._say()
        if self._rest.ident is None:
            self._rest.start()
        elif not self._rest.is_alive():
            self._consider()

    def _tell_beside(self, batch: FactBatch) -> None:
        if self._is_followed:
            self._pass_on(batch)

    def _consider(self) -> None:
        """Tries controllers that are known by now; gives those up that have led nobody for long."""
        view, given_up = self._polling.view, None
        with self._lock:
            trial = self._trial
            if self._sink is None or view.generation != KRAFT:
                return
            if trial is None and time.monotonic() >= self._next_s:
                self._try(view)
            elif trial is not None and trial.stale_s() >= self._patience_s:
                if self._is_followed:
                    given_up = trial
                    self._poll(trial.why(), self._retry_s)
                elif self._polled != trial.why():
                    self._polled = trial.why()
                    self._say()
        if given_up is not None:
            given_up.quorum.close()  # it may wait for our lock

    def _try(self, view: ClusterView) -> None:
        if not view.controllers:
            if not self._polled:
                self._polled = "brokers do not tell where controllers listen"
                self._say()
            return
        address = ControllersAddress(view.controllers)
        quorum = QuorumSource(
            address, security=self._security, connect_s=self._trial_s, cluster_id=view.cluster_id, asks_brokers=False
        )
        if self._then is not None:
            quorum.recall(self._recalled, self._begun_ms)
        self._trial = _Trial(self, quorum)
        quorum.open(self._trial)

    # As the controllers tell.

    def hear(self, trial: "_Trial", batch: FactBatch) -> None:
        """The metadata log's facts."""
        with self._lock:
            if trial is not self._trial:
                return
            if batch.listing:
                self._is_followed, self._polled = True, ""
                batch = msgspec.structs.replace(batch, records=(*batch.records, *self._beside.told))
            if self._is_followed:
                self._pass_on(batch)

    def fare(self, trial: "_Trial") -> None:
        """It fares otherwise."""
        with self._lock:
            if trial is not self._trial:
                return
            if trial.status.phase in ("denied", "closed"):
                self._poll(trial.why(), math.inf if trial.status.phase == "denied" else self._retry_s)
            elif self._is_followed:
                self._say()

    def _poll(self, why: str, rest_s: float) -> None:
        """Brokers tell everything, from now on."""
        was_followed, self._is_followed, self._trial = self._is_followed, False, None
        self._polled, self._next_s = why, time.monotonic() + rest_s
        if was_followed:
            now_ms = time.time_ns() // 1_000_000
            self._pass_on(FactBatch((*self._polling.listing(now_ms), *self._beside.told), -1, now_ms, listing=True))
        self._say()

    def _recalled(self, past: Timeline) -> None:
        """Once, whoever is followed."""
        with self._lock:
            then, self._then = self._then, None
            if then is not None and self._is_followed:
                then(past)

    # What follows.

    def _say(self) -> None:
        status = msgspec.structs.replace(self._brokers, polled=self._polled)
        if self._is_followed and self._trial is not None:
            status, said = self._trial.status, self._brokers.reason or self._brokers.warning
            warning = "; ".join(each for each in (status.warning, f"brokers: {said}" if said else "") if each)
            status = msgspec.structs.replace(status, warning=warning)
        if self._sink is not None:
            self._sink.report(status)

    def _pass_on(self, batch: FactBatch) -> None:
        if self._sink is not None:
            self._begun_ms = batch.time_ms if self._begun_ms is None else self._begun_ms
            self._sink.take(batch)


class _Trial:
    """Controllers that are tried, or followed: the sink of their source."""

    def __init__(self, cluster: ClusterSource, quorum: QuorumSource) -> None:
        self.quorum = quorum
        self.status = SourceStatus()
        self._cluster = cluster
        self._since_s = time.monotonic()
        """Since when it has fared as it does."""

    def take(self, batch: FactBatch) -> None:
        self._cluster.hear(self, batch)

    def report(self, status: SourceStatus) -> None:
        if status.phase == "live" or self.status.phase == "live":
            self._since_s = time.monotonic()
        self.status = status
        self._cluster.fare(self)

    def stale_s(self) -> float:
        """For how long it has not been live; 0 where it is."""
        return 0.0 if self.status.phase == "live" else time.monotonic() - self._since_s

    def why(self) -> str:
        """Why it is not followed, one clause."""
        reason = self.status.reason.removeprefix(f"{self.quorum.name}: ")
        if self.status.phase == "denied":
            return f"{RIGHT} is missing" if RIGHT in reason else f"controllers refuse the login: {reason}"
        if self.quorum.is_unreached:
            return f"controllers' ports cannot be reached: {reason}"
        return f"controllers cannot be followed: {reason}"
