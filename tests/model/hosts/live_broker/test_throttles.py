"""Replication throttles and client quotas on brokers that serve: what goes over real sockets, and when."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.broker.settings.keys import FOLLOWER_THROTTLED_RATE, LEADER_THROTTLED_RATE, NUM_REPLICA_FETCHERS, Key
from model.cluster.ids import TopicPartition
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity
from tests.harness.live_brokers import QUICK, Cluster, Node, batch
from tests.harness.waiting import eventually_async
from tests.model.hosts.live_broker.data_apis.asking import connected, fetch_request, partitions_of
from tests.model.hosts.live_broker.data_apis.test_produce import produce_request

ORDERS, OTHERS = TopicPartition("orders", 0), TopicPartition("others", 0)
PIECE = "x" * 1000
SIDES = [
    pytest.param(1, "leader", LEADER_THROTTLED_RATE, id="leader"),
    pytest.param(2, "follower", FOLLOWER_THROTTLED_RATE, id="follower"),
]


def throttle(node: Node, side: str, rate: Key[int], bound: int, *topics: str) -> None:
    for topic in topics:
        node.replicas.apply_topic_config(topic, {f"{side}.replication.throttled.replicas": f"0:{node.id}"})
    node.replicas.apply_broker_settings(node.replicas.settings.with_values({rate.name: bound}))


def held(node: Node, name: TopicPartition) -> int:
    return node.replicas.end_offset(name)


@pytest.mark.parametrize(("broker", "side", "rate"), SIDES)
async def test_a_follower_out_of_sync_gets_what_the_throttle_lets_through(
    cluster: Cluster, broker: int, side: str, rate: Key[int]
) -> None:
    """A batch at a time, and the next when the rate allows it; other partitions are not touched."""
    cluster.settings = {**QUICK, "replica.fetch.max.bytes": "1"}
    await cluster.start(1)
    for topic in ("orders", "others"):
        await cluster.create(topic, (1, 2))
        await cluster.elect(TopicPartition(topic, 0), 1, isr=(1,))
        for _ in range(5):
            await cluster.produce(TopicPartition(topic, 0), PIECE)
    if broker == 1:
        throttle(cluster.nodes[1], side, rate, 100, "orders")
    await cluster.start(2)
    follower = cluster.nodes[2]
    if broker == 2:
        throttle(follower, side, rate, 100, "orders")
    await cluster.tell_leaders()
    began_s = time.monotonic()
    await eventually_async(lambda: held(follower, OTHERS) == 5 and held(follower, ORDERS) >= 1)
    assert (held(follower, ORDERS) - 1) * 1000 <= 100 * (time.monotonic() - began_s + 1)
    for sent in range(2, 6):
        cluster.ahead_ms += 11_000  # all is forgotten
        await eventually_async(lambda sent=sent: held(follower, ORDERS) >= sent)
    await eventually_async(lambda: 2 in cluster.states[ORDERS].isr)


@pytest.mark.parametrize(("broker", "side", "rate"), SIDES)
async def test_a_follower_in_sync_is_not_held_back(cluster: Cluster, broker: int, side: str, rate: Key[int]) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    throttle(cluster.nodes[broker], side, rate, 0, "orders")
    for _ in range(5):
        await cluster.produce(ORDERS, PIECE, timeout_ms=60_000)
    assert held(cluster.nodes[2], ORDERS) == 5


async def test_a_throttle_that_is_taken_off_holds_nothing_back(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.create("orders", (1, 2))
    await cluster.elect(ORDERS, 1, isr=(1,))
    throttle(cluster.nodes[1], "leader", LEADER_THROTTLED_RATE, 0, "orders")
    cluster.nodes[1].replicas.held.sending.record(1)
    await cluster.produce(ORDERS, PIECE)
    await cluster.start(2)
    await cluster.tell_leaders()
    await asyncio.sleep(0.5)
    assert held(cluster.nodes[2], ORDERS) == 0
    cluster.nodes[1].replicas.apply_topic_config("orders", {})
    await eventually_async(lambda: held(cluster.nodes[2], ORDERS) == 1)


@pytest.fixture
async def one(cluster: Cluster) -> Node:
    await cluster.start(1)
    await cluster.create("orders", (1,))
    return cluster.nodes[1]


def wait_ms(response: Entity) -> int:
    return response.throttle_time // timedelta(milliseconds=1)


async def test_a_producer_waits_as_its_quota_says(one: Node, cluster: Cluster) -> None:
    """Ten windows of 1000 bytes, and half a second's worth beyond: told, and not read from for that time."""
    one.quotas.learn("clients/test", {"producer_byte_rate": "1000"})
    async with connected(cluster, 1) as connection:
        small = batch("x")
        first: Any = await connection.ask(produce_request(9, small))
        assert wait_ms(first) == 0
        data = batch("y" * (10_500 - 2 * len(small)))
        began_s = time.monotonic()
        second: Any = await connection.ask(produce_request(9, data))
        assert second.responses[0].partition_responses[0].error_code is ErrorCode.none
        assert 0 < wait_ms(second) < 1000
        await connection.ask(produce_request(9, small))
        assert time.monotonic() - began_s >= wait_ms(second) / 1000
    assert held(one, ORDERS) == 3


