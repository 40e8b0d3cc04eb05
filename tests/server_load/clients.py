"""Clients of one broker: those that work, by our own connection, and what a hostile one puts on a bare socket."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, encode_request, shaped, shapes
from model.hosts.wire.names import ApiKey
from tests.harness.live_brokers import batch

TOPIC = "load"
PATIENCE_S = 120.0
FETCH_VERSION = 12
"""The last one that calls topics by name."""
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def address_of(broker: str) -> tuple[str, int]:
    host, _, port = broker.rpartition(":")
    return host, int(port)


async def bare(broker: str) -> Streams:
    """A connection on which nothing was said."""
    return await asyncio.open_connection(*address_of(broker))


@asynccontextmanager
async def idle(broker: str, count: int) -> AsyncIterator[list[Streams]]:
    """So many connections that say nothing."""
    streams = [await bare(broker) for _ in range(count)]
    yield streams
    for _, writer in streams:
        writer.transport.abort()


def produce(partition: int, value: bytes, version: int = 9) -> Entity:
    """One record of now, which retention leaves alone, acks=1."""
    records = batch(value, time_ms=time.time_ns() // 1_000_000)
    module: Any = shapes(ApiKey.PRODUCE, version, "request")
    data = module.PartitionProduceData(index=partition, records=records)
    return shaped(
        module.ProduceRequest,
        transactional_id=None,
        acks=1,
        timeout=timedelta(seconds=PATIENCE_S),
        topic_data=(module.TopicProduceData(name=TOPIC, partition_data=(data,)),),
    )


def fetch(partition: int, offset: int, *, max_wait_ms: int = 0, min_bytes: int = 1, max_bytes: int = 1 << 20) -> Entity:
    """Without a session; whole batches, one at least."""
    module: Any = shapes(ApiKey.FETCH, FETCH_VERSION, "request")
    wanted = module.FetchPartition(
        partition=partition,
        current_leader_epoch=-1,
        fetch_offset=offset,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=max_bytes,
    )
    return shaped(
        module.FetchRequest,
        cluster_id=None,
        replica_id=-1,
        max_wait=timedelta(milliseconds=max_wait_ms),
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=(module.FetchTopic(topic=TOPIC, partitions=(wanted,)),),
        forgotten_topics_data=(),
        rack_id="",
    )


def metadata() -> Entity:
    """About the one topic."""
    module: Any = shapes(ApiKey.METADATA, 9, "request")
    return shaped(
        module.MetadataRequest,
        topics=(module.MetadataRequestTopic(name=TOPIC),),
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


def framed(request: Entity, number: int) -> bytes:
    """A request as it goes over a bare socket."""
    content = b"".join(encode_request(request, number, "bare"))
    return struct.pack(">i", len(content)) + content


async def answer_number(reader: asyncio.StreamReader) -> int:
    """Reads one answer; which request it is of."""
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return struct.unpack_from(">i", await reader.readexactly(size))[0]


async def is_closed(reader: asyncio.StreamReader) -> bool:
    """Once the broker has closed the connection; nothing may come before."""
    async with asyncio.timeout(PATIENCE_S):
        try:
            return await reader.read(1) == b""
        except ConnectionResetError:
            return True


class Worker:
    """Produces, reads back what it produced, and asks for metadata; checks each answer. Its times are in ms."""

    def __init__(self, connection: Connection, name: str, partition: int) -> None:
        self.times_ms: list[float] = []
        self._connection = connection
        self._name = name
        self._partition = partition

    async def work(self, rounds: int) -> None:
        for number in range(rounds):
            value = f"{self._name} {number}".encode()
            made = await self._ask(produce(self._partition, value))
            answer = made.responses[0].partition_responses[0]
            assert answer.error_code.name == "none", answer
            read = (await self._ask(fetch(self._partition, answer.base_offset))).responses[0].partitions[0]
            assert read.error_code.name == "none", read
            assert read.high_watermark > answer.base_offset
            assert value in read.records and struct.unpack_from(">q", read.records)[0] == answer.base_offset
            told = await self._ask(metadata())
            assert [topic.name for topic in told.topics] == [TOPIC]

    async def _ask(self, request: Entity) -> Any:
        began_s = time.perf_counter()
        answer = await self._connection.ask(request, PATIENCE_S)
        self.times_ms.append((time.perf_counter() - began_s) * 1000)
        return answer


async def work(broker: str, connections: int, rounds: int, partitions: int) -> Sequence[float]:
    """So many connections at once, each with its own worker: the times of all answers, in ms, ascending."""
    async with AsyncExitStack() as stack:
        workers: list[Worker] = []
        for number in range(connections):
            connection = await Connection.open(*address_of(broker), f"worker-{number}", PATIENCE_S)
            stack.push_async_callback(connection.close)
            workers.append(Worker(connection, f"worker {number}", number % partitions))
        await asyncio.gather(*(worker.work(rounds) for worker in workers))
        return sorted(ms for worker in workers for ms in worker.times_ms)
