"""A controller's channel to one broker: in order, until it answers, in a version that the broker knows."""

from __future__ import annotations

import asyncio
import logging

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerAnswer, PartitionToStop, StopReplicaRequest
from model.hosts.live_controller.broker_channels import BrokerChannel, OutgoingRequest
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request, Server
from tests.harness.waiting import eventually_async

STOP_REPLICA = 5


class Broker:
    """Notes which StopReplica it gets, and in which version."""

    def __init__(self, highest: int = 4) -> None:
        self.got: list[tuple[int, int]] = []
        self._server = Server({STOP_REPLICA: Api(min(highest, 3), highest, self._stop)})

    async def start(self, port: int = 0) -> int:
        return await self._server.start("127.0.0.1", port)

    async def close(self) -> None:
        await self._server.close()

    async def _stop(self, request: Request) -> Entity:
        self.got.append((request.start.version, request.body.controller_epoch))
        return request.answer("StopReplicaResponse", error_code=ErrorCode.none, partition_errors=())


class Answers:
    """What came back."""

    def __init__(self) -> None:
        self.epochs: list[int] = []

    def __call__(self, sent: object, answer: BrokerAnswer) -> None:
        assert isinstance(sent, StopReplicaRequest) and answer == BrokerAnswer()
        self.epochs.append(sent.controller_epoch)


def letter(number: int) -> OutgoingRequest:
    stop = (PartitionToStop(TopicPartition("t", 0), 1, delete=False),)
    return OutgoingRequest(StopReplicaRequest(9, number, stop), 77, {}, "PLAINTEXT")


@pytest.mark.parametrize("highest", [3, 4])
async def test_requests_arrive_in_order_in_the_highest_version_that_both_know(highest: int) -> None:
    broker, answers = Broker(highest), Answers()
    channel = BrokerChannel(1, ("127.0.0.1", await broker.start()), "test", answers)
    for number in range(5):
        channel.send(letter(number))
    await eventually_async(lambda: len(answers.epochs) == 5)
    assert broker.got == [(highest, number) for number in range(5)]
    assert answers.epochs == [0, 1, 2, 3, 4]
    await channel.close()
    await broker.close()


async def test_what_a_broker_that_is_down_misses_it_gets_later(caplog: pytest.LogCaptureFixture) -> None:
    broker, answers = Broker(), Answers()
    port = await broker.start()
    await broker.close()
    with caplog.at_level(logging.WARNING):
        channel = BrokerChannel(1, ("127.0.0.1", port), "test", answers)
        for number in range(3):
            channel.send(letter(number))
        await eventually_async(lambda: caplog.records)
        back = Broker()
        await back.start(port)
        await eventually_async(lambda: len(answers.epochs) == 3)
    assert [epoch for _, epoch in back.got] == [0, 1, 2]
    assert all("broker 1 does not take stop_replica" in record.getMessage() for record in caplog.records)
    await channel.close()
    await back.close()


async def test_an_old_broker_is_told_in_two_what_a_new_one_is_told_in_one() -> None:
    stop = tuple(PartitionToStop(TopicPartition("t", number), 1, delete=number == 0) for number in range(3))
    mixed = OutgoingRequest(StopReplicaRequest(9, 5, stop), 77, {}, "PLAINTEXT")
    for highest, times in ((0, 2), (2, 2), (3, 1)):
        broker, answers = Broker(highest), Answers()
        channel = BrokerChannel(1, ("127.0.0.1", await broker.start()), "test", answers)
        channel.send(mixed)
        await eventually_async(lambda answers=answers: answers.epochs == [5])  # one answer for the controller
        assert broker.got == [(highest, 5)] * times
        await channel.close()
        await broker.close()


async def test_a_broker_that_does_not_know_it_is_told_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    server = Server({})
    with caplog.at_level(logging.WARNING):
        channel = BrokerChannel(1, ("127.0.0.1", await server.start("127.0.0.1", 0)), "test", Answers())
        channel.send(letter(1))
        await eventually_async(lambda: caplog.records)
        await asyncio.sleep(0.3)
    [line] = [record.getMessage() for record in caplog.records]
    assert "broker 1 does not take stop_replica: " in line
    await channel.close()
    await server.close()
