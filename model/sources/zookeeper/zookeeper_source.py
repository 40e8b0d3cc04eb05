"""`zk://…` as a source: a read-only session, and the loop that turns watches and reads into batches of records.

The loop loads a cluster's tree and follows it, in a thread of its own. Order on every new connection: watch first, then
list and read everything, then what changed meanwhile; so nothing that happens during the load is missed, and a
resynchronisation is a load. Keeps no image: the sink does.
"""

import logging
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress

import msgspec

from model.hosts.process import crash_line, uncollected
from model.hosts.zookeeper.protocol import (
    AuthFailed,
    Closed,
    Connected,
    ConnectionState,
    ReadsZnodes,
    ZooKeeperUnavailable,
)
from model.hosts.zookeeper.reader import ZooKeeperReader
from model.hosts.zookeeper.settings import Credential, ReadLimits, Sasl, Usage, ZooKeeperSettings
from model.sources.addresses import ZooKeeperAddress
from model.sources.source import FactBatch, FollowingCost, Phase, Progress, Sink, SourceStatus
from model.sources.zookeeper.attempts import (
    FLAPPING,
    AttemptCounter,
    Trust,
    cost_between,
    no_kafka_here,
    reason_of,
    server_line,
    unread_of,
    why_hopeless,
)
from model.sources.zookeeper.inbox import Inbox, read_ahead
from model.sources.zookeeper.translate import is_read, translate
from model.sources.zookeeper.watching import (
    KAFKAS_OWN,
    SINGLES,
    Answer,
    ChooseWatching,
    FoundZnodes,
    Watching,
    walk,
    watching_for,
)
from model.zookeeper import Forbidden, columns_of

CHUNK = 10_000
"""Znodes of a part of a listing: between two looks at what has arrived, and two reports of progress."""

COST_S = 1.0
"""Costs are told of no shorter time than this."""

WITHHELD_TRIED = 100
"""Znodes this session may not read that are tried again on a quiet connection: no watch tells of a permission."""

_ENDS: tuple[Phase, ...] = ("closed", "denied")
_LOGGER = logging.getLogger(__name__)


class FollowerTiming(msgspec.Struct, frozen=True):
    """How long the follower waits, in seconds."""

    connect_s: float = 10.0
    """Until the first connection; then the source gives up."""
    refused_s: float = 3.0
    """As long, where it is hopeless: every host refuses connections, or has no address, or only one side has TLS."""
    coalesce_s: float = 0.02
    """After the first change of a burst, before reading."""
    verify_s: float = 2.0
    """Between two proofs, on a quiet connection, that the server still answers."""
    resync_pause_s: float = 5.0
    """From the beginning of one full load to the next at least, where the connection flaps."""
    hopeless_s: float = 30.0
    """As long, where no attempt is likely to come to more than the last."""


