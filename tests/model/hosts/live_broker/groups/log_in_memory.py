"""`__consumer_offsets` in memory, for tests of the coordinator's host: logs that answer when they are told to."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping

from model.broker.metadata import BrokerNode, Endpoint, MetadataImage
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.controller.events_and_commands import PartitionToKnow
from model.controller.leader_and_isr import LeaderAndIsr
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.log.producers import Origin
from model.log.records import RecordBatch, scan, stamp


class LogsInMemory:
    """The logs of one broker, whose id is 1. They outlive coordinators, and can be handed to another."""

    def __init__(self, partitions: int = 2) -> None:
        self.metadata = MetadataCache()
        self.error = "NONE"
        """What appends end with."""
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.may_read = True
        self.endless = False
        """Whether readers are sent back to the start when they come to the end."""
        self._batches: dict[TopicPartition, list[bytes]] = defaultdict(list)
        self._ends: dict[TopicPartition, int] = defaultdict(int)
        self.learn({OFFSETS_TOPIC: partitions, "orders": 4, "payments": 1})

    def learn(self, topics: Mapping[str, int]) -> None:
        """The cluster has these topics, all led by broker 1."""
        node = BrokerNode(1, (Endpoint("PLAINTEXT", "127.0.0.1", 9092), Endpoint("INSIDE", "10.0.0.1", 9093)))
        known = {
            name: {
                number: PartitionToKnow(TopicPartition(name, number), LeaderAndIsr(1, 0, (1,)), 1, (1,), ())
                for number in range(count)
            }
            for name, count in topics.items()
        }
        self.metadata.learn(MetadataImage(1, {1: node}, known))

    async def append(
        self, records: Mapping[TopicPartition, bytes], *, acks: int, timeout_ms: int, origin: Origin, internal: bool
    ) -> Mapping[TopicPartition, ProduceOutcome]:
        assert internal and origin is Origin.COORDINATOR
        ((partition, data),) = records.items()
        error = self.error
        if error == "NONE":
            first = self._ends[partition]
            (batch,) = scan(data)
            assert isinstance(batch, RecordBatch)
            stamped = bytearray(data)
            stamp(stamped, batch, first + batch.last_offset_delta, leader_epoch=0)
            self._batches[partition].append(bytes(stamped))
            self._ends[partition] = first + batch.last_offset_delta + 1
        if acks:
            await self.may_answer.wait()
        return {partition: ProduceOutcome(error, self._ends[partition] - 1)}

    def read(self, partition: TopicPartition, offset: int, max_bytes: int) -> bytes:
        if not self.may_read:
            raise OSError("the disk is gone")
        for data in self._batches[partition]:
            (batch,) = scan(data)
            assert isinstance(batch, RecordBatch)
            if batch.last_offset >= offset or self.endless:
                return data
        return b""

    def start_offset(self, partition: TopicPartition) -> int:
        return 0

    def end_offset(self, partition: TopicPartition) -> int:
        return self._ends[partition] + self.endless
