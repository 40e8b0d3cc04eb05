"""What a real broker makes of a controller's words where two readings are possible; and that ours does the same.

Kafka 3.9.1 is ruled by a controller of ours, which also answers its AlterPartitions. Kafka 1.1.1 has a controller
of its own, and its leaders write ISRs themselves. The follower, broker 2, does not exist: we fetch in its name.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kio.static.primitive import i32Timedelta

from model.broker.controller_requests import BrokerEpochs
from model.broker.isr import hear_isr_answer, record_fetch
from model.broker.partition import EMPTY_LOG, Conditions, Partition, ReplicationSettings, replication_rules_of
from model.broker.roles import become_leader
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionOutcome,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import ApiKey, error_code, error_name
from model.hosts.wire.server import Api, Request, Server
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.releases import install_or_skip
from tests.harness.kafka import Cluster, LoneBroker, free_port, lone_broker
from tests.harness.waiting import eventually_async
from tests.model.broker.served_broker import ServedBroker, errors

pytestmark = pytest.mark.conformance

CONTROLLER, CONTROLLER_EPOCH = 3, 1_000
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
A_WHILE_S = 1.0
"""A proposal is sent in some ms, and again 50 ms after it failed as a whole."""


@pytest.fixture(scope="module")
def broker(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneBroker]:
    zookeeper, folder = f"{zookeeper_server.address}/decisions", tmp_path_factory.mktemp("decisions")
    with lone_broker(zookeeper, folder, controller=CONTROLLER) as broker:
        yield broker


@pytest.fixture(scope="module")
def controller_port() -> int:
    """The same for all tests: the broker keeps to the address that it learnt first."""
    return free_port()


class Ruled:
    """Broker 1 under our controller, and what our own broker answers to the same requests. `asked`: ISRs it wanted.

    `outcomes` answer them, one after the other; the last one stays.
    """

    def __init__(self, broker: LoneBroker, connection: Connection, port: int) -> None:
        self.asked: list[tuple[int, ...]] = []
        self.outcomes = ["NONE"]
        self.connection = connection
        self._broker = broker
        self._ports = {2: 1, CONTROLLER: port}
        self._ours = ServedBroker(BrokerEpochs(1, broker.epoch, 1))

    async def obey(self, request: BrokerRequest) -> BrokerAnswer:
        theirs = await self._broker.obey(self.connection, request, self._broker.epoch, self._ports)
        assert errors(self._ours.serve(request, self._broker.epoch)) == errors(theirs), request
        return theirs

    async def know(self, *live: int, topic: str | None = None) -> None:
        state = LeaderAndIsr(1, 5, (1,))
        named = (TopicPartition(topic, 0),) if topic else ()
        entries = tuple(PartitionToKnow(name, state, CONTROLLER_EPOCH, (1, 2), ()) for name in named)
        request = UpdateMetadataRequest(CONTROLLER, CONTROLLER_EPOCH, entries, live, ())
        assert (await self.obey(request)).error == "NONE"

    async def serve(
        self, name: TopicPartition, leader: int, epoch: int, isr: tuple[int, ...] = (1,), topic_id: str | None = None
    ) -> BrokerAnswer:
        state = LeaderAndIsr(leader, epoch, isr, partition_epoch=7)
        told = PartitionToServe(name, state, CONTROLLER_EPOCH, ReplicaAssignment((1, 2)), is_new=True)
        ids = ((name.topic, topic_id),)
        return await self.obey(LeaderAndIsrRequest(CONTROLLER, CONTROLLER_EPOCH, (told,), (1, 2), ids))

    async def stop(self, name: TopicPartition, *, delete: bool) -> BrokerAnswer:
        told = PartitionToStop(name, -1, delete)
        return await self.obey(StopReplicaRequest(CONTROLLER, CONTROLLER_EPOCH, (told,)))

    async def alter_partition(self, request: Request) -> Entity:
        body: Any = request.body
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        topics: list[Entity] = []
        for topic in body.topics:
            self.asked += [each.new_isr for each in topic.partitions]
            partitions = tuple(
                shaped(
                    request.shape("PartitionData"),
                    partition_index=each.partition_index,
                    error_code=error_code(outcome),
                    leader_id=1,
                    leader_epoch=each.leader_epoch,
                    isr=each.new_isr,
                    leader_recovery_state=0,
                    partition_epoch=each.partition_epoch + 1,
                )
                for each in topic.partitions
            )
            topics.append(shaped(request.shape("TopicData"), topic_name=topic.topic_name, partitions=partitions))
        return request.answer("AlterPartitionResponse", error_code=error_code("NONE"), topics=tuple(topics))


@asynccontextmanager
async def ruled_by_us(broker: LoneBroker, controller_port: int) -> AsyncIterator[Ruled]:
    connection = await Connection.open("127.0.0.1", broker.port, "kdrill-test")
    ruled = Ruled(broker, connection, controller_port)
    server = Server({ApiKey.ALTER_PARTITION: Api(0, 1, ruled.alter_partition)})
    await server.start("127.0.0.1", controller_port)
    try:
        yield ruled
    finally:
        await connection.close()
        await server.close()


async def test_a_topic_id_comes_with_the_leader_epoch_of_before(broker: LoneBroker, controller_port: int) -> None:
    name = TopicPartition("upgraded", 0)
    async with ruled_by_us(broker, controller_port) as ruled:
        await ruled.know(1, 2)
        assert (await ruled.serve(name, 1, 5)).partition_errors == ()
        assert (await ruled.serve(name, 1, 5, topic_id=TOPIC_ID)).partition_errors == ()
        for leader, epoch in ((1, 5), (2, 5), (1, 4)):
            told = await ruled.serve(name, leader, epoch, topic_id=TOPIC_ID)
            assert told.partition_errors == ((name, "STALE_CONTROLLER_EPOCH"),)


async def test_a_replica_that_is_stopped_and_not_deleted_keeps_its_role(
    broker: LoneBroker, controller_port: int
) -> None:
    led, followed = TopicPartition("led", 0), TopicPartition("followed", 0)
    async with ruled_by_us(broker, controller_port) as ruled:
        await ruled.know(1, 2)
        for name, leader, role in ((led, 1, "NONE"), (followed, 2, "NOT_LEADER_OR_FOLLOWER")):
            await ruled.serve(name, leader, 5)
            assert (await ruled.stop(name, delete=False)).partition_errors == ()
            assert await asked_for_its_epoch(ruled.connection, name, 5) == role
            assert (await ruled.serve(name, 1, 5)).partition_errors == ((name, "STALE_CONTROLLER_EPOCH"),)
            assert (await ruled.stop(name, delete=True)).partition_errors == ()
            assert await asked_for_its_epoch(ruled.connection, name, 5) == "UNKNOWN_TOPIC_OR_PARTITION"
            assert (await ruled.serve(name, 1, 5)).partition_errors == ()


async def test_from_3_3_a_leader_asks_only_for_live_followers(broker: LoneBroker, controller_port: int) -> None:
    name = TopicPartition("joined", 0)
    async with ruled_by_us(broker, controller_port) as ruled:
        await ruled.know(1, CONTROLLER, topic=name.topic)
        await ruled.serve(name, 1, 5)
        assert await fetch_for(ruled.connection, name, 12) == "NONE"
        await asyncio.sleep(A_WHILE_S)
        assert ruled.asked == []
        await ruled.know(1, 2, CONTROLLER)
        assert await fetch_for(ruled.connection, name, 12) == "NONE"
        await eventually_async(lambda: bool(ruled.asked))
        assert ruled.asked == [(1, 2)]
    assert [asks("3.9", live) for live in ({1}, {1, 2})] == [False, True]


@pytest.mark.parametrize(
    ("outcome", "then"),
    [
        ("NOT_CONTROLLER", "ask again"),
        ("UNKNOWN_SERVER_ERROR", "ask again"),
        ("CLUSTER_AUTHORIZATION_FAILED", "ask again"),
        ("INELIGIBLE_REPLICA", "roll back"),
        ("INVALID_UPDATE_VERSION", "stay pending"),
        ("FENCED_LEADER_EPOCH", "stay pending"),
    ],
)
async def test_an_error_that_is_not_known_for_final_is_asked_again(
    outcome: str, then: str, broker: LoneBroker, controller_port: int
) -> None:
    name = TopicPartition(f"refused-{outcome.lower().replace('_', '-')}", 0)
    async with ruled_by_us(broker, controller_port) as ruled:
        ruled.outcomes = [outcome, "NONE"]
        await ruled.know(1, 2, CONTROLLER, topic=name.topic)
        await ruled.serve(name, 1, 5)
        assert await fetch_for(ruled.connection, name, 12) == "NONE"
        await eventually_async(lambda: bool(ruled.asked))
        if then == "ask again":
            await eventually_async(lambda: len(ruled.asked) == 2)
        else:
            await asyncio.sleep(A_WHILE_S)
            assert len(ruled.asked) == 1
            assert await fetch_for(ruled.connection, name, 12) == "NONE"  # only what was rolled back is proposed anew
            await asyncio.sleep(A_WHILE_S)
            assert len(ruled.asked) == (2 if then == "roll back" else 1)
    assert reaction(outcome) == then


async def test_up_to_2_6_a_leader_takes_in_whoever_fetches_and_tries_until_its_version_holds(
    zookeeper_server: EmbeddedZooKeeper, tmp_path: Path
) -> None:
    name, path = TopicPartition("orders", 0), "/brokers/topics/orders/partitions/0/state"
    with Cluster(install_or_skip("1.1.1"), f"{zookeeper_server.address}/leaders", tmp_path, size=1) as cluster:
        cluster.create("orders", {0: [1, 2]})
        await eventually_async(lambda: bool(cluster.state("orders", 0)))
        state = cluster.text(path)
        assert cluster.state("orders", 0)["isr"] == [1]
        connection = await Connection.open("127.0.0.1", cluster.brokers[1].port, "kdrill-test")
        cluster.overwrite(path, state)  # version 1, where the leader knows of version 0
        while await fetch_for(connection, name, 4) != "NONE":
            await asyncio.sleep(0.1)  # it does not lead yet
        assert cluster.state("orders", 0)["isr"] == [1]
        assert await led_in_epoch(connection, name, 5) == "STALE_CONTROLLER_EPOCH"
        cluster.delete(path)
        cluster.write(path, state)
        assert await fetch_for(connection, name, 4) == "NONE"
        await connection.close()
        after = cluster.state("orders", 0)
        assert after["isr"] == [1, 2]
        assert after["controller_epoch"] == 1  # of the controller that made it the leader, not of the newest one
    assert asks("1.1", {1})
    assert reaction("INVALID_UPDATE_VERSION", "1.1") == "roll back"


async def asked_for_its_epoch(connection: Connection, name: TopicPartition, epoch: int) -> str:
    """The error for a follower that asks where an epoch ends: it says whether the broker leads, follows or neither."""
    module: Any = shapes(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, "request")
    entry = module.OffsetForLeaderPartition(partition=name.partition, current_leader_epoch=-1, leader_epoch=epoch)
    topic = module.OffsetForLeaderTopic(topic=name.topic, partitions=(entry,))
    response: Any = await connection.ask(module.OffsetForLeaderEpochRequest(replica_id=2, topics=(topic,)))
    (told,) = response.topics[0].partitions
    return error_name(told.error_code)


async def led_in_epoch(connection: Connection, name: TopicPartition, controller_epoch: int) -> str:
    """A controller of that epoch says what is known already, as a new controller does. The partition's error."""
    module: Any = shapes(ApiKey.LEADER_AND_ISR, 1, "request")
    state = shaped(
        module.LeaderAndIsrPartitionState,
        topic_name=name.topic,
        partition_index=name.partition,
        controller_epoch=controller_epoch,
        leader=1,
        leader_epoch=0,
        isr=(1,),
        partition_epoch=0,
        replicas=(1, 2),
    )
    request = shaped(
        module.LeaderAndIsrRequest,
        controller_id=CONTROLLER,
        controller_epoch=controller_epoch,
        ungrouped_partition_states=(state,),
        live_leaders=(shaped(module.LeaderAndIsrLiveLeader, broker_id=1, host_name="127.0.0.1", port=1),),
    )
    response: Any = await connection.ask(request)
    assert error_name(response.error_code) == "NONE"
    (told,) = response.partition_errors
    return error_name(told.error_code)


