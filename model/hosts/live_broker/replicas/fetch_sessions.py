"""Fetch sessions: what a reader fetches is remembered, and which partitions of it have news (KIP-227).

Kafka 3.9 `kafka.server.FetchSession`, `FetchManager`. Unlike there a partition without news costs nothing.
"""

import asyncio
import random
from dataclasses import dataclass, field
from uuid import UUID

from model.broker.serving.reads import Isolation, Read
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.news import News, NewsBoard

NO_SESSION = 0
LAST_EPOCH = 2**31 - 1
KEPT_MS = 120_000
"""A session that was used since then makes no room for another (`MinIncrementalFetchSessionEvictionMs`)."""


@dataclass(slots=True)
class FetchedPartition:
    """What a reader wants of one partition, and what it was told last. Offsets; `recorded_ms` of its progress."""

    name: TopicPartition
    read: Read
    max_bytes: int
    log_start: int = -1
    topic_id: UUID | None = None
    sent_high_watermark: int = -1
    sent_log_start: int = -1
    recorded_ms: int = -1


@dataclass(eq=False)
class FetchSession:
    """`changed`: partitions with news, those first that waited longest. `recheck`: followers that are out of sync."""

    board: NewsBoard
    isolation: Isolation
    follower: int | None = None
    by_id: bool = False
    id: int = NO_SESSION
    epoch: int = 0
    used_ms: int = 0
    """When the last request arrived."""
    partitions: dict[TopicPartition, FetchedPartition] = field(default_factory=dict[TopicPartition, FetchedPartition])
    changed: dict[TopicPartition, None] = field(default_factory=dict[TopicPartition, None])
    recheck: set[TopicPartition] = field(default_factory=set[TopicPartition])
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, name: TopicPartition, news: News) -> None:
        """News of a partition: noted, and if there may be something to read, told to who waits."""
        to_log_end = self.isolation is Isolation.LOG_END
        if news is News.GREW and not to_log_end:
            return
        self.changed[name] = None
        if news is not News.COMMITTED or not to_log_end:
            self.woken.set()

    def want(self, wanted: FetchedPartition) -> None:
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
        """End a session, if there is one."""
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
