"""Fetches of consumers and followers: read, recorded as progress, and held back until there is enough.

Kafka 3.9 `ReplicaManager.fetchMessages`, `DelayedFetch`. What may be read, and when to answer, is decided elsewhere.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import NamedTuple

from model.broker.decision import PartitionDecision
from model.broker.partition.follower_fetch import record_fetch
from model.broker.serving.reads import Isolation, ReadJudgement, judge_read
from model.broker.serving.waiting_fetches import WaitingFetch, is_ready
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.fetch_sessions import FetchedPartition, FetchSession
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.log.errors import DamagedFileError, LogError
from model.log.indexes.transaction_index import AbortedTransaction
from model.log.partition_log import PartitionLog
from model.log.reading import aborted_transactions


class FetchLimits(NamedTuple):
    """How long a fetch may wait for how much, and how much it takes at most: ms and bytes."""

    min_bytes: int
    max_bytes: int
    max_wait_ms: int


class PartitionRead(NamedTuple):
    """The answer for one partition. Offsets are -1 where there is an error."""

    wanted: FetchedPartition
    error: str = "NONE"
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start: int = -1
    diverging: tuple[int, int] | None = None
    aborted: tuple[AbortedTransaction, ...] | None = None
    records: bytes = b""

    @property
    def is_news(self) -> bool:
        """Whether a reader with a session has to be told."""
        if self.records or self.diverging is not None or self.error != "NONE":
            return True
        sent = self.wanted.sent_high_watermark, self.wanted.sent_log_start
        return sent != (self.high_watermark, self.log_start)


class Fetches:
    """`apply` gets what follows from a follower's progress, `failed` the partition whose disk fails."""

    def __init__(
        self,
        held: HeldReplicas,
        apply: Callable[[PartitionDecision], None],
        failed: Callable[[TopicPartition, OSError], None],
    ) -> None:
        self._held = held
        self._apply = apply
        self._failed = failed

    async def fetch(self, session: FetchSession, limits: FetchLimits, *, full: bool) -> list[PartitionRead]:
        """What is to be answered: for the partitions of a session that have news, or `full`: for all of them."""
        held = self._held
        now_ms = session.used_ms = held.now_ms()
        waiting = WaitingFetch(limits.min_bytes, now_ms + limits.max_wait_ms)
        session.changed.update(dict.fromkeys(session.recheck))
        if session.follower is not None:
            self._record(session, now_ms)
        while True:
            session.woken.clear()
            reads = self._read(session, limits.max_bytes)
            now_ms = held.now_ms()
            nothing_new = not reads and session.partitions
            if now_ms >= waiting.deadline_ms if nothing_new else is_ready(waiting, map(_sized, reads), now_ms):
                return _told(session, [read for _, read in reads if full or read.is_news])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout((waiting.deadline_ms - now_ms) / 1000):
                    await session.woken.wait()

    def settle_progress(self, name: TopicPartition) -> None:
        """Record for followers with nothing to fetch that they still fetched: before the leader's log grows, and
        before it is asked who lags."""
        for session in self._held.news.listeners(name):
            if isinstance(session, FetchSession) and session.follower is not None:
                wanted = session.partitions[name]
                if wanted.recorded_ms < session.used_ms:
                    self._record_one(session, wanted, session.used_ms)

    def _record(self, session: FetchSession, now_ms: int) -> None:
        for name in list(session.changed):
            wanted = session.partitions.get(name)
            if wanted is not None:
                self._record_one(session, wanted, now_ms)

    def _record_one(self, session: FetchSession, wanted: FetchedPartition, at_ms: int) -> None:
        name = wanted.name
        partition, positions = self._held.find(name), self._held.positions(name)
        follower = session.follower
        if isinstance(partition, str) or positions is None or follower is None:
            return
        wanted.recorded_ms = at_ms
        if not judge_read(partition, wanted.read, positions, positions.end).is_progress:
            return
        conditions = self._held.conditions(name.topic, at_ms)
        before = partition
        decision = record_fetch(before, follower, wanted.read.offset, positions, conditions, wanted.log_start)
        self._apply(decision)
        if follower in decision.partition.state.isr:
            session.recheck.discard(name)
        else:
            session.recheck.add(name)

    def _read(self, session: FetchSession, max_bytes: int) -> list[tuple[ReadJudgement, PartitionRead]]:
        reads: list[tuple[ReadJudgement, PartitionRead]] = []
        left = max_bytes
        for name in list(session.changed):
            wanted = session.partitions.get(name)
            if wanted is None:
                del session.changed[name]
                continue
            judgement, read, all_read = self._read_one(wanted, session.isolation, left, first=left == max_bytes)
            left -= len(read.records)
            if all_read and not read.is_news:
                del session.changed[name]
            reads.append((judgement, read))
        return reads

    def _read_one(
        self, wanted: FetchedPartition, isolation: Isolation, max_bytes: int, *, first: bool
    ) -> tuple[ReadJudgement, PartitionRead, bool]:
        """Also whether there is nothing more to read."""
        name = wanted.name
        partition, held_log = self._held.find(name), self._held.log(name)
        if isinstance(partition, str) or held_log is None:
            error = partition if isinstance(partition, str) else "KAFKA_STORAGE_ERROR"
            return ReadJudgement(error), PartitionRead(wanted, error), False
        positions = self._held.positions(name)
        assert positions is not None
        stable = held_log.last_stable_offset
        judgement = judge_read(partition, wanted.read, positions, stable)
        if judgement.error != "NONE":
            return judgement, PartitionRead(wanted, judgement.error), False
        answer = PartitionRead(wanted, "NONE", partition.high_watermark, stable, positions.start, judgement.diverging)
        if judgement.diverging is not None or wanted.read.offset >= judgement.up_to:
            return judgement, answer, True
        try:
            return judgement, _with_records(answer, held_log, judgement, isolation, max_bytes, first=first), False
        except OSError as error:
            self._failed(name, error)
            return ReadJudgement("KAFKA_STORAGE_ERROR"), PartitionRead(wanted, "KAFKA_STORAGE_ERROR"), False
        except (LogError, DamagedFileError) as error:
            kafka_error = error.kafka_error if isinstance(error, LogError) else "CORRUPT_MESSAGE"
            return ReadJudgement(kafka_error), PartitionRead(wanted, kafka_error), False


def _with_records(
    answer: PartitionRead,
    log: PartitionLog,
    judgement: ReadJudgement,
    isolation: Isolation,
    max_bytes: int,
    *,
    first: bool,
) -> PartitionRead:
    """With what fits; of the first partition one batch even if it does not."""
    offset = answer.wanted.read.offset
    most = min(answer.wanted.max_bytes, max_bytes)
    if most <= 0 and not first:
        return answer
    fetched = log.read(offset, max_bytes=max(most, 0), end_offset=judgement.up_to, at_least_one=first)
    aborted = None
    if isolation is Isolation.LAST_STABLE_OFFSET:
        aborted = aborted_transactions(log.segments, offset, fetched.next_offset)
    return answer._replace(records=fetched.data, aborted=aborted)


def _told(session: FetchSession, reads: list[PartitionRead]) -> list[PartitionRead]:
    """Notes what the reader knows now. What has an error or records is looked at again until the reader goes on."""
    for read in reads:
        read.wanted.sent_high_watermark, read.wanted.sent_log_start = read.high_watermark, read.log_start
        if not read.is_news:
            session.changed.pop(read.wanted.name, None)
    return reads


def _sized(read: tuple[ReadJudgement, PartitionRead]) -> tuple[ReadJudgement, int]:
    return read[0], len(read[1].records)