class ZooKeeperFollower:
    """Runs in a thread of its own until the inbox is closed, or until it is plain that this source cannot be had."""

    def __init__(
        self,
        reader: ReadsZnodes,
        inbox: Inbox,
        sink: Sink,
        address: ZooKeeperAddress,
        timing: FollowerTiming,
        choose_watching: ChooseWatching = watching_for,
        *,
        tls: bool = False,
    ) -> None:
        """`tls`: whether the reader speaks it."""
        self._tls = tls
        self._reader = reader
        self._inbox = inbox
        self._sink = sink
        self._address = address
        self._timing = timing
        self._choose_watching = choose_watching
        self._status = SourceStatus(since_ms=now_ms())
        self._told_epoch = 0
        """The connection whose load was told last; 0 before there is an image."""
        self._withheld: list[str] = []
        self._measured: tuple[float, Usage] = _clock_s(), reader.usage
        self._resync_after_s = 0.0
        self._trouble, self._failed_on = "", self._inbox.state
        """What went wrong last while everything was read, and on which connection."""
        self._trust = Trust(address)
        self._attempts = AttemptCounter()

    def run(self) -> None:
        """Follows until the end; never raises. A defect ends the source: better none than one that stands still."""
        try:
            self._report("connecting")
            self._await_connection()
            while self._status.phase not in _ENDS:
                self._step(self._inbox.state)
        except Exception as error:
            _LOGGER.debug("following %s failed", self._address, exc_info=True)
            with suppress(Exception):  # it may have been the sink that failed
                self._end(crash_line(error))

    def progress(self) -> Progress:
        """How far the first picture has come; from any thread."""
        return self._attempts.progress(self._reader.usage)

    def _await_connection(self) -> None:
        ends_s = _clock_s() + self._timing.connect_s
        why: str | None = None
        while why is None and (left_s := ends_s - _clock_s()) > 0:
            if self._is_answered_within(min(left_s, self._timing.refused_s)) or self._inbox.closed:
                return
            reason = reason_of(self._inbox.state)
            self._falter(reason)
            why = self._trust.why_hopeless(self._reader.usage, reason) or why_hopeless(
                self._address, reason, tls=self._tls
            )
        self._end(why or reason_of(self._inbox.state) or "no answer")

    def _is_answered_within(self, timeout_s: float) -> bool:
        return self._inbox.wait_for(lambda state: isinstance(state, Connected | AuthFailed), timeout_s)

    def _step(self, state: ConnectionState) -> None:
        match state:
            case _ if self._inbox.closed:
                self._end()
            case Closed(reason):
                self._end(reason)
            case AuthFailed(reason):
                self._end(reason, "denied")
            case Connected():
                self._attend(state)
            case _:
                self._falter(reason_of(state))
                self._wait_while(state, self._timing.verify_s)

    def _attend(self, state: Connected) -> None:
        """Loads and follows for as long as this connection lasts."""
        pause_s = self._resync_after_s - _clock_s()
        if pause_s > 0 and state is not self._failed_on:
            if self._status.phase != "live":
                self._falter(FLAPPING)
            if self._wait_while(state, pause_s):
                return
        pause_s = self._timing.hopeless_s if self._status.is_hopeless else self._timing.resync_pause_s
        self._resync_after_s = _clock_s() + pause_s
        try:
            watching = self._choose_watching(self._reader, state)
            loaded_ms = now_ms()
            if self._load(watching, state):
                self._follow(watching, state, loaded_ms)
        except ZooKeeperUnavailable as error:
            self._attempts.fail(self._reader.usage, unread_of(error.unread))
            self._trouble, self._failed_on = str(error), state
            self._falter(self._trouble)
            self._wait_while(state, self._timing.hopeless_s if self._status.is_hopeless else self._timing.verify_s)

    def _load(self, watching: Watching, state: Connected) -> bool:
        """Reads everything; False where there is no Kafka here."""
        self._inbox.drain()
        if self._status.phase != "live":
            self._falter("reading everything again") if self._told_epoch else self._report("loading")
        self._attempts.begin(self._reader.usage)
        watching.arm()
        self._reader.sync()
        found = walk(watching.children)
        if not (self._told_epoch or found.listed & KAFKAS_OWN):
            self._end(no_kafka_here(found, state))
            return False
        self._tell_listing(watching, state, found)
        self._told_epoch = state.epoch
        self._trust.forgive(self._reader.usage)
        return True

    def _tell_listing(self, watching: Watching, state: Connected, found: FoundZnodes) -> None:
        """Reads and tells everything, part by part: what has arrived can be looked at while the rest is read."""
        paths = [*SINGLES, *found.paths]
        # A connection that found the data wiped may have come and gone since the last load.
        fresh = self._inbox.wiped_epoch > self._told_epoch
        self._withheld = [answer.path for answer in found.forbidden]
        if found.forbidden:
            self._tell(found.forbidden, part=1, fresh=fresh)
        self._tell_progress(watching, 0, len(paths))
        starts, told = range(0, len(paths), CHUNK), 1 + bool(found.forbidden)
        with closing(read_ahead(lambda start: watching.read(paths[start : start + CHUNK]), starts)) as parts:
            for part, (start, read) in enumerate(zip(starts, parts, strict=True), told):
                if self._inbox.state is not state:
                    raise ZooKeeperUnavailable("the connection broke while everything was read")
                answers = columns_of(read)
                if Forbidden in set(map(type, answers.data)):
                    self._withheld += [answer.path for answer in answers.data if isinstance(answer, Forbidden)]
                with uncollected():
                    self._tell(answers, part=part, listing=start + CHUNK >= len(paths), fresh=fresh)
                self._tell_progress(watching, min(start + CHUNK, len(paths)), len(paths))

    def _tell_progress(self, watching: Watching, done: int, total: int) -> None:
        if self._status.phase == "loading":
            self._report("loading", done=done, total=total, cost=self._cost(watching))

    def _follow(self, watching: Watching, state: Connected, loaded_ms: int) -> None:
        """Reads what changes until the connection is another one, or until everything has to be read again."""
        self._report(
            "live",
            warning=state.warning,
            server=server_line(state),
            verified_ms=loaded_ms,
            cost=self._cost(watching, 0),
        )
        verified_s = _clock_s()
        while self._inbox.state is state and not self._inbox.closed:
            if self._inbox.wait_for_change(state, self._timing.verify_s):
                self._wait_while(state, self._timing.coalesce_s)
            asked_ms, asked_s = now_ms(), _clock_s()
            touched = watching.expand(*self._inbox.drain())
            paths = [path for path in dict.fromkeys((*touched, *watching.due())) if is_read(path)]
            if touched or paths:
                self._tell(watching.read(paths), touched=tuple(touched))
            elif not state.server.has_watches or self._is_permitted_more():
                return
            if not paths or asked_s - verified_s > self._timing.verify_s:
                self._reader.sync()  # a read would do, but for a server that lags behind its leader unawares
                verified_s = asked_s
                self._report("live", verified_ms=asked_ms, cost=self._cost(watching))
        if not self._inbox.closed:
            self._falter(reason_of(self._inbox.state) or "the connection broke")

    def _is_permitted_more(self) -> bool:
        tried = self._reader.read_many(self._withheld[:WITHHELD_TRIED])
        return any(not isinstance(answer, Forbidden) for answer in tried)

    def _tell(
        self,
        answers: Sequence[Answer],
        *,
        part: int = 0,
        listing: bool = False,
        fresh: bool = False,
        touched: tuple[str, ...] = (),
    ) -> None:
        read = columns_of(answers)
        records = tuple(translate(read, now_ms(), listing=listing or part > 0))
        zxid = int(read.stat("mzxid").max(initial=-1))
        self._sink.take(FactBatch(records, zxid, now_ms(), listing, part, fresh, touched, read))

    def _cost(self, watching: Watching, least_s: float = COST_S) -> FollowingCost | None:
        """What it cost lately; the last figures for as long as there are no new ones."""
        now_s, (since_s, before) = _clock_s(), self._measured
        if now_s - since_s <= least_s:
            return self._status.cost
        self._measured = now_s, self._reader.usage
        return cost_between(before, self._measured[1], now_s - since_s, watching.watches)

    def _wait_while(self, state: ConnectionState, timeout_s: float) -> bool:
        """Whether the state became another one, or the inbox was closed, within that time."""
        return self._inbox.wait_for(lambda now: now is not state, max(timeout_s, 0.0)) or self._inbox.closed

    def _falter(self, reason: str) -> None:
        self._report("stale" if self._told_epoch else "connecting", reason)

    def _end(self, reason: str = "", phase: Phase = "closed") -> None:
        asked_for = self._inbox.closed
        self._report("closed" if asked_for else phase, "" if asked_for else f"{self._address}: {reason}")

    def _report(self, phase: Phase, reason: str = "", **also: object) -> None:
        since_ms = self._status.since_ms if phase == self._status.phase else now_ms()
        ends = phase in ("live", *_ENDS)
        why = "" if ends else self._trust.why_hopeless(self._reader.usage, reason or self._trouble)
        also |= {"reason": why or reason, "is_hopeless": bool(why)}
        status = msgspec.structs.replace(self._status, phase=phase, since_ms=since_ms, **also)
        self._status = status
        self._sink.report(status)


