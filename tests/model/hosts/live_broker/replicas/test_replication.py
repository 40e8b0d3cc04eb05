"""Brokers that replicate from each other over real sockets."""

from __future__ import annotations

import asyncio

from model.cluster.ids import TopicPartition
from tests.harness.live_brokers import SOON_LAGGING, Cluster
from tests.harness.waiting import eventually_async

ORDERS = TopicPartition("orders", 0)


async def test_what_is_acknowledged_by_all_is_on_all(cluster: Cluster) -> None:
    await cluster.start(1, 2, 3)
    await cluster.create("orders", (1, 2, 3))
    assert await cluster.produce(ORDERS, "a", "b") == 0
    assert await cluster.produce(ORDERS, "c") == 2
    (log,) = {node.log_bytes(ORDERS) for node in cluster.nodes.values()}
    assert log
    leader = cluster.nodes[1]
    assert leader.replicas.high_watermark(ORDERS) == 3
    await eventually_async(lambda: all(node.replicas.high_watermark(ORDERS) == 3 for node in cluster.nodes.values()))


async def test_a_new_leader_goes_on_where_the_old_one_was(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    await cluster.produce(ORDERS, "a")
    await cluster.elect(ORDERS, 2)
    assert await cluster.produce(ORDERS, "b") == 1
    await cluster.elect(ORDERS, 1)
    assert await cluster.produce(ORDERS, "c") == 2
    assert cluster.nodes[1].log_bytes(ORDERS) == cluster.nodes[2].log_bytes(ORDERS)
    history = cluster.nodes[2].folder / str(ORDERS) / "leader-epoch-checkpoint"
    assert history.read_text() == "0\n3\n0 0\n1 1\n2 2\n"


async def test_a_follower_that_stops_leaves_the_isr_and_joins_when_it_is_back(cluster: Cluster) -> None:
    cluster.settings = SOON_LAGGING
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    await cluster.produce(ORDERS, "a")
    await cluster.kill(2)
    appended = asyncio.create_task(cluster.produce(ORDERS, "b"))
    await eventually_async(lambda: cluster.nodes[1].replicas.end_offset(ORDERS) == 2)
    cluster.time_passes()
    await eventually_async(lambda: cluster.states[ORDERS].isr == (1,))
    assert await appended == 1  # once the follower is out, nobody is waited for
    await cluster.start(2, recover=True)
    await cluster.tell_leaders(ORDERS)
    await eventually_async(lambda: cluster.states[ORDERS].isr == (1, 2))
    assert cluster.nodes[1].log_bytes(ORDERS) == cluster.nodes[2].log_bytes(ORDERS)


async def test_what_only_the_old_leader_has_is_cut_off(cluster: Cluster) -> None:
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    await cluster.produce(ORDERS, "a")
    await cluster.elect(ORDERS, 1, (1,))  # so that it follows nobody meanwhile
    await cluster.kill(2)
    await cluster.produce(ORDERS, "only here", acks=1)
    await cluster.start(2, recover=True)
    await cluster.elect(ORDERS, 2, (2,))
    assert await cluster.produce(ORDERS, "instead") == 1
    await eventually_async(lambda: cluster.states[ORDERS].isr == (2, 1))
    assert cluster.nodes[1].log_bytes(ORDERS) == cluster.nodes[2].log_bytes(ORDERS)
    assert cluster.nodes[1].replicas.end_offset(ORDERS) == 2
