"""What the broker around a controller is told, and what clients then hear from it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.requests import LeaderAndIsrRequest, PartitionToKnow, PartitionToServe, UpdateMetadataRequest
from model.hosts.live_controller.metadata import metadata_response
from model.hosts.live_controller.names import topic_uuid
from model.hosts.live_controller.own_broker import OwnBroker
from model.hosts.live_controller.to_brokers import Letter, entity_of
from model.hosts.wire.messages import Entity, shapes
from model.hosts.wire.server import Api, Request
from model.znodes.brokers import BrokerRegistration
from tests.model.hosts.live_controller.served import Asker, served

A_ID, B_ID = "gcf0J66hS7OMD5Anom956Q", "S3NQ4LbpSZK9c6mDNOOCng"
REGISTRATIONS = {
    1: BrokerRegistration(endpoints=("PLAINTEXT://one:1", "OTHER://one:2"), rack="r1", version=5),
    2: BrokerRegistration(endpoints=("PLAINTEXT://two:3",), version=5),
    3: BrokerRegistration(endpoints=("OTHER://three:4",), version=5),
}
LED = LeaderAndIsr(1, 5, (1, 2))
LEADERLESS = LeaderAndIsr(-1, 6, (2,))
GONE = LeaderAndIsr(-2, 0, (1,))


def told(*partitions: tuple[str, int, LeaderAndIsr], epoch: int = 4) -> Letter:
    known = tuple(PartitionToKnow(TopicPartition(t, p), state, epoch, (1, 2), (2,)) for t, p, state in partitions)
    request = UpdateMetadataRequest(1, epoch, known, (1, 2, 3), (("a", A_ID), ("b", B_ID)))
    return Letter(request, 77, REGISTRATIONS, "PLAINTEXT")


FIRST = told(("a", 0, LED), ("a", 1, LEADERLESS), ("b", 0, LED))


class Told:
    """A broker and how it answers Metadata."""

    def __init__(self) -> None:
        self.broker = OwnBroker()

    async def metadata(self, request: Request) -> Entity:
        return metadata_response(request, self.broker.metadata, "PLAINTEXT", "the-cluster")


@pytest.fixture
def own() -> Told:
    return Told()


@pytest.fixture
async def ask(own: Told) -> AsyncIterator[Asker]:
    async with served({3: Api(0, 12, own.metadata), **own.broker.apis}) as ask:
        yield ask


async def metadata(ask: Asker, version: int = 12, topics: Any = None) -> Any:
    wanted = {"include_topic_authorized_operations": False, "include_cluster_authorized_operations": False}
    return await ask(3, version, "MetadataRequest", topics=topics, **wanted)


async def send(ask: Asker, letter: Letter, key: int, version: int) -> Any:
    entity = entity_of(letter, version)
    values = {name: getattr(entity, name) for name in type(entity).__dataclass_fields__}
    return await ask(key, version, type(entity).__name__, **values)


@pytest.mark.parametrize("version", range(13))
async def test_metadata_of_every_version(own: Told, ask: Asker, version: int) -> None:
    own.broker.receive(FIRST)
    response = await metadata(ask, version, () if version == 0 else None)
    assert [(each.node_id, each.host, each.port) for each in response.brokers] == [(1, "one", 1), (2, "two", 3)]
    assert [topic.name for topic in response.topics] == ["a", "b"]
    led, leaderless = response.topics[0].partitions
    assert (led.error_code, led.leader_id, led.replica_nodes, led.isr_nodes) == (ErrorCode.none, 1, (1, 2), (1, 2))
    assert (leaderless.error_code, leaderless.leader_id) == (ErrorCode.leader_not_available, -1)
    assert getattr(response, "controller_id", 1) == 1
    assert getattr(response, "cluster_id", "the-cluster") == "the-cluster"
    assert getattr(led, "offline_replicas", (2,)) == (2,)


async def test_topics_go_by_name_and_by_id(own: Told, ask: Asker) -> None:
    own.broker.receive(FIRST)
    shape = shapes(3, 12, "request").MetadataRequestTopic
    stranger = uuid.uuid4()
    asked = [(None, "b"), (topic_uuid(A_ID), None), (stranger, None), (None, "nobody"), (None, "no name")]
    response = await metadata(ask, topics=tuple(shape(topic_id=each, name=name) for each, name in asked))
    assert [(topic.name, topic.error_code.name) for topic in response.topics] == [
        ("b", "none"),
        ("a", "none"),
        (None, "unknown_topic_id"),
        ("nobody", "unknown_topic_or_partition"),
        ("no name", "invalid_topic_exception"),
    ]


async def test_partitions_add_up_and_deleted_ones_go(own: Told, ask: Asker) -> None:
    own.broker.receive(FIRST)
    own.broker.receive(told(("b", 1, LED), ("a", 0, GONE)))
    response = await metadata(ask)
    assert [(topic.name, [each.partition_index for each in topic.partitions]) for topic in response.topics] == [
        ("a", [1]),
        ("b", [0, 1]),
    ]
    own.broker.receive(told(("a", 1, GONE)))
    assert [topic.name for topic in (await metadata(ask)).topics] == ["b"]


@pytest.mark.parametrize("version", [5, 8])
async def test_a_controller_elsewhere_is_heard_unless_a_newer_one_has_spoken(
    own: Told, ask: Asker, version: int
) -> None:
    assert (await send(ask, FIRST, 6, version)).error_code is ErrorCode.none
    seen = await metadata(ask)
    assert [topic.name for topic in seen.topics] == ["a", "b"]
    assert [(each.node_id, each.host) for each in seen.brokers] == [(1, "one"), (2, "two")]
    stale = await send(ask, told(("a", 0, GONE), epoch=3), 6, version)
    assert stale.error_code is ErrorCode.stale_controller_epoch
    assert await metadata(ask) == seen


@pytest.mark.parametrize("version", [2, 4, 7])
async def test_it_keeps_no_logs(own: Told, ask: Asker, version: int) -> None:
    name = TopicPartition("a", 0)
    serve = PartitionToServe(name, LED, 4, ReplicaAssignment((9, 1)), is_new=True)
    letter = Letter(LeaderAndIsrRequest(1, 4, (serve,), (1,), (("a", A_ID),)), 77, REGISTRATIONS, "PLAINTEXT")
    assert own.broker.receive(letter).partition_errors == ((name, "KAFKA_STORAGE_ERROR"),)
    response = await send(ask, letter, 4, version)
    errors = response.partition_errors if version < 5 else response.topics[0].partition_errors
    assert [(each.partition_index, each.error_code.name) for each in errors] == [(0, "kafka_storage_error")]
