"""Fetches of consumers and followers: read, recorded as progress, held back until there is enough; and their sessions.

Kafka 3.9 `ReplicaManager.fetchMessages`, `DelayedFetch`. What may be read, and when to answer, is decided elsewhere.
A fetch session remembers what a reader fetches, and which partitions of it have news (KIP-227): Kafka 3.9
`kafka.server.FetchSession`, `FetchManager`. Unlike there a partition without news costs nothing.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from model.broker.commands import PartitionDecision
from model.broker.isr import record_fetch
from model.broker.partition import Partition
from model.broker.serving import Isolation, PartitionFetch, ReadJudgement, WaitingFetch, is_ready, judge_read
from model.cluster.ids import TopicPartition
from model.hosts.background import Bell
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas, News, NewsBoard
from model.log.indexes import AbortedTransaction
from model.log.names import DamagedFileError, LogError
from model.log.partition_log import PartitionLog
from model.log.segment_list import Ending, aborted_transactions

NO_SESSION = 0
LAST_EPOCH = 2**31 - 1
KEPT_MS = 120_000
"""A session that was used since then makes no room for another (`MinIncrementalFetchSessionEvictionMs`)."""


@dataclass(slots=True)
class CachedPartition:
    """What a reader wants of one partition, and what it was told last. Offsets; `recorded_ms` of its progress."""

    name: TopicPartition
    read: PartitionFetch
    max_bytes: int
    log_start: int = -1
    topic_id: UUID | None = None
    sent_high_watermark: int = -1
    sent_log_start: int = -1
    recorded_ms: int = -1


@dataclass(eq=False)
class FetchSession:
    """`changed`: partitions with news, those first that waited longest. `recheck`: where a follower may be behind."""

    board: NewsBoard
    isolation: Isolation
    follower: int | None = None
    follower_epoch: int = -1
    """The follower's broker epoch, where it says so."""
    by_id: bool = False
    id: int = NO_SESSION
    epoch: int = 0
    used_ms: int = 0
    """When the last request arrived."""
    partitions: dict[TopicPartition, CachedPartition] = field(default_factory=dict[TopicPartition, CachedPartition])
    changed: dict[TopicPartition, None] = field(default_factory=dict[TopicPartition, None])
    recheck: set[TopicPartition] = field(default_factory=set[TopicPartition])
    woken: Bell = field(default_factory=Bell)

    def hear(self, name: TopicPartition, news: News) -> None:
        """News of a partition: noted, and if there may be something to read, told to who waits."""
        to_log_end = self.isolation is Isolation.LOG_END
        if news is News.GREW and not to_log_end:
            return
        self.changed[name] = None
        if news is News.CHANGED and self.follower is not None:
            self.recheck.add(name)  # what the fetch that waits has told counts for the partition as it was
        if news is not News.COMMITTED or not to_log_end:
            self.woken.ring()

    def want(self, wanted: CachedPartition) -> None:
        """Add a partition, or go on elsewhere in it."""
        name = wanted.name
        before = self.partitions.get(name)
        if before is None:
            self._take_over(name)
            self.board.listen(name, self)
        else:
            wanted.sent_high_watermark, wanted.sent_log_start = before.sent_high_watermark, before.sent_log_start
        self.partitions[name] = wanted
        self.changed.pop(name, None)
        self.changed[name] = None

    def tell_again(self, wanted: CachedPartition) -> None:
        """The reader did not get what was read for it."""
        if self.partitions.get(wanted.name) is wanted:
            wanted.sent_high_watermark = wanted.sent_log_start = -1
            self.changed[wanted.name] = None

    def _take_over(self, name: TopicPartition) -> None:
        """A follower that has begun anew does not fetch through its session of before any more."""
        if self.follower is None:
            return
        for other in self.board.listeners(name):
            if isinstance(other, FetchSession) and other.follower == self.follower:
                other.forget(name)

    def forget(self, name: TopicPartition) -> None:
        """The reader wants this one no more."""
        if self.partitions.pop(name, None) is not None:
            self.board.leave(name, self)
        self.changed.pop(name, None)
        self.recheck.discard(name)

    def close(self) -> None:
        """The reader wants nothing more."""
        for name in list(self.partitions):
            self.forget(name)


