"""The controller of a voter's node: while its voter leads it decides, by the rules of KRaft's own controllers.

What is decided is written to the voter's log, and told once it is committed. While another one leads, or before the log
is read up to the own election, nobody is told anything. Who asks what is in `broker_requests` and
`operator_requests`.
"""

import asyncio
import heapq
import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from model.cluster.ids import KRAFT_VERSION, METADATA_VERSION
from model.cluster.whole_file import MOST_SETTINGS, read_whole
from model.hosts.quorum.committed_log import CommittedLog, SnapshotSettings, values_of
from model.hosts.quorum.control_batches import data_batch
from model.hosts.quorum.controller_state import TermState
from model.hosts.quorum.quorum_voter import KRAFT_VERSIONS, QuorumVoter
from model.hosts.wire.server import Features
from model.kraft_controller.cluster import KraftCluster, MetadataRecord
from model.kraft_controller.compacted import CompactedLog
from model.kraft_controller.decide import BrokerSilent, KraftEvent, ShutdownWanted, decide
from model.kraft_controller.heartbeats import SESSION_MS, left_at, look
from model.kraft_controller.partition_change import ELR_FEATURE, HIGHEST_LEVELS, KRAFT_OF_3_3, NEWEST
from model.kraft_controller.requests import Periodic, balance, elect_uncleanly
from model.metadata_log.encoder import encode_record

