"""Which produces are appended and acknowledged, and what the others are told."""

from __future__ import annotations

import asyncio

import pytest

from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.log.producers import Origin
from model.log.records import Producer, Record, encode_batch
from tests.harness.live_brokers import SOON_LAGGING, Cluster, batch
from tests.harness.waiting import eventually_async

ORDERS = TopicPartition("orders", 0)


async def append(cluster: Cluster, data: bytes, *, acks: int = -1, timeout_ms: int = 30_000) -> ProduceOutcome:
    leader = cluster.leader(ORDERS).replicas
    return (await leader.append({ORDERS: data}, acks=acks, timeout_ms=timeout_ms))[ORDERS]


def numbered(sequence: int, *values: str, epoch: int = 0) -> bytes:
    """A batch of an idempotent producer."""
    records = [Record(number, 1_700_000_000_000, None, value.encode()) for number, value in enumerate(values)]
    return bytes(encode_batch(records, producer=Producer(7, epoch, sequence)))


async def test_a_batch_that_comes_again_is_written_once(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    first = await append(cluster, numbered(0, "a", "b"))
    again = await append(cluster, numbered(0, "a", "b"))
    assert (first.error, first.base_offset) == (again.error, again.base_offset) == ("NONE", 0)
    assert (await append(cluster, numbered(2, "c"))).base_offset == 2
    assert cluster.nodes[1].replicas.end_offset(ORDERS) == 3
    assert (await append(cluster, numbered(9, "d"))).error == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert (await append(cluster, numbered(0, "e", epoch=1))).error == "NONE"
    assert (await append(cluster, numbered(3, "late"))).error == "INVALID_PRODUCER_EPOCH"


async def test_a_new_leader_knows_the_producers_of_the_old_one(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    await append(cluster, numbered(0, "a"))
    await cluster.elect(ORDERS, 2)
    assert (await append(cluster, numbered(0, "a"))).base_offset == 0
    assert cluster.nodes[2].replicas.end_offset(ORDERS) == 1


async def test_too_few_in_sync_replicas_refuse_acks_all_only(cluster: Cluster) -> None:
    cluster.settings = SOON_LAGGING
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    cluster.nodes[1].replicas.apply_topic_config("orders", {"min.insync.replicas": "2"})
    assert (await append(cluster, batch("a"))).error == "NONE"
    await cluster.kill(2)
    waiting = asyncio.create_task(append(cluster, batch("b")))
    await eventually_async(lambda: cluster.nodes[1].replicas.end_offset(ORDERS) == 2)
    cluster.time_passes()
    await eventually_async(lambda: cluster.nodes[1].partition(ORDERS).state.isr == (1,))
    assert (await append(cluster, batch("c"))).error == "NOT_ENOUGH_REPLICAS"
    assert (await append(cluster, batch("d"), acks=1)).error == "NONE"
    waiting.cancel()
    # The high watermark stands still while there are too few (3.7).
    assert cluster.nodes[1].replicas.high_watermark(ORDERS) == 1


async def test_a_follower_that_is_silent_makes_a_produce_time_out(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    await append(cluster, batch("a"))
    await cluster.kill(2)
    assert (await append(cluster, batch("b"), timeout_ms=50)).error == "REQUEST_TIMED_OUT"


async def test_a_leader_that_is_overthrown_tells_those_who_wait(cluster: Cluster) -> None:
    await cluster.start(1, 2, 3)
    await cluster.create("orders", (1, 2, 3))
    await append(cluster, batch("a"))
    await cluster.kill(3)
    old = cluster.nodes[1].replicas
    waiting = asyncio.create_task(old.append({ORDERS: batch("b")}, acks=-1, timeout_ms=60_000))
    await eventually_async(lambda: old.end_offset(ORDERS) == 2)
    await cluster.elect(ORDERS, 2)
    assert (await waiting)[ORDERS].error == "NOT_LEADER_OR_FOLLOWER"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (TopicPartition("orders", 1), "NOT_LEADER_OR_FOLLOWER"),
        (TopicPartition("nothing", 0), "UNKNOWN_TOPIC_OR_PARTITION"),
        (TopicPartition("__consumer_offsets", 0), "INVALID_TOPIC_EXCEPTION"),
    ],
)
async def test_what_is_not_led_here_is_refused(cluster: Cluster, name: TopicPartition, error: str) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2), (2, 1))
    await cluster.create("__consumer_offsets", (1,))
    done = await cluster.nodes[1].replicas.append({name: batch("a")}, acks=1, timeout_ms=1000)
    assert done[name].error == error


async def test_a_coordinator_may_write_to_internal_topics(cluster: Cluster) -> None:
    await cluster.start(1)
    (name,) = await cluster.create("__consumer_offsets", (1,))
    replicas = cluster.nodes[1].replicas
    done = await replicas.append(
        {name: batch("a", key=b"k")}, acks=-1, timeout_ms=1000, origin=Origin.COORDINATOR, internal=True
    )
    assert done[name].error == "NONE"
    assert len(replicas.read(name, 0, 1 << 20)) > 0
    with pytest.raises(LookupError):
        replicas.read(name, 5, 1 << 20)


async def test_what_a_topic_does_not_take_is_refused(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    replicas = cluster.nodes[1].replicas
    replicas.apply_topic_config("orders", {"max.message.bytes": "200"})
    assert (await append(cluster, batch("x" * 300))).error == "MESSAGE_TOO_LARGE"
    replicas.apply_topic_config("orders", {"cleanup.policy": "compact"})
    assert (await append(cluster, batch("x"))).error == "INVALID_RECORD"
    damaged = bytearray(batch("x"))
    damaged[-1] ^= 1
    assert (await append(cluster, bytes(damaged))).error == "CORRUPT_MESSAGE"
    assert replicas.end_offset(ORDERS) == 0
