"""Clients that nobody here wrote, against brokers of ours: librdkafka and kafka-python."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import confluent_kafka
import kafka
import pytest
from kafka.structs import TopicPartition as PythonTopicPartition

from model.cluster.ids import TopicPartition
from tests.harness.live_brokers import PATIENCE_S, Cluster

ORDERS = TopicPartition("orders", 0)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(tmp_path)
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2), (2, 1))
    yield cluster
    await cluster.close()


def produce(bootstrap: str, values: list[str], **config: object) -> list[int]:
    """Offsets that librdkafka was told, for partition 0."""
    offsets: list[int] = []

    def told(error: object, message: confluent_kafka.Message) -> None:
        assert error is None, error
        offsets.append(message.offset() or 0)

    producer = confluent_kafka.Producer({"log_level": 0, "bootstrap.servers": bootstrap, **config})
    for value in values:
        producer.produce("orders", value, partition=0, on_delivery=told)
    assert producer.flush(PATIENCE_S) == 0
    return offsets


def consume(bootstrap: str, count: int, offset: int = 0, **config: object) -> list[str]:
    """So many records of partition 0, by librdkafka."""
    consumer = confluent_kafka.Consumer(
        {"log_level": 0, "bootstrap.servers": bootstrap, "group.id": "g", "enable.auto.commit": False, **config}
    )
    consumer.assign([confluent_kafka.TopicPartition("orders", 0, offset)])
    values: list[str] = []
    while len(values) < count:
        message = consumer.poll(PATIENCE_S)
        assert message is not None, values
        assert message.error() is None, message.error()
        values.append((message.value() or b"").decode())
    consumer.close()
    return values


@pytest.mark.parametrize("codec", CODECS)
async def test_librdkafka_reads_what_it_wrote(cluster: Cluster, codec: str) -> None:
    values = [f"value {number}" for number in range(1000)]
    config = {"compression.type": codec, "enable.idempotence": codec in ("none", "zstd"), "linger.ms": 5}
    offsets = await asyncio.to_thread(produce, cluster.bootstrap, values, **config)
    assert offsets == list(range(1000))
    assert await asyncio.to_thread(consume, cluster.bootstrap, 1000) == values
    committed = await asyncio.to_thread(consume, cluster.bootstrap, 10, 990, **{"isolation.level": "read_committed"})
    assert committed == values[990:]
    assert cluster.nodes[1].log_bytes(ORDERS) == cluster.nodes[2].log_bytes(ORDERS)


@pytest.mark.parametrize("acks", ["0", "1", "all"])
async def test_librdkafka_with_all_acks(cluster: Cluster, acks: str) -> None:
    await asyncio.to_thread(produce, cluster.bootstrap, ["a", "b"], acks=acks)
    assert await asyncio.to_thread(consume, cluster.bootstrap, 2) == ["a", "b"]


async def test_librdkafka_goes_on_with_another_leader(cluster: Cluster) -> None:
    producing = asyncio.create_task(
        asyncio.to_thread(
            produce,
            cluster.bootstrap,
            [str(number) for number in range(200)],
            **{"batch.num.messages": 1, "enable.idempotence": True},
        )
    )
    for leader in (2, 1, 2):
        await cluster.elect(ORDERS, leader)
        await asyncio.sleep(0)
    await producing
    values = await asyncio.to_thread(consume, cluster.bootstrap, 200)
    assert values == [str(number) for number in range(200)]


def python_round_trip(bootstrap: str) -> tuple[list[int], list[bytes], dict[str, int]]:
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    futures = [producer.send("orders", b"value %d" % number, partition=0) for number in range(100)]
    offsets = [future.get(PATIENCE_S).offset for future in futures]
    producer.close()
    consumer = kafka.KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    partition = PythonTopicPartition("orders", 0)
    consumer.assign([partition])
    values: list[bytes] = []
    while len(values) < 100:
        for records in consumer.poll(1000).values():
            values += [record.value for record in records]
    bounds = {
        "first": consumer.beginning_offsets([partition])[partition],
        "end": consumer.end_offsets([partition])[partition],
        "by time": getattr(consumer.offsets_for_times({partition: 0})[partition], "offset", -1),
    }
    consumer.close()
    return offsets, values, bounds


async def test_kafka_python_reads_what_it_wrote(cluster: Cluster) -> None:
    offsets, values, bounds = await asyncio.to_thread(python_round_trip, cluster.bootstrap)
    assert offsets == list(range(100))
    assert values == [b"value %d" % number for number in range(100)]
    assert bounds == {"first": 0, "end": 100, "by time": 0}