SUPPORTED: Final = {
    METADATA_VERSION: (KRAFT_OF_3_3, HIGHEST_LEVELS[NEWEST]),
    KRAFT_VERSION: KRAFT_VERSIONS,
    ELR_FEATURE: (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}
"""Levels of features, as 4.4 knows them; brokers that do not are asked before one is raised."""
IDLE_MS: Final = 500
"""A NoOp is written as often (`metadata.max.idle.interval.ms`)."""
LOOK_MS: Final = 50
"""How often sessions are looked at."""
_LOGGER = logging.getLogger(__name__)


_AGAIN_MS: Final = 10


class Periods(msgspec.Struct, frozen=True):
    """Keys of a controller, with Kafka's defaults."""

    session_ms: float = SESSION_MS
    balance_ms: float = 300_000
    """`leader.imbalance.check.interval.seconds`; 0: leaders are not moved back unless asked for."""
    unclean_ms: float = 300_000
    """`unclean.leader.election.interval.ms`."""


class NotActiveError(Exception):
    """Another controller is active, or none."""


class ActiveController:
    """The state machine of a voter; `state` is there while it is the active controller."""

    def __init__(
        self,
        voter: QuorumVoter,
        cluster_id: str,
        periods: Periods | None = None,
        snapshots: SnapshotSettings | None = None,
    ) -> None:
        self.voter = voter
        self.log = CommittedLog(voter, snapshots or SnapshotSettings())
        self.state: TermState | None = None
        self.periods = periods or Periods()
        self.cluster_id = cluster_id
        self._claim: tuple[int, int] | None = None
        self._mark = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._asked = 0
        self._work: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None

    def start(self) -> None:
        """From now on it reads what is committed."""
        self._reading = asyncio.get_running_loop().create_task(self.log.run())
        self._reading.add_done_callback(self._fail)

    def close(self) -> None:
        """Ends in order."""
        if self._reading is not None:
            self._reading.cancel()

    # What its voter tells.

    def leads(self, epoch: int, start: int) -> None:
        self._claim = epoch, start

    def steps_down(self) -> None:
        self._claim = self.state = None
        if self._work is not None:
            self._work.cancel()
            self._work = None
        for *_, waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(NotActiveError())
        self._waiting.clear()

    def committed(self, high_watermark: int) -> None:
        self._mark = high_watermark
        self.log.committed(high_watermark)
        while self._waiting and self._waiting[0][0] <= high_watermark:
            waiting = heapq.heappop(self._waiting)[2]
            if not waiting.done():
                waiting.set_result(None)
        if self._claim is not None and self._work is None and high_watermark > self._claim[1]:
            self._work = asyncio.get_running_loop().create_task(self._rule(self._claim[1]))
            self._work.add_done_callback(self._fail)

    def _fail(self, work: asyncio.Task[None]) -> None:
        """A defect ends the process, as in Kafka: another controller may do better. That its voter leads no more is no
        defect: it may notice when it is given something to write."""
        if work.cancelled() or isinstance(work.exception(), NotActiveError):
            return
        if work.exception() is not None:
            _LOGGER.error("the controller cannot go on", exc_info=work.exception())
            self.steps_down()
            self.voter.stop()

    # Its term.

    async def _rule(self, start: int) -> None:
        await self.log.reaches(start)
        state = await self._began()
        state.memory = state.memory.after_failover(state.cluster, now_ms())
        self.state = state
        idle_ms = now_ms() + IDLE_MS
        balance_ms, unclean_ms = now_ms() + self.periods.balance_ms, now_ms() + self.periods.unclean_ms
        while True:
            self._look_at_sessions()
            if self.periods.balance_ms > 0 and now_ms() >= balance_ms:
                balance_ms = now_ms() + self._elect(balance, self.periods.balance_ms)
            if state.cluster.levels.release >= (3, 9) and now_ms() >= unclean_ms:
                unclean_ms = now_ms() + self._elect(elect_uncleanly, self.periods.unclean_ms)
            if now_ms() >= idle_ms:
                self.append([encode_record("NoOpRecord", 0, {})])
                idle_ms = now_ms() + IDLE_MS
            await asyncio.sleep(LOOK_MS / 1000)

    def _elect(self, work: Callable[[KraftCluster], Periodic], period_ms: float) -> float:
        """Elections that nobody asked for, and how long until the next ones."""
        found = work(self.active.cluster)
        self.write(found.records)
        return _AGAIN_MS if found.goes_on else period_ms

    async def _began(self) -> TermState:
        """Nobody else writes: all that the log has is committed by now. On a thread: a million partitions take
        seconds, and Raft must go on."""
        log, end = self.log.records, self.voter.node.log.end
        values: list[bytes] = []
        if log.is_new:
            log, values = CompactedLog(), self._first_records()
            for number, value in enumerate(values):
                log.take(value, end + number)
        elif log.is_in_transaction:
            values = [encode_record("AbortTransactionRecord", 0, {"reason": "controller failover"})]
        if values:
            self.propose(values)
        return await asyncio.to_thread(TermState, log, self.cluster_id, end + len(values))

    def _first_records(self) -> list[bytes]:
        """Those that the folder was formatted with, as a transaction (metadata.version 3.6-IV1 and later)."""
        folder = self.voter.disk.folder
        for path in (folder.parent / "bootstrap.checkpoint", folder / f"{0:020d}-{0:010d}.checkpoint"):
            if path.exists():
                values = [value for value, _ in values_of(read_whole(path, MOST_SETTINGS)) if value is not None]
                if values:
                    break
        else:
            level = {"name": METADATA_VERSION, "featureLevel": HIGHEST_LEVELS[NEWEST]}
            values = [encode_record("FeatureLevelRecord", 0, level)]
        begin = encode_record("BeginTransactionRecord", 0, {"name": "Bootstrap records"})
        return [begin, *values, encode_record("EndTransactionRecord", 0, {})]

    def _look_at_sessions(self) -> None:
        if self.state is not None:
            seen = look(self.state.cluster, self.state.memory, now_ms(), self.periods.session_ms)
            self.state.memory = seen.memory
            if seen.fenced is not None:
                self.happens(BrokerSilent(seen.fenced))

    # What is written.

    @property
    def active(self) -> TermState:
        """Raises NotActiveError."""
        if self.state is None:
            raise NotActiveError
        return self.state

    def happens(self, event: KraftEvent) -> None:
        """Decides on it, and writes what follows."""
        state = self.active
        self.write(decide(state.cluster, event).records)
        if isinstance(event, ShutdownWanted):
            state.memory = left_at(state.memory, event.broker, self.voter.node.log.end)

    def write(self, records: Sequence[MetadataRecord]) -> None:
        """What was decided, at the log's end."""
        self.at_the_end()
        if records:
            self.propose(self.active.write(records))

    def append(self, values: Sequence[bytes]) -> None:
        """Records whose bytes are known, at the log's end."""
        self.at_the_end()
        if values:
            self.active.take(values)
            self.propose(values)

    def at_the_end(self) -> None:
        """What is written next gets the offset that the log's next record has."""
        self.active.end = self.voter.node.log.end

    def propose(self, values: Sequence[bytes]) -> None:
        """Records that the state has taken in already."""
        batch = data_batch(values, time.time_ns() // 1_000_000)
        self.voter.propose(self.voter.node.epoch, ((len(values), batch),))

    async def all_committed(self) -> None:
        """All that is written so far. Raises NotActiveError where that is never known."""
        end = self.voter.node.log.end
        if self.state is None:
            raise NotActiveError
        if self._mark < end:
            self._asked += 1
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (end, self._asked, waiting))
            await waiting

    def features(self) -> Features:
        """What ApiVersions tells."""
        if self.state is None:
            return Features(SUPPORTED, {})
        version = self.voter.node.log.voters.kraft_version
        return Features(SUPPORTED, self.state.features | ({KRAFT_VERSION: version} if version else {}), self._mark)


def now_ms() -> float:
    """Of the clock of sessions."""
    return time.monotonic() * 1000
