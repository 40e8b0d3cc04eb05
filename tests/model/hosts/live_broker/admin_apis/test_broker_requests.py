"""What brokers ask, as the controller is told it; and its answers as each version of the protocol has them."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    AlterPartitionReceived,
    AnswerRequest,
    ControlledShutdownRequested,
    PartitionOutcome,
    ProducerIdRange,
    ProducerIdsRequested,
    ProposedIsr,
    RequestReceived,
)
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.topics import Topic
from model.hosts.live_broker.apis.controller_apis import BrokerRequests
from model.hosts.wire.names import topic_uuid
from tests.harness.live_brokers import served

IDS = {"a": "gcf0J66hS7OMD5Anom956Q", "b": "S3NQ4LbpSZK9c6mDNOOCng"}
TOPICS = {name: Topic(text, {}) for name, text in IDS.items()}
NUMBER = 7


class Controller:
    """Notes what it is asked and answers what it is told to."""

    def __init__(self, answer: AnswerRequest) -> None:
        self.answer = answer
        self.asked: list[RequestReceived] = []

    async def __call__(self, event: Callable[[int], RequestReceived]) -> AnswerRequest:
        self.asked.append(event(NUMBER))
        return self.answer


@pytest.mark.parametrize("version", [0, 1, 2, 3])
async def test_alter_partition(version: int) -> None:
    """By name, then by id (KIP-497, 2.8), then with the epochs of the members (KIP-903)."""
    refused = PartitionOutcome(TopicPartition("a", 1), "INELIGIBLE_REPLICA")
    written = PartitionOutcome(TopicPartition("a", 0), state=LeaderAndIsr(1, 5, (1, 2), partition_epoch=9))
    controller = Controller(AnswerRequest(NUMBER, partitions=(refused, written)))
    stranger = uuid.uuid4()
    async with served(BrokerRequests(controller, lambda: TOPICS).apis) as ask:
        module = __import__(f"kio.schema.alter_partition.v{version}.request", fromlist=["x"])

        def partition(number: int) -> object:
            values: dict[str, object] = {"partition_index": number, "leader_epoch": 5, "partition_epoch": 8}
            if version < 3:
                return module.PartitionData(new_isr=(1, 2), **values)
            members = tuple(module.BrokerState(broker_id=broker, broker_epoch=40 + broker) for broker in (1, 2))
            return module.PartitionData(new_isr_with_epochs=members, **values)

        if version < 2:
            topics = (module.TopicData(topic_name="a", partitions=(partition(0), partition(1))),)
        else:
            known = module.TopicData(topic_id=topic_uuid(IDS["a"]), partitions=(partition(0), partition(1)))
            topics = (known, module.TopicData(topic_id=stranger, partitions=(partition(3),)))
        response = await ask(56, version, "AlterPartitionRequest", broker_id=1, broker_epoch=41, topics=topics)
    proposals = tuple(ProposedIsr(TopicPartition("a", number), 5, 8, (1, 2)) for number in (0, 1))
    assert controller.asked == [AlterPartitionReceived(request=NUMBER, broker=1, broker_epoch=41, proposals=proposals)]
    assert response.error_code is ErrorCode.none
    told = {each.partition_index: each for topic in response.topics for each in topic.partitions}
    ineligible = ErrorCode.ineligible_replica if version > 1 else ErrorCode.operation_not_attempted
    assert told[1].error_code is ineligible
    assert (told[0].leader_id, told[0].leader_epoch, told[0].isr, told[0].partition_epoch) == (1, 5, (1, 2), 9)
    if version > 1:
        assert told[3].error_code is ErrorCode.unknown_topic_id
        assert {topic.topic_id for topic in response.topics} == {topic_uuid(IDS["a"]), stranger}


async def test_a_refusal_as_a_whole() -> None:
    controller = Controller(AnswerRequest(NUMBER, "NOT_CONTROLLER"))
    async with served(BrokerRequests(controller, lambda: TOPICS).apis) as ask:
        response = await ask(56, 2, "AlterPartitionRequest", broker_id=1, broker_epoch=41, topics=())
        assert (response.error_code, response.topics) == (ErrorCode.not_controller, ())


async def test_a_topic_that_was_made_anew_goes_by_its_new_id() -> None:
    controller = Controller(AnswerRequest(NUMBER))
    topics = dict(TOPICS)
    module = __import__("kio.schema.alter_partition.v2.request", fromlist=["x"])
    async with served(BrokerRequests(controller, lambda: topics).apis) as ask:
        for text in (IDS["a"], IDS["b"]):
            each = module.PartitionData(partition_index=0, leader_epoch=5, partition_epoch=8)
            topic = module.TopicData(topic_id=topic_uuid(text), partitions=(each,))
            await ask(56, 2, "AlterPartitionRequest", broker_id=1, broker_epoch=41, topics=(topic,))
            topics = {"a": Topic(IDS["b"], {})}
    asked = [event for event in controller.asked if isinstance(event, AlterPartitionReceived)]
    names = [event.proposals[0].partition.topic for event in asked]
    assert names == ["a", "a"]


@pytest.mark.parametrize(("version", "epoch"), [(0, None), (1, None), (2, 41), (3, 41)])
async def test_controlled_shutdown(version: int, epoch: int | None) -> None:
    controller = Controller(AnswerRequest(NUMBER, partitions=(PartitionOutcome(TopicPartition("a", 2)),)))
    async with served(BrokerRequests(controller, dict).apis) as ask:
        response = await ask(7, version, "ControlledShutdownRequest", broker_id=1, broker_epoch=41)
    assert controller.asked == [ControlledShutdownRequested(request=NUMBER, broker=1, broker_epoch=epoch)]
    [left] = response.remaining_partitions
    assert (response.error_code, left.topic_name, left.partition_index) == (ErrorCode.none, "a", 2)


async def test_allocate_producer_ids() -> None:
    controller = Controller(AnswerRequest(NUMBER, producer_ids=ProducerIdRange(2000, 1000)))
    async with served(BrokerRequests(controller, dict).apis) as ask:
        response = await ask(67, 0, "AllocateProducerIdsRequest", broker_id=1, broker_epoch=41)
        assert (response.producer_id_start, response.producer_id_len) == (2000, 1000)
        controller.answer = AnswerRequest(NUMBER, "STALE_BROKER_EPOCH")
        response = await ask(67, 0, "AllocateProducerIdsRequest", broker_id=1, broker_epoch=40)
        assert response.error_code is ErrorCode.stale_broker_epoch
    assert controller.asked[0] == ProducerIdsRequested(request=NUMBER, broker=1, broker_epoch=41)