async def fetch_for(connection: Connection, name: TopicPartition, version: int) -> str:
    """Broker 2 fetches from the end of an empty log. The error."""
    module: Any = shapes(ApiKey.FETCH, version, "request")
    partition = shaped(
        module.FetchPartition,
        partition=name.partition,
        current_leader_epoch=-1,
        fetch_offset=0,
        last_fetched_epoch=-1,
        log_start_offset=0,
        partition_max_bytes=1_000_000,
    )
    request = shaped(
        module.FetchRequest,
        replica_id=2,
        max_wait=i32Timedelta.parse(timedelta()),
        min_bytes=0,
        topics=(module.FetchTopic(topic=name.topic, partitions=(partition,)),),
        forgotten_topics_data=(),
    )
    response: Any = await connection.ask(request)
    (told,) = response.responses[0].partitions
    return error_name(told.error_code)


def asks(release: str, live: set[int]) -> bool:
    """Whether our leader asks for broker 2 to join, once that has fetched."""
    return bool(record_fetch(leader(), 2, 0, EMPTY_LOG, conditions(release, live)).commands)


def reaction(error: str, release: str = "3.9") -> str:
    """Of our leader to an answer."""
    proposed = record_fetch(leader(), 2, 0, EMPTY_LOG, conditions(release, {1, 2})).partition
    assert proposed.leading is not None
    assert proposed.leading.pending is not None
    outcome = PartitionOutcome(proposed.partition, error)
    asked = proposed.leading.pending.proposal
    decided = hear_isr_answer(proposed, asked, outcome, EMPTY_LOG, conditions(release, {1, 2}))
    assert decided.partition.leading is not None
    if decided.commands:
        return "ask again"
    return "roll back" if decided.partition.leading.pending is None else "stay pending"


def leader() -> Partition:
    """Broker 1 leads alone; broker 2 is a replica."""
    name = TopicPartition("ours", 0)
    told = PartitionToServe(name, LeaderAndIsr(1, 5, (1,)), CONTROLLER_EPOCH, ReplicaAssignment((1, 2)), is_new=True)
    return become_leader(Partition(name, 1), told, EMPTY_LOG, conditions("3.9", {1, 2})).partition


def conditions(release: str, live: set[int]) -> Conditions:
    """Of a broker of that release that knows these to be live."""
    return Conditions(0, frozenset(live), ReplicationSettings(rules=replication_rules_of(release)))
