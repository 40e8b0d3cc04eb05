"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords and DescribeLogDirs over the wire."""

from __future__ import annotations

from datetime import timedelta

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.wire.messages import Entity, shaped, shapes
from tests.harness.live_brokers import Cluster, batch
from tests.harness.waiting import eventually_async
from tests.model.hosts.live_broker.data_apis.asking import connected

ORDERS = TopicPartition("orders", 0)
LIST_OFFSETS = 2
DELETE_RECORDS = 21
OFFSET_FOR_LEADER_EPOCH = 23
DESCRIBE_LOG_DIRS = 35
NOON_MS = 1_700_000_000_000


async def list_offset(cluster: Cluster, timestamp: int, version: int = 9, replica: int = -1) -> Entity:
    module = shapes(LIST_OFFSETS, version, "request")
    partition = shaped(module.ListOffsetsPartition, partition_index=0, current_leader_epoch=-1, timestamp=timestamp)
    topic = module.ListOffsetsTopic(name="orders", partitions=(partition,))
    request = shaped(module.ListOffsetsRequest, replica_id=replica, isolation_level=0, topics=(topic,))
    async with connected(cluster, 1) as connection:
        return (await connection.ask(request)).topics[0].partitions[0]


@pytest.fixture
async def cluster(cluster: Cluster) -> Cluster:
    """Three records, a minute apart, the second one the youngest."""
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    for minutes in (0, 2, 1):
        data = batch("a", time_ms=NOON_MS + minutes * 60_000)
        done = await cluster.nodes[1].replicas.append({ORDERS: data}, acks=-1, timeout_ms=30_000)
        assert done[ORDERS].error == "NONE"
    return cluster


async def test_offsets_by_time(cluster: Cluster) -> None:
    for version in range(1, 10):
        for timestamp, offset in ((-1, 3), (-2, 0), (NOON_MS + 1, 1), (NOON_MS + 999_999, -1)):
            found = await list_offset(cluster, timestamp, version)
            assert (found.error_code, found.offset) == (ErrorCode.none, offset), (version, timestamp)


async def test_offsets_as_version_0_wants_them(cluster: Cluster) -> None:
    module = shapes(LIST_OFFSETS, 0, "request")

    async def ask(timestamp: int, most: int, replica: int = -1, broker: int = 1) -> tuple[str, tuple[int, ...]]:
        partition = module.ListOffsetsPartition(partition_index=0, timestamp=timestamp, max_num_offsets=most)
        topic = module.ListOffsetsTopic(name="orders", partitions=(partition,))
        async with connected(cluster, broker) as connection:
            answer = await connection.ask(module.ListOffsetsRequest(replica_id=replica, topics=(topic,)))
        (found,) = answer.topics[0].partitions
        return found.error_code.name, found.old_style_offsets

    assert await ask(-1, 1) == ("none", (3,))
    assert await ask(-1, 9) == ("none", (3, 0))
    assert await ask(-2, 9) == ("none", (0,))
    assert await ask(1, 9) == ("none", ())
    assert await ask(-3, 9) == ("unsupported_version", ())
    assert await ask(-1, 1, broker=2) == ("not_leader_or_follower", ())
    assert await ask(-1, 1, replica=-2, broker=2) == ("none", (3,))


async def test_a_partition_that_is_named_twice_is_a_mistake_since_v1(cluster: Cluster) -> None:
    for version, error in ((0, ErrorCode.none), (1, ErrorCode.invalid_request)):
        module = shapes(LIST_OFFSETS, version, "request")
        part = shaped(module.ListOffsetsPartition, partition_index=0, timestamp=-1, max_num_offsets=1)
        topic = module.ListOffsetsTopic(name="orders", partitions=(part, part))
        async with connected(cluster, 1) as connection:
            answer = await connection.ask(module.ListOffsetsRequest(replica_id=-1, topics=(topic,)))
        assert [each.error_code for each in answer.topics[0].partitions] == [error, error]


async def test_the_youngest_record_is_found(cluster: Cluster) -> None:
    found = await list_offset(cluster, -3)
    assert (found.offset, found.timestamp, found.leader_epoch) == (1, NOON_MS + 120_000, 0)


async def test_where_an_epoch_ends(cluster: Cluster) -> None:
    await cluster.elect(ORDERS, 1)
    await cluster.produce(ORDERS, "b")
    for version in range(5):
        module = shapes(OFFSET_FOR_LEADER_EPOCH, version, "request")
        partition = shaped(module.OffsetForLeaderPartition, partition=0, current_leader_epoch=1, leader_epoch=0)
        topic = module.OffsetForLeaderTopic(topic="orders", partitions=(partition,))
        request = shaped(module.OffsetForLeaderEpochRequest, replica_id=-1, topics=(topic,))
        async with connected(cluster, 1) as connection:
            (found,) = (await connection.ask(request)).topics[0].partitions
        assert (found.error_code, found.end_offset) == (ErrorCode.none, 3), version


async def delete(cluster: Cluster, offset: int, version: int = 2) -> Entity:
    module = shapes(DELETE_RECORDS, version, "request")
    topic = module.DeleteRecordsTopic(
        name="orders", partitions=(module.DeleteRecordsPartition(partition_index=0, offset=offset),)
    )
    request = module.DeleteRecordsRequest(topics=(topic,), timeout=timedelta(seconds=60))
    async with connected(cluster, 1) as connection:
        return (await connection.ask(request)).topics[0].partitions[0]


async def test_records_are_deleted_on_all_replicas(cluster: Cluster) -> None:
    deleted = await delete(cluster, 2)
    assert (deleted.error_code, deleted.low_watermark) == (ErrorCode.none, 2)
    await eventually_async(lambda: cluster.nodes[2].replicas.start_offset(ORDERS) == 2)
    assert (await list_offset(cluster, -2)).offset == 2
    assert (await delete(cluster, 99)).error_code is ErrorCode.offset_out_of_range
    assert (await delete(cluster, -1)).low_watermark == 3


async def test_log_dirs_are_told_with_their_sizes(cluster: Cluster) -> None:
    for version in range(5):
        module = shapes(DESCRIBE_LOG_DIRS, version, "request")
        async with connected(cluster, 1) as connection:
            (found,) = (await connection.ask(module.DescribeLogDirsRequest(topics=None))).results
        assert found.log_dir == str(cluster.nodes[1].folder)
        (topic,) = found.topics
        (partition,) = topic.partitions
        assert (topic.name, partition.partition_size) == ("orders", len(cluster.nodes[1].log_bytes(ORDERS)))
        assert (partition.offset_lag, partition.is_future_key) == (0, False)


async def test_records_without_times_are_not_found_by_time(cluster: Cluster) -> None:
    old = {"inter.broker.protocol.version": "2.8", "log.message.format.version": "0.9.0"}
    await cluster.stop(1)
    cluster.settings = old
    await cluster.start(1)
    await cluster.create("orders", (1,))
    error = ErrorCode.unsupported_for_message_format
    assert [(await list_offset(cluster, each)).error_code for each in (NOON_MS, -1, -2)] == [
        error,
        *[ErrorCode.none] * 2,
    ]
