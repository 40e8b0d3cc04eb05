"""A real broker of Kafka 3.9.1 and ours are sent the same requests of a controller, at random, and answer the same.

After each request both are asked for the ends of leader epochs and for metadata.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import BrokerNode, Endpoint
from model.broker.partition import EMPTY_LOG
from model.broker.serving import EpochEnd, find_partition, look_up_epoch_end
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes
from model.hosts.wire.names import error_name
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.kafka import LoneBroker, lone_broker
from tests.model.broker.served_broker import ServedBroker, errors

pytestmark = pytest.mark.conformance

METADATA, OFFSET_FOR_LEADER_EPOCH = 3, 23
IDS = {"orders": ("AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"), "returns": ("AAAAAAAAAAAAAAAAAAAAAw",)}
PARTITIONS = 3
STEPS = 120


@pytest.fixture(scope="module")
def broker(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneBroker]:
    with lone_broker(f"{zookeeper_server.address}/answers", tmp_path_factory.mktemp("answers")) as broker:
        yield broker


@pytest.fixture
async def connection(broker: LoneBroker) -> AsyncIterator[Connection]:
    connection = await Connection.open("127.0.0.1", broker.port, "kdrill-test")
    yield connection
    await connection.close()


class Controller:
    """Makes requests up; `dice` decides."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.epoch = 1_000

    def request(self) -> BrokerRequest:
        self.epoch += self.dice.choice((0, 0, 0, 1))
        epoch = self.epoch - self.dice.choice((0,) * 9 + (1,))
        make = self.dice.choices((self.lead, self.tell, self.stop), (6, 3, 2))[0]
        return make(epoch)

    def lead(self, epoch: int) -> LeaderAndIsrRequest:
        topic, topic_id = self.topic()
        entries = tuple(
            PartitionToServe(
                TopicPartition(topic, number),
                self.state(),
                epoch,
                ReplicaAssignment(self.dice.choice(((1, 2, 3), (1, 2), (3, 1), (2, 3)))),
                self.dice.random() < 0.3,
            )
            for number in self.numbers()
        )
        return LeaderAndIsrRequest(9, epoch, entries, (1, 2, 3), ((topic, topic_id),))

    def tell(self, epoch: int) -> UpdateMetadataRequest:
        topic, topic_id = self.topic()
        entries = tuple(
            PartitionToKnow(
                TopicPartition(topic, number), self.state(deleting=True), epoch, (1, 2, 3), self.dice.choice(((), (3,)))
            )
            for number in self.numbers()
        )
        return UpdateMetadataRequest(
            9, epoch, entries, self.dice.choice(((1, 2, 3), (1, 2), (1, 3), (1,))), ((topic, topic_id),)
        )

    def stop(self, epoch: int) -> StopReplicaRequest:
        topic, _ = self.topic()
        entries = tuple(
            PartitionToStop(TopicPartition(topic, number), self.dice.randrange(-2, 9), self.dice.random() < 0.6)
            for number in self.numbers()
        )
        return StopReplicaRequest(9, epoch, entries)

    def topic(self) -> tuple[str, str | None]:
        topic = self.dice.choice(list(IDS))
        return topic, self.dice.choice((None, IDS[topic][0], IDS[topic][0], IDS[topic][-1]))

    def numbers(self) -> list[int]:
        return sorted(self.dice.sample(range(PARTITIONS), self.dice.randint(1, PARTITIONS)))

    def state(self, *, deleting: bool = False) -> LeaderAndIsr:
        leader = self.dice.choice((1, 1, 1, 2, 3, -1, -2 if deleting else -1))
        return LeaderAndIsr(leader, self.dice.randrange(9), (1, 2), partition_epoch=self.dice.randrange(9))


