"""Loads a cluster's tree and follows it: the loop that turns watches and reads into batches of records.

Order on every new connection: watch first, then list and read everything, then what changed meanwhile; so nothing that
happens during the load is missed, and a resynchronisation is a load. Keeps no image: the sink does.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from model.hosts.zookeeper.protocol import ReadsZnodes, ZooKeeperUnavailable
from model.hosts.zookeeper.values import AuthFailed, Closed, Connected, ConnectionState, Forbidden, Znode
from model.sources.source import Batch, Phase, Sink, SourceStatus
from model.sources.zookeeper.address import ZooKeeperAddress
from model.sources.zookeeper.inbox import Inbox
from model.sources.zookeeper.reachability import all_refuse
from model.sources.zookeeper.sentences import FLAPPING, no_kafka_here, reason_of, server_line
from model.sources.zookeeper.translate import is_read, translate
from model.sources.zookeeper.tree_plan import KAFKAS_OWN, SINGLES, walk
from model.sources.zookeeper.watching import Answer, ChooseWatching, Watching, watching_for

CHUNK = 5_000
"""Znodes read between two reports of progress."""

WITHHELD_TRIED = 100
"""Znodes this session may not read that are tried again on a quiet connection: no watch tells of a permission."""

_ENDS: tuple[Phase, ...] = ("closed", "denied")
_LOGGER = logging.getLogger(__name__)


class Timing(msgspec.Struct, frozen=True):
    """How long the follower waits, in seconds."""

    connect_s: float = 10.0
    """Until the first connection; then the source gives up."""
    refused_s: float = 3.0
    """As long, where every host refuses connections or has no address."""
    coalesce_s: float = 0.02
    """After the first change of a burst, before reading."""
    verify_s: float = 2.0
    """Between two proofs, on a quiet connection, that the server still answers."""
    resync_pause_s: float = 5.0
    """From the beginning of one full load to the next at least, where the connection flaps."""


class Follower:
    """Runs in a thread of its own until the inbox is closed, or until it is plain that this source cannot be had."""

    def __init__(
        self,
        reader: ReadsZnodes,
        inbox: Inbox,
        sink: Sink,
        address: ZooKeeperAddress,
        timing: Timing,
        choose_watching: ChooseWatching = watching_for,
    ) -> None:
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
        self._resync_after_s = 0.0

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
                self._end(f"a defect in kdrill: {error!r}")

    def _await_connection(self) -> None:
        timing = self._timing
        if self._is_answered_within(timing.refused_s) or self._inbox.closed:
            return
        if all_refuse(self._address) or not self._is_answered_within(timing.connect_s - timing.refused_s):
            self._end(reason_of(self._inbox.state) or "no answer")

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
        if pause_s > 0:
            if self._status.phase != "live":
                self._falter(FLAPPING)
            if self._wait_while(state, pause_s):
                return
        self._resync_after_s = _clock_s() + self._timing.resync_pause_s
        try:
            watching = self._choose_watching(self._reader, state)
            loaded_ms = now_ms()
            if self._load(watching, state):
                self._follow(watching, state, loaded_ms)
        except ZooKeeperUnavailable as error:
            self._falter(str(error))
            self._wait_while(state, self._timing.verify_s)

    def _load(self, watching: Watching, state: Connected) -> bool:
        """Reads everything; False where there is no Kafka here."""
        self._inbox.drain()
        if self._status.phase != "live":
            self._falter("reading everything again") if self._told_epoch else self._report("loading")
        watching.arm()
        self._reader.sync()
        found = walk(watching.children)
        if not (self._told_epoch or found.listed & KAFKAS_OWN):
            self._end(no_kafka_here(found, state))
            return False
        answers = [*found.forbidden, *self._read(watching, [*SINGLES, *found.paths])]
        if self._inbox.state is not state:
            raise ZooKeeperUnavailable("the connection broke while everything was read")
        # A connection that found the data wiped may have come and gone since the last load.
        self._tell(answers, listing=True, fresh=self._inbox.wiped_epoch > self._told_epoch)
        self._told_epoch = state.epoch
        self._withheld = [answer.path for answer in answers if isinstance(answer, Forbidden)]
        return True

    def _follow(self, watching: Watching, state: Connected, loaded_ms: int) -> None:
        """Reads what changes until the connection is another one, or until everything has to be read again."""
        self._report("live", warning=state.warning, server=server_line(state), verified_ms=loaded_ms)
        while self._inbox.state is state and not self._inbox.closed:
            if self._inbox.wait_for_change(state, self._timing.verify_s):
                self._wait_while(state, self._timing.coalesce_s)
            asked_ms = now_ms()
            touched = watching.expand(*self._inbox.drain())
            paths = [path for path in dict.fromkeys((*touched, *watching.due())) if is_read(path)]
            if touched or paths:
                self._tell(self._read(watching, paths), touched=tuple(touched))
            elif not state.server.has_watches or self._is_permitted_more():
                return
            if not paths or asked_ms - self._status.verified_ms > self._timing.verify_s * 1000:
                self._reader.exists("/")
                self._report("live", verified_ms=asked_ms)
        if not self._inbox.closed:
            self._falter(reason_of(self._inbox.state) or "the connection broke")

    def _is_permitted_more(self) -> bool:
        tried = self._reader.read_many(self._withheld[:WITHHELD_TRIED])
        return any(not isinstance(answer, Forbidden) for answer in tried)

    def _read(self, watching: Watching, paths: Sequence[str]) -> list[Answer]:
        answers: list[Answer] = []
        for start in range(0, len(paths), CHUNK):
            if self._status.phase == "loading":
                self._report("loading", done=start, total=len(paths))
            answers.extend(watching.read(paths[start : start + CHUNK]))
        return answers

    def _tell(
        self, answers: Sequence[Answer], *, listing: bool = False, fresh: bool = False, touched: tuple[str, ...] = ()
    ) -> None:
        records = tuple(translate(answers, now_ms()))
        zxid = max((answer.stat.mzxid for answer in answers if isinstance(answer, Znode)), default=-1)
        self._sink.take(Batch(records, zxid, now_ms(), listing=listing, fresh=fresh, touched=touched))

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
        status = msgspec.structs.replace(self._status, phase=phase, reason=reason, since_ms=since_ms, **also)
        self._status = status
        self._sink.report(status)


def now_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


_clock_s = time.monotonic
