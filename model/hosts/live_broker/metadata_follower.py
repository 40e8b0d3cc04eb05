"""Follows the quorum's metadata log for a broker in KRaft mode, and has what it says obeyed, batch after batch.

The log is kept in memory alone, unlike Kafka's brokers, which have a copy on their disks: each start reads it from the
controllers. Nothing is obeyed before all that is committed was read: what the log's beginning says is long over.

Source: `org.apache.kafka.image.loader.MetadataLoader`, `kafka.server.metadata.BrokerMetadataPublisher` (3.9).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

from model.broker.metadata_log import LocalChanges, LoggedCluster, all_changes, learn_facts, relearn_facts
from model.cluster.ids import KRAFT_VERSION
from model.hosts.background import BackgroundTasks
from model.hosts.observing.observing import Observing
from model.hosts.observing.replaying import replay_batches, replay_snapshot
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.observer.messages import Address, BatchesCommitted, Handed, SnapshotRead
from model.observer.state import ObserverStatus

_LOGGER = logging.getLogger(__name__)
Publish = Callable[[LoggedCluster, LocalChanges, bool], Awaitable[None]]
"""Has the cluster obeyed as it is now, and returns when that is done. The last is whether all of it is told."""


class MetadataFollower:
    """For one event loop. From `start` to `close`; what is read is obeyed from `obey` on."""

    def __init__(self, addresses: Sequence[Address], broker: int, cluster_id: str | None) -> None:
        self.cluster = LoggedCluster()
        self.offset = -1
        """Of the last record that was read, and obeyed once that has begun."""
        self.failed = asyncio.Event()
        """Nobody can be followed any more."""
        self.controller: Address | None = None
        """Where the active controller listens, as far as it is known."""
        self.cluster_id = cluster_id
        self.is_read = asyncio.Event()
        """All that was committed was read once."""
        self._broker = broker
        self._observing = Observing(
            addresses, self, cluster_id=cluster_id, client_id=f"broker-{broker}-metadata", replica=broker
        )
        self._replay = Replay(0)
        self._at = RecordPlace()
        self._handed: deque[Handed] = deque()
        self._is_whole = self._is_anew = False
        self._publish: Publish | None = None
        self._turn = asyncio.Lock()
        self._news = asyncio.Event()
        self._tasks = BackgroundTasks(self._failed_at)
        self._trouble = ""
        self._epoch = -1

    @property
    def features(self) -> Mapping[str, int]:
        """That hold; the voters' kraft.version no record of a controller says."""
        version = self._replay.kraft_version
        return {**self.cluster.features, **({KRAFT_VERSION: version} if version else {})}

    def start(self) -> None:
        self._tasks.spawn(self._observing.run())
        self._tasks.spawn(self._follow())

    async def obey(self, publish: Publish) -> None:
        """Publish what is known, and from now on each change."""
        async with self._turn:
            await publish(self.cluster, all_changes(self.cluster, self._broker), True)
            self._publish = publish

    async def close(self) -> None:
        await self._tasks.close()

    # For `Observing`.

    def take(self, handed: Handed) -> None:
        if isinstance(handed, SnapshotRead):
            self._is_whole = False
        if isinstance(handed, SnapshotRead | BatchesCommitted):
            self._handed.append(handed)

    def stand(self, standing: ObserverStatus) -> None:
        self.controller = standing.at if standing.phase in ("live", "stale") else None
        self.cluster_id = self.cluster_id or standing.cluster_id
        if standing.phase in ("denied", "fault"):
            _LOGGER.error("the metadata log cannot be followed: %s", standing.reason)
            self.failed.set()
        if standing.reason != self._trouble and standing.reason:
            _LOGGER.info("following the metadata log: %s", standing.reason)
        self._trouble = standing.reason
        if standing.phase == "live" and standing.epoch != self._epoch:
            self._epoch = standing.epoch
            _LOGGER.info("controller %d is followed in epoch %d", standing.leader, standing.epoch)
        self._is_whole = self._is_whole or standing.phase == "live"
        if self._is_whole:
            self._news.set()

    # What it says.

    async def _follow(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._is_whole:
                async with self._turn:
                    await self._learn()
                self.is_read.set()

    async def _learn(self) -> None:
        while self._handed:
            self._take_in(self._handed.popleft())
        is_anew, self._is_anew = self._is_anew, False
        facts = self._replay.facts(self._at)
        if facts or is_anew:
            learn = relearn_facts if is_anew else learn_facts
            self.cluster, changes = learn(self.cluster, facts, self._broker)
            if self._publish is not None:
                await self._publish(self.cluster, changes, is_anew)
        self.offset = self._at.offset

    def _take_in(self, handed: Handed) -> None:
        match handed:
            case SnapshotRead(snapshot, data):
                self._replay, self._is_anew = Replay(0), True
                self._at = replay_snapshot(self._replay, snapshot, data)
            case BatchesCommitted(batches):
                for batch in batches:
                    self._at = replay_batches(self._replay, batch.data)
            case _:
                pass

    def _failed_at(self, error: BaseException) -> None:
        _LOGGER.error("the metadata log is obeyed no more", exc_info=error)
        self.failed.set()
