"""Produces appended to led logs and answered when acks says so; offsets looked up; records deleted up to an offset.

Kafka 3.9 `ReplicaManager.appendRecords`, `DelayedProduce`, `fetchOffsetForTimestamp`, `lastOffsetForLeaderEpoch`,
`deleteRecords`, `DelayedDeleteRecords`. What is refused, acknowledged or answered is decided elsewhere.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from model.broker import serving
from model.broker.isr import record_append
from model.broker.partition import Partition
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.hosts.background import Bell
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas, News
from model.log.names import DamagedFileError, LogError
from model.log.partition_log import Appended, PartitionLog
from model.log.producers import Origin


class ProduceOutcome(NamedTuple):
    """What became of a produce to one partition. `error`: Kafka's name, NONE where it was appended (and replicated)."""

    error: str = "NONE"
    base_offset: int = -1
    append_time_ms: int = -1
    log_start_offset: int = -1
    message: str | None = None


class _Waiter:
    """A produce with acks=all, woken by news of its partitions."""

    def __init__(self, waiting: serving.WaitingProduce) -> None:
        self.waiting = waiting
        self.woken = Bell()

    def hear(self, name: TopicPartition, news: News) -> None:
        if news is not News.GREW:
            self.woken.ring()


class Produces:
    """`before_append` is told of each partition that is about to grow, `failed` of one whose disk fails."""

    def __init__(
        self,
        held: HeldReplicas,
        before_append: Callable[[TopicPartition], None],
        failed: Callable[[TopicPartition, OSError], None],
    ) -> None:
        self._held = held
        self._before_append = before_append
        self._failed = failed

    async def append(
        self,
        records: Mapping[TopicPartition, bytes],
        *,
        acks: int,
        timeout_ms: int,
        origin: Origin = Origin.CLIENT,
        internal: bool = False,
    ) -> dict[TopicPartition, ProduceOutcome]:
        """All that is appended is so before this waits for the first time."""
        outcomes: dict[TopicPartition, ProduceOutcome] = {}
        ends: dict[TopicPartition, int] = {}
        for name, data in records.items():
            try:
                appended, log_start = self._append(name, data, acks, origin, internal=internal)
            except LogError as error:
                outcomes[name] = ProduceOutcome(error.kafka_error, message=str(error))
                continue
            outcomes[name] = ProduceOutcome("NONE", appended.first_offset, appended.append_time_ms, log_start)
            ends[name] = appended.last_offset + 1
        waiting = serving.begin_waiting(acks, ends, self._held.now_ms() + timeout_ms)
        if waiting is not None:
            for name, error in (await self._wait(waiting)).items():
                if error != "NONE":
                    outcomes[name] = ProduceOutcome(error)
        return outcomes

    def _append(
        self, name: TopicPartition, data: bytes, acks: int, origin: Origin, *, internal: bool
    ) -> tuple[Appended, int]:
        held = self._held
        if name.topic in INTERNAL_TOPICS and not internal:
            raise LogError("INVALID_TOPIC_EXCEPTION", f"clients may not write to {name.topic}")
        partition = held.find(name)
        if isinstance(partition, str):
            raise LogError(partition, f"{name} is not led by broker {held.broker}")
        conditions = held.conditions(name.topic)
        refused = serving.refuse_produce(partition, acks, conditions)
        if refused != "NONE":
            raise LogError(refused, _REFUSALS.get(refused, refused).format(name=name, isr=[*partition.state.isr]))
        log = held.log(name)
        if log is None:
            raise LogError("KAFKA_STORAGE_ERROR", f"the log of {name} is gone")
        self._before_append(name)
        epoch, now_ms = partition.state.leader_epoch, conditions.now_ms
        try:
            held.space.take(len(data))
            appended = log.append_as_leader(data, leader_epoch=epoch, now_ms=now_ms, origin=origin)
        except OSError as error:
            self._failed(name, error)
            raise LogError("KAFKA_STORAGE_ERROR", f"the log dir of {name} has failed: {error.strerror}") from None
        except DamagedFileError as error:
            raise LogError("KAFKA_STORAGE_ERROR", str(error)) from None
        self._grown(held.partitions[name])
        return appended, log.start_offset

    def _grown(self, partition: Partition) -> None:
        name = partition.partition
        positions = self._held.positions(name)
        assert positions is not None
        self._held.put(record_append(partition, positions, self._held.conditions(name.topic)))
        self._held.news.tell(name, News.GREW)

    async def _wait(self, waiting: serving.WaitingProduce) -> Mapping[TopicPartition, str]:
        held = self._held
        waiter = _Waiter(waiting)
        for name in waiting.required:
            held.news.listen(name, waiter)
        try:
            while True:
                waiter.woken.quiet()
                now_ms = held.now_ms()
                waiter.waiting = waiting = serving.settle_produce(waiting, held.find, held.conditions, now_ms)
                if waiting.is_over:
                    return waiting.settled
                await waiter.woken.wait((waiting.deadline_ms - now_ms) / 1000)
        finally:
            for name in waiting.required:
                held.news.leave(name, waiter)


_REFUSALS: Mapping[str, str] = {
    "NOT_ENOUGH_REPLICAS": "the ISR {isr} of {name} is smaller than min.insync.replicas",
    "NOT_LEADER_OR_FOLLOWER": "{name} is led by another broker",
}