@pytest.mark.parametrize("seed", range(3))
async def test_they_answer_alike(seed: int, broker: LoneBroker, connection: Connection) -> None:
    dice = random.Random(seed)
    controller = Controller(dice)
    controller.epoch += 1_000 * seed
    nodes = {each: BrokerNode(each, (Endpoint("PLAINTEXT", "127.0.0.1", broker.port),)) for each in (1, 2, 3)}
    ours = ServedBroker(BrokerEpochs(1, broker.epoch, 1), nodes)
    await clean(connection, broker, ours, controller.epoch)
    seen: set[str] = set()
    for _ in range(STEPS):
        request = controller.request()
        broker_epoch = broker.epoch + dice.choice((0,) * 9 + (-1,))
        theirs = await broker.obey(connection, request, broker_epoch)
        mine = ours.serve(request, broker_epoch)
        assert mine.error == theirs.error, request
        if mine.error == "NONE":  # an error as a whole is repeated for each partition on the wire
            assert errors(mine) == errors(theirs), request
        seen |= {theirs.error, *dict(theirs.partition_errors).values()}
        await compare_epoch_ends(connection, ours, dice)
        await compare_metadata(connection, ours)
    assert seen >= {"NONE", "STALE_CONTROLLER_EPOCH", "STALE_BROKER_EPOCH", "FENCED_LEADER_EPOCH"}
    assert seen >= {"INCONSISTENT_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION"}


async def clean(connection: Connection, broker: LoneBroker, ours: ServedBroker, epoch: int) -> None:
    """Let the broker forget what an earlier history left."""
    names = [TopicPartition(topic, number) for topic in IDS for number in range(PARTITIONS)]
    deleted = LeaderAndIsr(-2, 0, ())
    requests = (
        StopReplicaRequest(9, epoch, tuple(PartitionToStop(name, -2, True) for name in names)),
        UpdateMetadataRequest(
            9, epoch, tuple(PartitionToKnow(name, deleted, epoch, (1,), ()) for name in names), (1, 2, 3), ()
        ),
    )
    for request in requests:
        await broker.obey(connection, request, broker.epoch)
        ours.serve(request, broker.epoch)


async def compare_epoch_ends(connection: Connection, ours: ServedBroker, dice: random.Random) -> None:
    """OffsetForLeaderEpoch of every partition held here."""
    module: Any = shapes(OFFSET_FOR_LEADER_EPOCH, 4, "request")
    for name, partition in ours.held.items():
        known, asked = dice.randrange(-1, 9), dice.randrange(9)
        entry = module.OffsetForLeaderPartition(
            partition=name.partition, current_leader_epoch=known, leader_epoch=asked
        )
        topic = module.OffsetForLeaderTopic(topic=name.topic, partitions=(entry,))
        response: Any = await connection.ask(module.OffsetForLeaderEpochRequest(replica_id=2, topics=(topic,)))
        (told,) = response.topics[0].partitions
        assert find_partition(name, ours.held, (), ()) is partition
        mine = look_up_epoch_end(partition, None if known == -1 else known, asked, ours.log(name) or EMPTY_LOG)
        assert mine == EpochEnd(error_name(told.error_code), told.leader_epoch, told.end_offset), (name, known, asked)


async def compare_metadata(connection: Connection, ours: ServedBroker) -> None:
    """What clients are told of both topics."""
    module: Any = shapes(METADATA, 12, "request")
    topics = tuple(shaped(module.MetadataRequestTopic, topic_id=None, name=topic) for topic in IDS)
    response: Any = await connection.ask(
        shaped(
            module.MetadataRequest,
            topics=topics,
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=False,
        )
    )
    assert {each.node_id for each in response.brokers} == ours.image.live_brokers
    for told in response.topics:
        mine = ours.image.describe_topic(told.name, "PLAINTEXT")
        assert (mine is None) == (error_name(told.error_code) == "UNKNOWN_TOPIC_OR_PARTITION")
        assert {
            each.partition_index: (
                error_name(each.error_code),
                each.leader_id,
                each.leader_epoch,
                each.replica_nodes,
                each.isr_nodes,
                set(each.offline_replicas),
            )
            for each in told.partitions
        } == {
            each.partition.partition: (
                each.error,
                each.leader,
                each.leader_epoch,
                each.replicas,
                each.isr,
                set(each.offline_replicas),
            )
            for each in mine or ()
        }
