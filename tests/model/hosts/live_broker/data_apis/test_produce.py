"""Produce over the wire, in every version."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import UnavailableError
from model.log.records import Codec, Record, encode_batch, encode_message_set
from tests.harness.live_brokers import Cluster, batch
from tests.model.hosts.live_broker.data_apis.asking import connected
from tests.model.log.records.contents import sound

ORDERS = TopicPartition("orders", 0)
PRODUCE = 0


def produce_request(version: int, data: bytes, acks: int = -1, partition: int = 0) -> Entity:
    module: Any = shapes(PRODUCE, version, "request")
    part = module.PartitionProduceData(index=partition, records=data)
    topic = module.TopicProduceData(name="orders", partition_data=(part,))
    return shaped(
        module.ProduceRequest,
        transactional_id=None,
        acks=acks,
        timeout=timedelta(seconds=30),
        topic_data=(topic,),
    )


def old_format(magic: int) -> bytes:
    return bytes(encode_message_set([Record(0, 5 if magic else -1, None, b"old")], magic, Codec.NONE, None))


@pytest.fixture
async def cluster(cluster: Cluster) -> Cluster:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    return cluster


async def test_every_version_writes_records_of_its_formats(cluster: Cluster) -> None:
    async with connected(cluster, 1) as connection:
        for version in range(12):
            data = old_format(min(version, 1)) if version < 3 else batch("new")
            response = await connection.ask(produce_request(version, data))
            found = response.responses[0].partition_responses[0]
            assert (found.error_code, found.base_offset) == (ErrorCode.none, version)


async def test_formats_that_a_version_does_not_know_are_refused(cluster: Cluster) -> None:
    zstd = bytes(encode_batch([Record(0, 5, None, b"x")], codec=Codec.ZSTD))
    cases = [
        (2, batch("new"), ErrorCode.none, 0),
        (3, old_format(1), ErrorCode.invalid_record, -1),
        (3, b"", ErrorCode.invalid_record, -1),
        (3, batch("cut off")[:-1], ErrorCode.invalid_record, -1),
        (3, batch("one") + batch("two"), ErrorCode.invalid_record, -1),
        (3, batch("wrong")[:-1] + b"x", ErrorCode.corrupt_message, -1),
        (6, zstd, ErrorCode.unsupported_compression_type, -1),
        (7, zstd, ErrorCode.none, 1),
        (2, b"", ErrorCode.none, -1),
        (2, old_format(1)[:-1], ErrorCode.none, -1),
        (2, old_format(1)[:-1] + b"x", ErrorCode.corrupt_message, -1),
        (1, old_format(0) + old_format(0)[:20], ErrorCode.none, 2),
    ]
    async with connected(cluster, 1) as connection:
        for version, data, error, offset in cases:
            response = await connection.ask(produce_request(version, data))
            found = response.responses[0].partition_responses[0]
            assert (found.error_code, found.base_offset) == (error, offset), (version, data)
    assert cluster.nodes[1].replicas.end_offset(ORDERS) == 3
    assert {each.magic for each in sound(cluster.nodes[1].log_bytes(ORDERS))} == {2}


async def test_append_time_is_told(cluster: Cluster) -> None:
    cluster.nodes[1].replicas.apply_topic_config("orders", {"message.timestamp.type": "LogAppendTime"})
    async with connected(cluster, 1) as connection:
        response = await connection.ask(produce_request(9, batch("a", time_ms=5)))
    found = response.responses[0].partition_responses[0]
    assert found.log_append_time.timestamp() > 1_700_000_000


async def test_a_client_that_wants_no_answer_loses_its_connection_when_refused(cluster: Cluster) -> None:
    async with connected(cluster, 1) as connection:
        with pytest.raises(UnavailableError):
            await connection.ask(produce_request(9, batch("a"), acks=0, partition=3), timeout_s=30)
        assert not connection.is_open
