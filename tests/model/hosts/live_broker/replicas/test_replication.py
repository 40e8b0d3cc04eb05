"""Brokers that replicate from each other over real sockets."""

from __future__ import annotations

import asyncio
import itertools

from model.cluster.ids import TopicPartition
from tests.harness.live_brokers import SOON_LAGGING, Cluster, Node
from tests.harness.waiting import eventually_async
from tests.model.hosts.live_broker.data_apis.asking import connected, fetch_request

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


async def test_a_follower_that_catches_up_while_it_is_being_dropped_comes_back(cluster: Cluster) -> None:
    """Though nothing is written any more, and its session has no news of the partition."""
    cluster.settings = {**SOON_LAGGING, "inter.broker.protocol.version": "2.8"}  # later ones want broker 2 to be live
    await cluster.start(1)
    await cluster.create("orders", (1, 2))
    await cluster.produce(ORDERS, "a", acks=1)
    leader = cluster.nodes[1]
    async with connected(cluster, 1) as follower:
        cluster.answers_isr.clear()
        begun = await follower.ask(fetch_request(cluster, ("orders", 0, 0), version=12, replica=2, session=(0, 0)))
        cluster.time_passes()
        await eventually_async(lambda: (led := leader.partition(ORDERS).leading) and led.pending, "a proposal")
        session = begun.session_id
        on = fetch_request(cluster, ("orders", 0, 1), version=12, replica=2, session=(session, 1), max_wait_ms=1000)
        waiting = asyncio.create_task(follower.ask(on))
        await eventually_async(lambda: progress(leader, 2) == 1, "the follower to have caught up")
        cluster.answers_isr.set()
        await eventually_async(lambda: leader.partition(ORDERS).state.isr == (1,), "the follower to be dropped")
        await waiting
        for epoch in itertools.count(2):
            if leader.partition(ORDERS).state.isr == (1, 2):
                break
            assert epoch < 100, "it never comes back"
            on = fetch_request(cluster, version=12, replica=2, session=(session, epoch), max_wait_ms=20)
            await follower.ask(on)


def progress(leader: Node, follower: int) -> int:
    """Up to where it has told that it has all."""
    leading = leader.partition(ORDERS).leading
    return -1 if leading is None else leading.followers[follower].log_end


async def test_a_fetch_from_before_an_election_brings_nobody_into_the_isr(cluster: Cluster) -> None:
    """Of a follower that died: only its last fetches are still there."""
    cluster.settings = {**SOON_LAGGING, "inter.broker.protocol.version": "2.8"}
    await cluster.start(1)
    await cluster.create("orders", (1, 2))
    async with connected(cluster, 1) as follower:
        begun = await follower.ask(fetch_request(cluster, ("orders", 0, 0), version=12, replica=2, session=(0, 0)))
        await asyncio.sleep(0.01)
        await follower.ask(fetch_request(cluster, version=12, replica=2, session=(begun.session_id, 1)))
    await asyncio.sleep(0.01)
    await cluster.elect(ORDERS, 1, (1,))
    cluster.answers_isr.clear()
    await cluster.produce(ORDERS, "a", acks=1)
    leading = cluster.nodes[1].partition(ORDERS).leading
    cluster.answers_isr.set()
    assert leading is not None
    assert leading.pending is None