def now_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


_clock_s = time.monotonic


FAREWELL_S = 1.0
LAST_WORDS_S = 0.5


class ZooKeeperSource:
    """Follows a cluster through its ZooKeeper. Opens one session and no other; writes nothing. Used once."""

    def __init__(
        self,
        address: ZooKeeperAddress,
        timing: FollowerTiming | None = None,
        *,
        credentials: Sequence[Credential] = (),
        sasl: Sasl | None = None,
        tls: ssl.SSLContext | None = None,
        limits: ReadLimits | None = None,
        choose_watching: ChooseWatching = watching_for,
    ) -> None:
        """Opens nothing yet. `choose_watching` decides, for each connection, how changes are noticed."""
        self.address = address
        self._settings = ZooKeeperSettings(
            address.hosts,
            address.chroot,
            credentials=tuple(credentials),
            sasl=sasl,
            tls=tls,
            limits=limits or ReadLimits(),
        )
        self._timing = timing or FollowerTiming()
        self._choose_watching = choose_watching
        self._inbox = Inbox()
        self._thread: threading.Thread | None = None
        self._follower: ZooKeeperFollower | None = None
        self.reader: ZooKeeperReader | None = None
        """The session, once open: a browser of znodes reads through it too."""

    @property
    def name(self) -> str:
        return str(self.address)

    def open(self, sink: Sink) -> None:
        inbox = self._inbox
        self.reader = ZooKeeperReader.open(self._settings, on_events=inbox.on_events, on_state=inbox.on_state)
        tls = self._settings.tls is not None
        self._follower = follower = ZooKeeperFollower(
            self.reader, inbox, sink, self.address, self._timing, self._choose_watching, tls=tls
        )
        self._thread = threading.Thread(target=follower.run, name="zookeeper-follower", daemon=True)
        self._thread.start()

    def progress(self) -> Progress:
        return Progress() if self._follower is None else self._follower.progress()

    def close(self) -> None:
        self._inbox.close()
        if self.reader is not None:
            self.reader.close(FAREWELL_S)
        # A sink may close the source from within a call, on the source's own thread.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(LAST_WORDS_S)