async def test_a_quota_of_nothing_is_a_wait_of_weeks(one: Node, cluster: Cluster) -> None:
    one.quotas.learn("clients/test", {"producer_byte_rate": "0"})
    async with connected(cluster, 1) as connection:
        response: Any = await connection.ask(produce_request(9, batch("x")))
        assert wait_ms(response) == 2**31 - 1


async def test_other_clients_are_not_slowed_down(one: Node, cluster: Cluster) -> None:
    one.quotas.learn("clients/other", {"producer_byte_rate": "1"})
    one.quotas.learn("users/other", {"producer_byte_rate": "1"})
    async with connected(cluster, 1) as connection:
        response: Any = await connection.ask(produce_request(9, batch(PIECE)))
        assert wait_ms(response) == 0
        one.quotas.learn("users/ANONYMOUS/clients/<default>", {"producer_byte_rate": "1000000"})
        one.quotas.learn("users/ANONYMOUS", {"producer_byte_rate": "1"})  # the other one is the first that is looked at
        response = await connection.ask(produce_request(9, batch(PIECE)))
        assert wait_ms(response) == 0


async def test_a_consumer_gets_an_empty_answer_and_then_all_records(one: Node, cluster: Cluster) -> None:
    """Within a session and without; nothing is lost, and an empty answer is no part of what was fetched."""
    for _ in range(12):
        await cluster.produce(ORDERS, PIECE)
    one.quotas.learn("users/ANONYMOUS", {"consumer_byte_rate": "1000"})
    async with connected(cluster, 1) as connection:
        first = await fetched(connection, cluster, 0)
        assert 8000 < len(first) <= 10_000  # what ten windows hold, in whole batches
        began_s = time.monotonic()
        wish = fetch_request(cluster, ("orders", 0, 0), session=(0, 0), partition_max_bytes=1)
        second: Any = await connection.ask(wish)
        assert not second.responses and wait_ms(second) > 0
        cluster.ahead_ms += 12_000
        # The connection is not read from for as long as the client was told.
        third: Any = await connection.ask(fetch_request(cluster, session=(second.session_id, 1)))
        assert time.monotonic() - began_s >= wait_ms(second) / 1000
        assert [each.records for each in partitions_of(third)] == [first[: len(batch(PIECE))]]


async def fetched(connection: Connection, cluster: Cluster, offset: int) -> bytes:
    response: Any = await connection.ask(fetch_request(cluster, ("orders", 0, offset)))
    assert wait_ms(response) == 0
    return b"".join(each.records for each in partitions_of(response))


async def test_followers_have_no_quota(one: Node, cluster: Cluster) -> None:
    one.quotas.learn("clients/<default>", {"consumer_byte_rate": "1", "request_percentage": "0.0001"})
    await cluster.create("others", (1, 2))
    for _ in range(3):
        await cluster.produce(OTHERS, PIECE, acks=1)
    async with connected(cluster, 1) as connection:
        response: Any = await connection.ask(fetch_request(cluster, ("others", 0, 0), replica=2))
        assert wait_ms(response) == 0
        assert sum(len(each.records) for each in partitions_of(response)) > 3000


async def test_who_takes_more_of_the_brokers_time_than_it_may_waits_a_window_at_most(
    one: Node, cluster: Cluster
) -> None:
    one.quotas.learn("clients/test", {"request_percentage": "0.001"})
    async with connected(cluster, 1) as connection:
        response: Any = await connection.ask(produce_request(9, batch("x")))
        assert 0 < wait_ms(response) <= 1000
        one.quotas.learn("clients/test", {})
        response = await connection.ask(produce_request(9, batch("x")))
        assert wait_ms(response) == 0


async def test_more_fetchers_while_it_runs_go_on_where_the_one_was(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    names = await cluster.create("orders", *[(1, 2)] * 8)
    for name in names:
        await cluster.produce(name, "a")
    for number in (3, 1):
        follower = cluster.nodes[2].replicas
        follower.apply_broker_settings(follower.settings.with_values({NUM_REPLICA_FETCHERS.name: number}))
        for name in names:
            await cluster.produce(name, PIECE)
    assert [held(cluster.nodes[2], name) for name in names] == [3] * 8
