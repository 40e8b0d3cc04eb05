"""The load as its process runs it: one producer, the consumers of coordinator groups, and the audit at the end."""

import asyncio
import uuid
from collections.abc import Mapping

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import KafkaClient, address_of
from model.sandbox.load.group_consumer import GroupConsumer
from model.sandbox.load.ledger import Ledger
from model.sandbox.load.messages import AuditReport, ConsumerFacts, LoadFacts, LoadOrder, LoadSetup, LoadTold
from model.sandbox.load.producer import LoadProducer, topics_of
from model.sandbox.load.reading import audit

DRAIN_S = 20.0
"""How long the records that are under way may take before an audit."""
TIMEOUT_S = 12.0
"""Above what a broker may take over a produce request, or over a rebalance with members that are gone."""
JOIN_TIMEOUT_S = 60.0


class LoadService:
    """From `start` to `close`. For one event loop."""

    def __init__(self, setup: LoadSetup) -> None:
        self._setup = setup
        self._bootstrap = [address_of(each) for each in setup.bootstrap]
        self._partitions = [TopicPartition(*each) for each in setup.partitions]
        self._run = uuid.uuid4().hex[:8]
        self._ledger = Ledger()
        self._producer = LoadProducer(self._client("producer", TIMEOUT_S), self._partitions, self._run, self._ledger)
        self._rate = setup.rate
        topics = topics_of(self._partitions)
        self._consumers: Mapping[tuple[str, str], GroupConsumer] = {
            (group, member): GroupConsumer(self._client(f"{group}-{member}", JOIN_TIMEOUT_S), group, topics)
            for group, member in setup.consumers
        }
        self._starting: asyncio.Task[None] | None = None

    def start(self) -> None:
        for consumer in self._consumers.values():
            consumer.start()
        self._starting = asyncio.create_task(self._start_producer())

    def facts(self) -> LoadFacts:
        return LoadFacts(
            rate=self._rate,
            acknowledged=self._ledger.total,
            overwritten=self._ledger.overwritten,
            waiting=self._producer.unacknowledged,
            error=self._producer.error,
            consumers=tuple(
                ConsumerFacts(group, member, each.status, tuple(map(str, sorted(each.partitions))), each.consumed)
                for (group, member), each in self._consumers.items()
            ),
        )

    async def obey(self, order: LoadOrder) -> LoadTold:
        if order.audit:
            return LoadTold(id=order.id, report=await self._audit())
        if order.rate is not None:
            self._rate = self._producer.rate = order.rate
            return LoadTold(id=order.id, done=f"the load produces {order.rate:g} records a second")
        if order.stop is not None:
            consumer = self._consumers.get(order.stop)
            if consumer is None or consumer.status == "stopped":
                return _refused(order, "does not run")
            await consumer.cut_off()
            return LoadTold(id=order.id, done=f"consumer {'/'.join(order.stop)} is gone, without a goodbye")
        if order.start is not None:
            consumer = self._consumers.get(order.start)
            if consumer is None or consumer.status != "stopped":
                return _refused(order, "is not stopped")
            consumer.start()
            return LoadTold(id=order.id, done=f"consumer {'/'.join(order.start)} is back")
        return LoadTold(id=order.id, refused="an order with nothing to do")

    async def close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self._producer.close()
        for consumer in self._consumers.values():
            await consumer.cut_off()

    async def _start_producer(self) -> None:
        await self._producer.start()
        self._producer.rate = self._rate

    async def _audit(self) -> AuditReport:
        self._rate = 0.0
        await self._producer.drain(DRAIN_S)
        client = self._client("auditor", TIMEOUT_S)
        try:
            return await audit(client, self._partitions, self._run, self._ledger)
        finally:
            await client.close()

    def _client(self, name: str, timeout_s: float) -> KafkaClient:
        return KafkaClient(self._bootstrap, f"kdrill-load-{name}", timeout_s)


def _refused(order: LoadOrder, why: str) -> LoadTold:
    name = "/".join(order.stop or order.start or ())
    return LoadTold(id=order.id, refused=f"consumer {name} {why}, or there is none of that name")