class FetchSessions:
    """Sessions by id; `slots` is how many there may be (max.incremental.fetch.session.cache.slots)."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._by_id: dict[int, FetchSession] = {}

    def find(self, session_id: int) -> FetchSession | None:
        """The session of that id; it counts as used last."""
        session = self._by_id.pop(session_id, None)
        if session is not None:
            self._by_id[session_id] = session
        return session

    def keep(self, session: FetchSession, now_ms: int) -> bool:
        """Give it an id and epoch 1, unless there is no room: then it is for one request only."""
        if len(self._by_id) >= self._slots and not self._make_room(session, now_ms):
            return False
        session.id = self._new_id()
        session.epoch = 1
        self._by_id[session.id] = session
        return True

    def drop(self, session_id: int) -> None:
        session = self._by_id.pop(session_id, None)
        if session is not None:
            session.close()

    def _make_room(self, session: FetchSession, now_ms: int) -> bool:
        for each in self._by_id.values():
            unused = now_ms - each.used_ms > KEPT_MS
            if unused or (session.follower is not None and each.follower is None):
                self.drop(each.id)
                return True
        return False

    def _new_id(self) -> int:
        while True:
            number = random.randint(1, LAST_EPOCH)
            if number not in self._by_id:
                return number


def next_epoch(epoch: int) -> int:
    """After the last one comes 1: 0 begins a session."""
    return 1 if epoch >= LAST_EPOCH else epoch + 1


class FetchLimits(NamedTuple):
    """How long a fetch may wait for how much, and how much it takes at most: ms and bytes.

    `at_least_one`: one batch at least of the first partition, however large it is (KIP-74, 0.10.1).
    """

    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    ending: Ending = Ending.WHOLE
    at_least_one: bool = True


class PartitionRead(NamedTuple):
    """The answer for one partition. Offsets are -1 where there is an error."""

    wanted: CachedPartition
    error: str = "NONE"
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start: int = -1
    diverging: tuple[int, int] | None = None
    aborted: tuple[AbortedTransaction, ...] | None = None
    records: bytes = b""
    held_back: bool = False
    """There may be records, which the leader's throttle keeps for later."""

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
        session.woken.quiet()
        if session.follower is not None and self._record(session, now_ms) and limits.min_bytes > 0:
            await session.woken.wait(limits.max_wait_ms / 1000)
        while True:
            session.woken.quiet()
            reads = self._read(session, limits)
            now_ms = held.now_ms()
            nothing_new = not reads and session.partitions
            if now_ms >= waiting.deadline_ms if nothing_new else is_ready(waiting, map(_sized, reads), now_ms):
                return _told(session, [read for _, read in reads if full or read.is_news])
            await session.woken.wait((waiting.deadline_ms - now_ms) / 1000)

    def settle_progress(self, name: TopicPartition) -> None:
        """Record for followers with nothing to fetch that they still fetched: before the leader's log grows, and
        before it is asked who lags."""
        for session in self._held.news.listeners(name):
            if isinstance(session, FetchSession) and session.follower is not None:
                wanted = session.partitions[name]
                if max(wanted.recorded_ms + 1, self._leads_since_ms(name)) <= session.used_ms:
                    self._record_one(session, wanted, session.used_ms)

    def _leads_since_ms(self, name: TopicPartition) -> int:
        """When this broker's epoch as the leader began: what a follower fetched before says nothing of it now."""
        partition = self._held.partitions.get(name)
        return 0 if partition is None or partition.leading is None else partition.leading.since_ms

    def _record(self, session: FetchSession, now_ms: int) -> bool:
        """Returns whether the follower is known to have all there is, so that there is nothing to read for it yet."""
        has_all = bool(session.partitions)
        for name in list(session.changed):
            wanted = session.partitions.get(name)
            if wanted is None or not self._record_one(session, wanted, now_ms):
                has_all = False
            elif self._was_told(wanted):
                del session.changed[name]
        return has_all

    def _was_told(self, wanted: CachedPartition) -> bool:
        """Whether a reader that has all records knows the high watermark and the log's start, too."""
        partition, log = self._held.partitions.get(wanted.name), self._held.log(wanted.name)
        if partition is None or log is None:
            return False
        return (wanted.sent_high_watermark, wanted.sent_log_start) == (partition.high_watermark, log.start_offset)

    def _record_one(self, session: FetchSession, wanted: CachedPartition, at_ms: int) -> bool:
        """Returns whether the follower has all of the leader's log."""
        name = wanted.name
        partition, positions = self._held.find(name), self._held.positions(name)
        follower = session.follower
        if isinstance(partition, str) or positions is None or follower is None:
            return False
        wanted.recorded_ms = at_ms
        if not judge_read(partition, wanted.read, positions, positions.end).is_progress:
            return False
        conditions = self._held.conditions(name.topic, at_ms)
        before = partition
        offset, epoch = wanted.read.offset, session.follower_epoch
        decision = record_fetch(before, follower, offset, positions, conditions, wanted.log_start, epoch)
        self._apply(decision)
        if follower in decision.partition.state.isr:
            session.recheck.discard(name)
        else:
            session.recheck.add(name)
        return wanted.read.offset == positions.end

    def _read(self, session: FetchSession, limits: FetchLimits) -> list[tuple[ReadJudgement, PartitionRead]]:
        reads: list[tuple[ReadJudgement, PartitionRead]] = []
        left = limits
        for name in list(session.changed):
            wanted = session.partitions.get(name)
            if wanted is None:
                del session.changed[name]
                continue
            judgement, read, all_read = self._read_one(wanted, session.isolation, left)
            if read.records:
                left = left._replace(max_bytes=max(left.max_bytes - len(read.records), 0), at_least_one=False)
            if all_read and not read.is_news:
                del session.changed[name]
            reads.append((judgement, read))
        return reads

    def _read_one(
        self, wanted: CachedPartition, isolation: Isolation, left: FetchLimits
    ) -> tuple[ReadJudgement, PartitionRead, bool]:
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
        if self._is_held_back(name, partition, wanted.read.follower):
            return judgement, answer._replace(held_back=True), False
        try:
            return judgement, _with_records(answer, held_log, judgement, isolation, left), False
        except OSError as error:
            self._failed(name, error)
            return ReadJudgement("KAFKA_STORAGE_ERROR"), PartitionRead(wanted, "KAFKA_STORAGE_ERROR"), False
        except (LogError, DamagedFileError) as error:
            kafka_error = error.kafka_error if isinstance(error, LogError) else "CORRUPT_MESSAGE"
            return ReadJudgement(kafka_error), PartitionRead(wanted, kafka_error), False

    def _is_held_back(self, name: TopicPartition, partition: Partition, follower: int | None) -> bool:
        """Kafka 3.9 `ReplicaManager.shouldLeaderThrottle`."""
        if follower is None or follower in partition.state.isr:
            return False
        return self._held.sending.covers(name) and self._held.sending.is_exceeded


