"""A real leader of Kafka 3.9.1 and ours see the same elections, records and fetches, at random, and answer the same.

Its followers are we: nobody replicates, they only say how far they are. Compared are errors, where logs part, high
watermarks, and the latest offset that a consumer is told.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import Producer
from kio.static.primitive import i32Timedelta

from model.broker.controller_requests import BrokerEpochs, Replicas, serve_leader_and_isr
from model.broker.isr import record_append, record_fetch
from model.broker.partition import Conditions, LogPositions, Partition
from model.broker.serving import LATEST_TIMESTAMP, Isolation, OffsetQuestion, PartitionFetch, judge_read, look_up_offset
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes
from model.hosts.wire.names import error_name
from model.log.checkpoints import LeaderEpochs
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.kafka import LoneBroker, lone_broker

pytestmark = pytest.mark.conformance

FETCH, LIST_OFFSETS = 1, 2
LIVE = (1, 2, 3)
CONTROLLER_EPOCH = 1_000
STEPS = 200


@pytest.fixture(scope="module")
def broker(zookeeper_server: EmbeddedZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneBroker]:
    with lone_broker(f"{zookeeper_server.address}/leading", tmp_path_factory.mktemp("leading")) as broker:
        yield broker


@pytest.fixture
async def connection(broker: LoneBroker) -> AsyncIterator[Connection]:
    connection = await Connection.open("127.0.0.1", broker.port, "kdrill-test")
    yield connection
    await connection.close()


class Leader:
    """Ours. Epochs that a batch was written in are assigned when the epoch starts, as the real one does."""

    def __init__(self, name: TopicPartition) -> None:
        self.name = name
        self.partition = Partition(name, 1)
        self.log = LogPositions(epochs=LeaderEpochs())
        self.proposed = False

    @property
    def conditions(self) -> Conditions:
        return Conditions(time.time_ns() // 1_000_000, frozenset(LIVE))

    @property
    def epoch(self) -> int:
        return self.partition.state.leader_epoch

    def elect(self, request: LeaderAndIsrRequest) -> None:
        held = {self.name: self.partition} if self.epoch >= 0 else {}
        replicas = Replicas(held, (), lambda _: self.log)
        served = serve_leader_and_isr(request, -1, BrokerEpochs(1), replicas, lambda _: self.conditions)
        (self.partition,) = served.changed
        epochs = self.log.epochs
        assert isinstance(epochs, LeaderEpochs)
        self.log = LogPositions(end=self.log.end, epochs=epochs.assign(self.epoch, self.log.end))

    def append(self, count: int) -> None:
        self.log = LogPositions(end=self.log.end + count, epochs=self.log.epochs)
        self.partition = record_append(self.partition, self.log, self.conditions)

    def fetch(self, read: PartitionFetch) -> tuple[str, int, tuple[int, int]]:
        """The error, the high watermark and where logs part."""
        judged = judge_read(self.partition, read, self.log, 0)
        high_watermark = self.partition.high_watermark if judged.error == "NONE" else -1
        if judged.is_progress and read.follower is not None:
            decided = record_fetch(self.partition, read.follower, read.offset, self.log, self.conditions)
            self.partition = decided.partition
            self.proposed = self.proposed or bool(decided.commands)
        return judged.error, high_watermark, judged.diverging or (-1, -1)

    def latest(self) -> tuple[str, int]:
        question = OffsetQuestion(timestamp=LATEST_TIMESTAMP, isolation=Isolation.HIGH_WATERMARK)
        answer = look_up_offset(self.partition, question, self.log, 0, None)
        return answer.error, answer.found.offset


@pytest.mark.parametrize("seed", range(4))
async def test_they_lead_alike(seed: int, broker: LoneBroker, connection: Connection) -> None:
    dice = random.Random(seed)
    ours = Leader(TopicPartition(f"orders-{seed}", 0))
    producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": 1, "log_level": 0})
    await elect(connection, broker, ours, dice)
    seen: set[str] = set()
    for _ in range(STEPS):
        step = dice.choices(("fetch", "append", "elect"), (10, 3, 1))[0]
        if step == "elect":
            await elect(connection, broker, ours, dice)
        elif step == "append":
            count = dice.randint(1, 3)
            for _ in range(count):
                producer.produce(ours.name.topic, b"a record", partition=0)
                assert producer.flush(30) == 0
            ours.append(count)
        else:
            read = random_read(ours, dice)
            theirs, mine = await fetch(connection, ours.name, read), ours.fetch(read)
            assert mine == theirs, (read, ours.partition)
            seen |= {theirs[0], "diverging" if theirs[2] != (-1, -1) else "NONE"}
        assert ours.latest() == await latest(connection, ours.name), ours.partition
    assert seen >= {"NONE", "diverging", "OFFSET_OUT_OF_RANGE", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"}
    assert ours.partition.high_watermark > 0


def random_read(ours: Leader, dice: random.Random) -> PartitionFetch:
    end, epoch = ours.log.end, ours.epoch
    offset = dice.choice((end, end, dice.randint(0, end), end + dice.randint(1, 3)))
    last = dice.choice((None, None, epoch, epoch, dice.randint(0, epoch)))
    return PartitionFetch(
        offset=offset,
        isolation=Isolation.LOG_END,
        follower=dice.choice((2, 3, 2, 3, 2, 3, 2, 3, 4)),
        leader_epoch=dice.choice((None, *[epoch] * 7, epoch - 1 if epoch else None, epoch + 1)),
        last_fetched_epoch=last,
    )


async def elect(connection: Connection, broker: LoneBroker, ours: Leader, dice: random.Random) -> None:
    """Broker 1 leads, in the next epoch, with any ISR.

    Once it has proposed an ISR it gets them all: whether the controller, which is none, has answered is a matter of
    time, and decides whether it may propose again.
    """
    isr = LIVE if ours.proposed else dice.choice(((1, 2, 3), (1, 2), (1, 3), (1,)))
    state = LeaderAndIsr(1, ours.epoch + 1, isr, partition_epoch=ours.epoch + 1)
    known = PartitionToKnow(ours.name, state, CONTROLLER_EPOCH, LIVE, ())
    told = PartitionToServe(ours.name, state, CONTROLLER_EPOCH, ReplicaAssignment(LIVE), True)
    topic_ids = ((ours.name.topic, None),)
    requests = (
        UpdateMetadataRequest(9, CONTROLLER_EPOCH, (known,), LIVE, topic_ids),
        LeaderAndIsrRequest(9, CONTROLLER_EPOCH, (told,), LIVE, topic_ids),
    )
    for request in requests:
        answer = await broker.obey(connection, request, broker.epoch)
        assert (answer.error, answer.partition_errors) == ("NONE", ())
    ours.elect(requests[1])


async def fetch(connection: Connection, name: TopicPartition, read: PartitionFetch) -> tuple[str, int, tuple[int, int]]:
    """A follower's fetch, answered at once."""
    module: Any = shapes(FETCH, 12, "request")
    partition = module.FetchPartition(
        partition=name.partition,
        current_leader_epoch=-1 if read.leader_epoch is None else read.leader_epoch,
        fetch_offset=read.offset,
        last_fetched_epoch=-1 if read.last_fetched_epoch is None else read.last_fetched_epoch,
        log_start_offset=0,
        partition_max_bytes=1_000_000,
    )
    response: Any = await connection.ask(
        shaped(
            module.FetchRequest,
            replica_id=read.follower,
            max_wait=i32Timedelta.parse(timedelta()),
            min_bytes=0,
            topics=(module.FetchTopic(topic=name.topic, partitions=(partition,)),),
            forgotten_topics_data=(),
        )
    )
    (told,) = response.responses[0].partitions
    diverging = (told.diverging_epoch.epoch, told.diverging_epoch.end_offset)
    return error_name(told.error_code), told.high_watermark, diverging


async def latest(connection: Connection, name: TopicPartition) -> tuple[str, int]:
    """What a consumer is told."""
    module: Any = shapes(LIST_OFFSETS, 7, "request")
    partition = module.ListOffsetsPartition(partition_index=name.partition, timestamp=LATEST_TIMESTAMP)
    topic = module.ListOffsetsTopic(name=name.topic, partitions=(partition,))
    response: Any = await connection.ask(module.ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=(topic,)))
    (told,) = response.topics[0].partitions
    return error_name(told.error_code), told.offset