TO_HIGH_WATERMARK = -1
"""DeleteRecords: everything that is replicated."""


class DeleteOutcome(NamedTuple):
    """What became of a DeleteRecords for one partition: below `low_watermark` no replica serves records any more."""

    error: str = "NONE"
    low_watermark: int = -1


class Offsets:
    """`failed` is told of a partition whose disk fails."""

    def __init__(self, held: HeldReplicas, failed: Callable[[TopicPartition, OSError], None]) -> None:
        self._held = held
        self._failed = failed

    def look_up(self, name: TopicPartition, question: serving.OffsetQuestion) -> serving.OffsetAnswer:
        partition, log, positions = self._held.find(name), self._held.log(name), self._held.positions(name)
        if isinstance(partition, str):
            return serving.OffsetAnswer(partition)
        if log is None or positions is None:
            return serving.OffsetAnswer("KAFKA_STORAGE_ERROR")
        try:
            found = _in_log(log, question.timestamp)
        except OSError as error:
            self._failed(name, error)
            return serving.OffsetAnswer("KAFKA_STORAGE_ERROR")
        except DamagedFileError:
            return serving.OffsetAnswer("CORRUPT_MESSAGE")
        answer = serving.look_up_offset(partition, question, positions, log.last_stable_offset, found)
        by_time = question.timestamp not in (serving.EARLIEST_TIMESTAMP, serving.LATEST_TIMESTAMP)
        if by_time and log.settings.message_format == 0 and answer.error == "NONE":
            return serving.OffsetAnswer("UNSUPPORTED_FOR_MESSAGE_FORMAT")  # its records have no times
        return answer

    def look_up_old(self, name: TopicPartition, question: serving.OldQuestion) -> tuple[str, tuple[int, ...]]:
        """As ListOffsets v0 wants it: an error and offsets."""
        partition, log = self._held.find(name), self._held.log(name)
        if isinstance(partition, str):
            return partition, ()
        if log is None:
            return "KAFKA_STORAGE_ERROR", ()
        try:
            segments = tuple((each.base_offset, each.written_ms) for each in log.segments)
        except OSError as error:
            self._failed(name, error)
            return "KAFKA_STORAGE_ERROR", ()
        is_empty = log.segments.active.size_bytes == 0
        times = serving.LogTimes(segments, log.start_offset, log.end_offset, is_empty)
        return serving.look_up_old_offsets(partition, question, times, self._held.now_ms())

    def epoch_end(self, name: TopicPartition, known_epoch: int | None, asked_epoch: int) -> serving.EpochEnd:
        partition, positions = self._held.find(name), self._held.positions(name)
        if isinstance(partition, str):
            return serving.EpochEnd(partition)
        if positions is None:
            return serving.EpochEnd("KAFKA_STORAGE_ERROR")
        return serving.look_up_epoch_end(partition, known_epoch, asked_epoch, positions)

    async def delete_records(
        self, wanted: Mapping[TopicPartition, int], timeout_ms: int
    ) -> dict[TopicPartition, DeleteOutcome]:
        """Serve nothing below these offsets any more, and wait until no live replica does."""
        done: dict[TopicPartition, DeleteOutcome] = {}
        waiting: dict[TopicPartition, int] = {}
        for name, offset in wanted.items():
            reached = self._delete(name, offset)
            if isinstance(reached, str):
                done[name] = DeleteOutcome(reached)
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

    async def _wait(self, name: TopicPartition, offset: int, deadline_ms: int) -> DeleteOutcome:
        """Followers tell how far they are with their next fetches, of which there is no news: so it is looked often."""
        while True:
            partition, log = self._held.find(name), self._held.log(name)
            if isinstance(partition, str) or log is None:
                return DeleteOutcome(partition if isinstance(partition, str) else "KAFKA_STORAGE_ERROR")
            if not partition.leads:
                return DeleteOutcome("NOT_LEADER_OR_FOLLOWER")
            low = self._low_watermark(partition, log)
            if low >= offset:
                return DeleteOutcome("NONE", low)
            left_ms = deadline_ms - self._held.now_ms()
            if left_ms <= 0:
                return DeleteOutcome("REQUEST_TIMED_OUT", low)
            await asyncio.sleep(min(left_ms, 20) / 1000)

    def _low_watermark(self, partition: Partition, log: PartitionLog) -> int:
        live = self._held.metadata.image.brokers
        followers = partition.leading.followers.items() if partition.leading is not None else ()
        return min([log.start_offset, *(each.log_start for follower, each in followers if follower in live)])


def _in_log(log: PartitionLog, timestamp: int) -> serving.FoundOffset | None:
    if timestamp == serving.LATEST_TIMESTAMP:
        return None
    if timestamp in (serving.EARLIEST_TIMESTAMP, serving.EARLIEST_LOCAL_TIMESTAMP):
        epoch = log.epochs.epoch_at(log.start_offset)
        return serving.FoundOffset(log.start_offset, leader_epoch=-1 if epoch is None else epoch)
    if timestamp == serving.MAX_TIMESTAMP:
        timestamp = max((segment.max_timestamp_ms for segment in log.segments), default=-1)
    if timestamp < 0:
        return None
    found = log.find_timestamp(timestamp)
    return None if found is None else serving.FoundOffset(found.offset, found.timestamp_ms, found.leader_epoch)
