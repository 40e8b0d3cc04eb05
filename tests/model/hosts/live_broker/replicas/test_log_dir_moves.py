"""Replicas move between the log dirs of a broker, whole, while they are written, and whatever goes wrong meanwhile."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from model.broker.settings.keys import REPLICA_ALTER_LOG_DIRS_RATE
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.hosts.wire.messages import Entity, shaped, shapes
from model.log.names import DamagedFileError
from tests.harness.live_brokers import QUICK, Cluster
from tests.harness.waiting import eventually_async
from tests.model.hosts.live_broker.data_apis.asking import connected

ORDERS = TopicPartition("orders", 0)
PIECE = "x" * 1000
ALTER, DESCRIBE = 34, 35


@pytest.fixture
async def cluster(cluster: Cluster) -> Cluster:
    """One broker with two log dirs, that moves a batch at a time; ten batches."""
    cluster.settings = {**QUICK, "replica.fetch.max.bytes": "1"}
    await cluster.start(1, log_dirs=2)
    await cluster.create("orders", (1,))
    for number in range(10):
        await cluster.produce(ORDERS, f"{number}{PIECE}")
    return cluster


def log_dirs(cluster: Cluster) -> LogDirs:
    return cluster.nodes[1].replicas.log_dirs


def elsewhere(cluster: Cluster) -> Path:
    """The log dir in which the partition does not lie."""
    dirs = log_dirs(cluster)
    return next(path for path in dirs.paths if path != dirs.logs[ORDERS].dir.path)


def allow(cluster: Cluster, rate: int) -> None:
    replicas = cluster.nodes[1].replicas
    replicas.apply_broker_settings(replicas.settings.with_values({REPLICA_ALTER_LOG_DIRS_RATE.name: rate}))


async def order(cluster: Cluster, path: Path | str, topic: str = "orders", version: int = 2) -> str:
    module: Any = shapes(ALTER, version, "request")
    named = module.AlterReplicaLogDirTopic(name=topic, partitions=(0,))
    request = module.AlterReplicaLogDirsRequest(dirs=(module.AlterReplicaLogDir(path=str(path), topics=(named,)),))
    async with connected(cluster, 1) as connection:
        (result,) = (await connection.ask(request)).results
    return result.partitions[0].error_code.name


async def described(cluster: Cluster) -> dict[str, list[tuple[bool, int, int]]]:
    """Of each log dir: whether it is a future log, its lag, its size."""
    module: Any = shapes(DESCRIBE, 4, "request")
    async with connected(cluster, 1) as connection:
        results: tuple[Entity, ...] = (await connection.ask(shaped(module.DescribeLogDirsRequest, topics=None))).results
    return {
        each.log_dir: [
            (part.is_future_key, part.offset_lag, part.partition_size)
            for topic in each.topics
            for part in topic.partitions
        ]
        for each in results
    }


@asynccontextmanager
async def halfway(cluster: Cluster) -> AsyncIterator[Path]:
    """Where a move goes that stands still after the first batches."""
    place = elsewhere(cluster)
    allow(cluster, 0)
    assert await order(cluster, place) == "none"
    await eventually_async(lambda: log_dirs(cluster).futures[ORDERS].log.end_offset > 0)
    assert log_dirs(cluster).futures[ORDERS].log.end_offset < 10
    yield place


async def arrived(cluster: Cluster, place: Path, end: int = 10) -> None:
    """It is all there, and nowhere else; and goes on."""
    dirs = log_dirs(cluster)
    await eventually_async(lambda: ORDERS in dirs.logs and dirs.logs[ORDERS].dir.path == place and not dirs.futures)
    replicas = cluster.nodes[1].replicas
    assert (replicas.end_offset(ORDERS), replicas.high_watermark(ORDERS)) == (end, end)
    data = b"".join(replicas.read(ORDERS, offset, 1) for offset in range(end))
    assert data == b"".join(path.read_bytes() for path in sorted((place / "orders-0").glob("*.log")))
    assert await cluster.produce(ORDERS, "more") == end
    assert [path.parent for path in cluster.folder.glob("1/*/orders-0")] == [place]
    cluster.ahead_ms += 100_000
    await eventually_async(lambda: not [*cluster.folder.glob("1/*/orders-0.*")])


async def test_all_records_move_while_more_are_written(cluster: Cluster) -> None:
    before = log_dirs(cluster).logs[ORDERS].dir.path
    async with halfway(cluster) as place:
        future = log_dirs(cluster).futures[ORDERS].log
        assert future.folder.parent == place and future.folder.name.endswith("-future")
        size = len((before / "orders-0" / f"{0:020d}.log").read_bytes())
        told = await described(cluster)
        assert told[str(before)] == [(False, 0, size)]
        assert told[str(place)] == [(True, 10 - future.end_offset, future.size_bytes)]
        await cluster.produce(ORDERS, "eleven")
    allow(cluster, 2**63 - 1)
    await arrived(cluster, place, 11)
    assert (await described(cluster))[str(before)] == []


async def test_the_throttle_lets_through_what_the_rate_allows(cluster: Cluster) -> None:
    async with halfway(cluster) as place:
        future, dirs, began_s = log_dirs(cluster).futures[ORDERS].log, log_dirs(cluster), time.monotonic()
        allow(cluster, 100)
        while (reached := future.end_offset) < 10:
            assert (reached - 1) * len(PIECE) <= 100 * (time.monotonic() - began_s + cluster.ahead_ms / 1000 + 1)
            cluster.ahead_ms += 11_000  # all is forgotten
            await eventually_async(lambda reached=reached: ORDERS not in dirs.futures or future.end_offset > reached)
    await arrived(cluster, place)


async def test_what_is_refused(cluster: Cluster) -> None:
    place = elsewhere(cluster)
    for version in (0, 1, 2):
        assert await order(cluster, "/no/such/dir", version=version) == "log_dir_not_found"
        assert await order(cluster, place, "unknown", version) == "unknown_topic_or_partition"
    assert await order(cluster, place, "t" * 249) == "invalid_topic_exception"
    assert await order(cluster, log_dirs(cluster).logs[ORDERS].dir.path) == "none"
    await cluster.create("others", (2,))
    assert await order(cluster, place, "others") == "replica_not_available"
    assert not log_dirs(cluster).futures
    log_dirs(cluster).fail(place, "broken")
    assert await order(cluster, place) == "kafka_storage_error"


async def test_a_replica_that_is_not_here_yet_is_made_where_it_was_ordered(cluster: Cluster) -> None:
    for number, place in enumerate([*log_dirs(cluster).paths] * 2):
        name = TopicPartition(f"new{number}", 0)
        assert await order(cluster, place, name.topic) == "unknown_topic_or_partition"
        await cluster.create(name.topic, (1,))
        assert log_dirs(cluster).logs[name].dir.path == place


async def test_a_move_that_is_called_back_leaves_nothing(cluster: Cluster) -> None:
    home = log_dirs(cluster).logs[ORDERS].dir.path
    async with halfway(cluster):
        assert await order(cluster, home) == "none"
    allow(cluster, 2**63 - 1)
    await arrived(cluster, home)


async def test_a_move_goes_on_after_a_kill_and_after_a_stop(cluster: Cluster) -> None:
    async with halfway(cluster) as place:
        await cluster.kill(1)
        await cluster.start(1, log_dirs=2, recover=True)
        assert ORDERS in log_dirs(cluster).futures
        allow(cluster, 0)
        await cluster.tell_leaders()
        await cluster.stop(1)
        await cluster.start(1, log_dirs=2)
        await cluster.tell_leaders()
    await arrived(cluster, place)


async def test_who_was_killed_between_the_two_renames_says_which_folders_there_are(cluster: Cluster) -> None:
    """As Kafka does: which of the two is whole, somebody has to say."""
    async with halfway(cluster) as place:
        await cluster.kill(1)
        (future,) = place.glob("orders-0.*-future")
        future.rename(place / "orders-0")
    with pytest.raises(DamagedFileError, match=r"orders-0: .*orders-0 is the same partition's: delete the one"):
        await cluster.start(1, log_dirs=2, recover=True)


async def test_a_deleted_topic_takes_its_future_log_along(cluster: Cluster) -> None:
    async with halfway(cluster):
        await cluster.delete("orders")
    assert not log_dirs(cluster).futures
    assert len([*cluster.folder.glob("1/*/orders-0.*-delete")]) == 2


async def test_a_log_dir_that_fails_ends_the_move_and_not_the_partition(cluster: Cluster) -> None:
    async with halfway(cluster) as place:
        segment = log_dirs(cluster).futures[ORDERS].log.segments.active
        segment.close()
        segment.path(".log").unlink()
        allow(cluster, 2**63 - 1)
        await eventually_async(lambda: place in log_dirs(cluster).failed)
    assert not log_dirs(cluster).futures
    await cluster.produce(ORDERS, "more")


async def test_what_a_follower_gives_up_is_given_up_there_too(cluster: Cluster) -> None:
    async with halfway(cluster) as place:
        future = log_dirs(cluster).futures[ORDERS].log
        while (reached := future.end_offset) < 6:
            cluster.ahead_ms += 11_000
            await eventually_async(lambda reached=reached: future.end_offset > reached)
        log_dirs(cluster).logs[ORDERS].log.truncate_to(4, now_ms=0)
        cluster.nodes[1].replicas.held.log_was_cut(ORDERS)
        await cluster.elect(ORDERS, 1)
        await cluster.produce(ORDERS, "other")
    allow(cluster, 2**63 - 1)
    await arrived(cluster, place, 5)
