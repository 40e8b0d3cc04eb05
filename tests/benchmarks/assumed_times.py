"""What a drill assumes that things take, measured: ten ZooKeeper reads, ten fenced writes, a request to a broker 3.9.1.

There is no rival. The medians are the defaults of `model.hosts.virtual.scheduled_events`, rounded; both ends are on
this machine, so a network comes on top.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerRequest, LeaderAndIsrRequest, PartitionToServe
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.steps.znodes import fenced
from model.hosts.virtual.scheduled_events import TimingAssumptions
from model.hosts.wire.connection import Connection
from model.hosts.writing_session import WritingSession
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.znodes.paths import CONTROLLER_EPOCH
from model.zookeeper import Create, GetData, SetData
from tests.benchmarks.figure import Figure
from tests.harness.kafka import LoneBroker, lone_broker

TIMES = 300
ASSUMED = TimingAssumptions()
PATHS = [f"/state-{number}" for number in range(ASSUMED.in_flight)]


def measure(folder: Path) -> Iterator[Figure]:
    """Medians of many, one after the other."""
    with EmbeddedZooKeeper(folder / "zookeeper") as zookeeper:
        read_s, write_s = asyncio.run(_zookeeper(zookeeper.address))
        yield _figure("ten reads of ZooKeeper, pipelined", read_s, ASSUMED.zookeeper_read_ms)
        yield _figure("ten fenced writes, pipelined", write_s, ASSUMED.zookeeper_write_ms)
        with lone_broker(f"{zookeeper.address}/times", folder / "kafka") as broker:
            yield _figure("LeaderAndIsr of 20 partitions", asyncio.run(_requests(broker)), ASSUMED.request_ms)


def _figure(what: str, seconds: float, assumed_ms: float) -> Figure:
    return Figure(what, seconds, note=f"{seconds * 1000:.2f} ms; a drill assumes {assumed_ms:g} ms")


async def _zookeeper(address: str) -> tuple[float, float]:
    session = WritingSession(ZooKeeperSettings(address), lambda _: None, lambda: None)
    await session.open(30)
    try:
        await session.ask([Create(CONTROLLER_EPOCH, b"0"), *(Create(path, b"") for path in PATHS)])
        writes = [fenced(SetData(path, b"x" * 80, -1), 0) for path in PATHS]
        reads = [GetData(path) for path in PATHS]
        return await _median(lambda _: session.ask(reads)), await _median(lambda _: session.ask(writes))
    finally:
        await session.close()


async def _requests(broker: LoneBroker) -> float:
    connection = await Connection.open("127.0.0.1", broker.port, "kdrill-benchmark")
    try:
        return await _median(lambda number: broker.obey(connection, _leadership(number), broker.epoch))
    finally:
        await connection.close()


def _leadership(epoch: int) -> BrokerRequest:
    partitions = (
        PartitionToServe(
            TopicPartition("orders", number),
            LeaderAndIsr(1, epoch, (1, 2, 3)),
            1_000,
            ReplicaAssignment((1, 2, 3)),
            False,
        )
        for number in range(20)
    )
    return LeaderAndIsrRequest(2, 1_000, tuple(partitions), (1,), (("orders", "AAAAAAAAAAAAAAAAAAAAAQ"),))


async def _median(work: Callable[[int], Awaitable[object]]) -> float:
    took: list[float] = []
    for number in range(TIMES):
        began = time.perf_counter()
        await work(number)
        took.append(time.perf_counter() - began)
    return statistics.median(took[TIMES // 3 :])
