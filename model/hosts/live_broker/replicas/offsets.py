"""Questions for offsets, and records deleted up to one. What the answers are is decided elsewhere.

Kafka 3.9 `ReplicaManager.fetchOffsetForTimestamp`, `lastOffsetForLeaderEpoch`, `deleteRecords`, `DelayedDeleteRecords`.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from model.broker.partition.partition import Partition
from model.broker.serving.offset_lookups import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    MAX_TIMESTAMP,
    EpochEnd,
    FoundOffset,
    OffsetAnswer,
    OffsetQuestion,
    look_up_epoch_end,
    look_up_offset,
)
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.news import News
from model.log.errors import DamagedFileError, LogError
from model.log.partition_log import PartitionLog

TO_HIGH_WATERMARK = -1
"""DeleteRecords: everything that is replicated."""


class Deleted(NamedTuple):
    """What became of a DeleteRecords for one partition: below `low_watermark` no replica serves records any more."""

    error: str = "NONE"
    low_watermark: int = -1


class Offsets:
    """`failed` is told of a partition whose disk fails."""

    def __init__(self, held: HeldReplicas, failed: Callable[[TopicPartition, OSError], None]) -> None:
        self._held = held
        self._failed = failed

    def look_up(self, name: TopicPartition, question: OffsetQuestion) -> OffsetAnswer:
        """One partition of a ListOffsets."""
        partition, log, positions = self._held.find(name), self._held.log(name), self._held.positions(name)
        if isinstance(partition, str):
            return OffsetAnswer(partition)
        if log is None or positions is None:
            return OffsetAnswer("KAFKA_STORAGE_ERROR")
        try:
            found = _in_log(log, question.timestamp)
        except OSError as error:
            self._failed(name, error)
            return OffsetAnswer("KAFKA_STORAGE_ERROR")
        except DamagedFileError:
            return OffsetAnswer("CORRUPT_MESSAGE")
        return look_up_offset(partition, question, positions, log.last_stable_offset, found)

    def epoch_end(self, name: TopicPartition, known_epoch: int | None, asked_epoch: int) -> EpochEnd:
        """One partition of an OffsetForLeaderEpoch."""
        partition, positions = self._held.find(name), self._held.positions(name)
        if isinstance(partition, str):
            return EpochEnd(partition)
        if positions is None:
            return EpochEnd("KAFKA_STORAGE_ERROR")
        return look_up_epoch_end(partition, known_epoch, asked_epoch, positions)

    async def delete_records(
        self, wanted: Mapping[TopicPartition, int], timeout_ms: int
    ) -> dict[TopicPartition, Deleted]:
        """Serve nothing below these offsets any more, and wait until no live replica does."""
        done: dict[TopicPartition, Deleted] = {}
        waiting: dict[TopicPartition, int] = {}
        for name, offset in wanted.items():
            reached = self._delete(name, offset)
            if isinstance(reached, str):
                done[name] = Deleted(reached)
            else:
                waiting[name] = reached
        deadline_ms = self._held.now_ms() + timeout_ms
        for name, offset in waiting.items():
            done[name] = await self._wait(name, offset, deadline_ms)
        return done

    def _delete(self, name: TopicPartition, offset: int) -> int | str:
        partition, log = self._held.find(name), self._held.log(name)
        if isinstance(partition, str):
            return partition
        if not partition.leads:
            return "NOT_LEADER_OR_FOLLOWER"
        if log is None:
            return "KAFKA_STORAGE_ERROR"
        if not log.settings.deletes:
            return "POLICY_VIOLATION"
        offset = partition.high_watermark if offset == TO_HIGH_WATERMARK else offset
        try:
            if offset < 0:
                return "OFFSET_OUT_OF_RANGE"
            log.advance_start(offset)
        except OSError as error:
            self._failed(name, error)
            return "KAFKA_STORAGE_ERROR"
        except LogError as error:
            return error.kafka_error
        self._held.news.tell(name, News.COMMITTED)
        return offset

    async def _wait(self, name: TopicPartition, offset: int, deadline_ms: int) -> Deleted:
        """Followers tell how far they are with their next fetches, of which there is no news: so it is looked often."""
        while True:
            partition, log = self._held.find(name), self._held.log(name)
            if isinstance(partition, str) or log is None:
                return Deleted(partition if isinstance(partition, str) else "KAFKA_STORAGE_ERROR")
            if not partition.leads:
                return Deleted("NOT_LEADER_OR_FOLLOWER")
            low = self._low_watermark(partition, log)
            if low >= offset:
                return Deleted("NONE", low)
            left_ms = deadline_ms - self._held.now_ms()
            if left_ms <= 0:
                return Deleted("REQUEST_TIMED_OUT", low)
            await asyncio.sleep(min(left_ms, 20) / 1000)

    def _low_watermark(self, partition: Partition, log: PartitionLog) -> int:
        live = self._held.metadata.image.brokers
        followers = partition.leading.followers.items() if partition.leading is not None else ()
        return min([log.start_offset, *(each.log_start for follower, each in followers if follower in live)])


def _in_log(log: PartitionLog, timestamp: int) -> FoundOffset | None:
    if timestamp == LATEST:
        return None
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epochs.epoch_at(log.start_offset)
        return FoundOffset(log.start_offset, leader_epoch=-1 if epoch is None else epoch)
    if timestamp == MAX_TIMESTAMP:
        timestamp = max((segment.max_timestamp_ms for segment in log.segments), default=-1)
    if timestamp < 0:
        return None
    found = log.find_timestamp(timestamp)
    return None if found is None else FoundOffset(found.offset, found.timestamp_ms, found.leader_epoch)