def _with_records(
    answer: PartitionRead,
    log: PartitionLog,
    judgement: ReadJudgement,
    isolation: Isolation,
    left: FetchLimits,
) -> PartitionRead:
    """With what fits, at least one batch where `left` says so."""
    offset = answer.wanted.read.offset
    most = max(min(answer.wanted.max_bytes, left.max_bytes), 0)
    if most == 0 and not left.at_least_one:
        return answer
    fetched = log.read(
        offset, max_bytes=most, end_offset=judgement.up_to, at_least_one=left.at_least_one, ending=left.ending
    )
    aborted = None
    if isolation is Isolation.LAST_STABLE_OFFSET:
        aborted = aborted_transactions(log.segments, offset, fetched.next_offset)
    return answer._replace(records=fetched.data, aborted=aborted)


def _told(session: FetchSession, reads: list[PartitionRead]) -> list[PartitionRead]:
    """Notes what the reader knows now. What has an error or records is looked at again until the reader goes on."""
    for read in reads:
        read.wanted.sent_high_watermark, read.wanted.sent_log_start = read.high_watermark, read.log_start
        if not read.is_news and not read.held_back:
            session.changed.pop(read.wanted.name, None)
    return reads


def _sized(read: tuple[ReadJudgement, PartitionRead]) -> tuple[ReadJudgement, int]:
    return read[0], len(read[1].records)
