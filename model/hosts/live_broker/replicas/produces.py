"""Produces: appended to the logs that this broker leads, and answered when acks says so.

Kafka 3.9 `ReplicaManager.appendRecords`, `DelayedProduce`. What is refused or acknowledged is decided elsewhere.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from model.broker.partition.follower_fetch import record_append
from model.broker.partition.partition import Partition
from model.broker.serving.acks import WaitingProduce, begin_waiting, refuse_produce, settle_produce
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.news import News
from model.log.errors import DamagedFileError, LogError
from model.log.partition_log import Appended
from model.log.producers.producer_state import Origin


class ProduceOutcome(NamedTuple):
    """What became of a produce to one partition. `error`: Kafka's name, NONE where it was appended (and replicated)."""

    error: str = "NONE"
    base_offset: int = -1
    append_time_ms: int = -1
    log_start_offset: int = -1
    message: str | None = None


class _Waiter:
    """A produce with acks=all, woken by news of its partitions."""

    def __init__(self, waiting: WaitingProduce) -> None:
        self.waiting = waiting
        self.woken = asyncio.Event()

    def hear(self, name: TopicPartition, news: News) -> None:
        if news is not News.GREW:
            self.woken.set()


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
        waiting = begin_waiting(acks, ends, self._held.now_ms() + timeout_ms)
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
        refused = refuse_produce(partition, acks, conditions)
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

    async def _wait(self, waiting: WaitingProduce) -> Mapping[TopicPartition, str]:
        held = self._held
        waiter = _Waiter(waiting)
        for name in waiting.required:
            held.news.listen(name, waiter)
        try:
            while True:
                waiter.woken.clear()
                now_ms = held.now_ms()
                waiter.waiting = waiting = settle_produce(waiting, held.find, held.conditions, now_ms)
                if waiting.is_over:
                    return waiting.settled
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout((waiting.deadline_ms - now_ms) / 1000):
                        await waiter.woken.wait()
        finally:
            for name in waiting.required:
                held.news.leave(name, waiter)


_REFUSALS: Mapping[str, str] = {
    "NOT_ENOUGH_REPLICAS": "the ISR {isr} of {name} is smaller than min.insync.replicas",
    "NOT_LEADER_OR_FOLLOWER": "{name} is led by another broker",
}
