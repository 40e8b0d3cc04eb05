"""How brokers of older releases replicate: ISRs written to ZooKeeper by leaders, and lag counted in messages."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest

from model.cluster.ids import TopicPartition
from model.hosts.writing_session import WritingSession
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.znodes.paths import partition_state_path
from model.znodes.topics import LeaderIsrAndControllerEpoch
from model.zookeeper import Create, GetChildren, GetData
from tests.harness.live_brokers import PATIENCE_S, SOON_LAGGING, Cluster
from tests.harness.waiting import eventually_async
from tests.model.hosts.live_broker.data_apis.asking import connected, fetch_request

ORDERS = TopicPartition("orders", 0)
STATE = partition_state_path("orders", 0)


@pytest.fixture
async def session(zookeeper: str) -> AsyncIterator[WritingSession]:
    address, _, root = zookeeper.partition("/")
    session = WritingSession(ZooKeeperSettings(address, f"/{root}"), lambda _: None, lambda: None)
    await session.open(60)
    yield session
    await session.close()


@pytest.fixture
async def old_cluster(cluster: Cluster, session: WritingSession) -> Cluster:
    """Its partition is in ZooKeeper, where leaders write."""
    cluster.ask_zookeeper = session.ask
    state = LeaderIsrAndControllerEpoch(controller_epoch=1, leader=1, leader_epoch=0, isr=(1, 2)).to_bytes()
    parts = STATE.split("/")
    await session.ask([Create("/".join(parts[:depth])) for depth in range(2, len(parts))])
    await session.ask((Create(STATE, state), Create("/isr_change_notification")))
    return cluster


async def names_below(session: WritingSession, path: str) -> tuple[str, ...]:
    (found,) = await session.ask((GetChildren(path),))
    return found.names


async def test_before_2_7_leaders_write_isrs_themselves(old_cluster: Cluster, session: WritingSession) -> None:
    cluster = old_cluster
    cluster.settings = {**SOON_LAGGING, "inter.broker.protocol.version": "2.6"}
    await cluster.start(1, 2)
    await cluster.create("orders", (1, 2))
    await cluster.produce(ORDERS, "a")
    await cluster.kill(2)
    appended = asyncio.create_task(cluster.produce(ORDERS, "b"))
    await eventually_async(lambda: cluster.nodes[1].replicas.end_offset(ORDERS) == 2)
    cluster.time_passes()
    assert await appended == 1
    assert cluster.nodes[1].partition(ORDERS).state.isr == (1,)
    (found,) = await session.ask((GetData(STATE),))
    written = json.loads(found.data)
    assert (written["isr"], written["leader"], written["controller_epoch"], found.version) == ([1], 1, 1, 1)

    cluster.ahead_ms += 100_000  # so that the notice is due
    async with asyncio.timeout(PATIENCE_S):
        while not (names := await names_below(session, "/isr_change_notification")):
            await asyncio.sleep(0.05)
    (found,) = await session.ask((GetData(f"/isr_change_notification/{names[0]}"),))
    assert json.loads(found.data) == {"version": 1, "partitions": [{"topic": "orders", "partition": 0}]}


async def test_in_0_8_a_follower_that_is_too_many_messages_behind_leaves(
    old_cluster: Cluster, session: WritingSession, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = old_cluster
    caplog.set_level(logging.INFO)
    old = {"inter.broker.protocol.version": "0.8.2", "replica.lag.max.messages": "10"}
    cluster.settings = {**SOON_LAGGING, **old}
    await cluster.start(1)
    await cluster.create("orders", (1, 2))
    await cluster.produce(ORDERS, *map(str, range(20)), acks=1)
    leader = cluster.nodes[1]
    async with connected(cluster, 1) as follower, asyncio.timeout(PATIENCE_S):
        while leader.partition(ORDERS).state.isr != (1,):  # it is not silent, and gets no further
            await follower.ask(fetch_request(cluster, ("orders", 0, 5), version=4, replica=2))
    assert "broker 2 was 15 messages behind, it leaves the ISR" in caplog.text
    (found,) = await session.ask((GetData(STATE),))
    assert json.loads(found.data)["isr"] == [1]
