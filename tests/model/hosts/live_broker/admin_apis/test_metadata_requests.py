"""What clients hear of the cluster from a broker, after what a controller has told it over the wire."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.broker.metadata_log import EligibleReplicas
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.live_broker.apis.controller_requests import ControllerRequests
from model.hosts.live_broker.apis.metadata_requests import MetadataRequests, TopicPartitionRequests
from model.hosts.live_broker.without_logs import NoReplicas
from model.hosts.live_controller.broker_channels import OutgoingRequest, entity_of
from model.hosts.wire.messages import shaped, shapes
from model.hosts.wire.names import UnavailableError, topic_uuid
from model.znodes.cluster import BrokerRegistration
from tests.harness.live_brokers import Asker, served

A_ID, B_ID = "gcf0J66hS7OMD5Anom956Q", "S3NQ4LbpSZK9c6mDNOOCng"
REGISTRATIONS = {
    1: BrokerRegistration(endpoints=("PLAINTEXT://one:1", "OTHER://one:2"), rack="r1", version=5),
    2: BrokerRegistration(endpoints=("PLAINTEXT://two:3",), version=5),
    3: BrokerRegistration(endpoints=("OTHER://three:4",), version=5),
}
LED = LeaderAndIsr(1, 5, (1, 2))
LEADERLESS = LeaderAndIsr(-1, 6, (2,))
GONE = LeaderAndIsr(-2, 0, (1,))


def told(*partitions: tuple[str, int, LeaderAndIsr], epoch: int = 4) -> OutgoingRequest:
    known = tuple(PartitionToKnow(TopicPartition(t, p), state, epoch, (1, 2), (2,)) for t, p, state in partitions)
    request = UpdateMetadataRequest(1, epoch, known, (1, 2, 3), (("a", A_ID), ("b", B_ID)))
    return OutgoingRequest(request, 77, REGISTRATIONS, "PLAINTEXT")


FIRST = told(("a", 0, LED), ("a", 1, LEADERLESS), ("b", 0, LED))


MADE: Mapping[str, str] = {"to-be-made": "LEADER_NOT_AVAILABLE", "too-large": "INVALID_REPLICATION_FACTOR"}


async def create_topic(name: str) -> str:
    return MADE.get(name, "UNKNOWN_TOPIC_OR_PARTITION")


@pytest.fixture
async def ask() -> AsyncIterator[Asker]:
    """A broker that is told by controllers."""
    replicas = NoReplicas(9)
    metadata = MetadataRequests(replicas.metadata, lambda: "the-cluster", create_topic)
    async with served({**metadata.apis, **ControllerRequests(replicas).apis}) as ask:
        yield ask


async def metadata(ask: Asker, version: int = 12, topics: Any = None) -> Any:
    wanted = {"include_topic_authorized_operations": False, "include_cluster_authorized_operations": False}
    return await ask(3, version, "MetadataRequest", topics=topics, **wanted)


async def send(ask: Asker, letter: OutgoingRequest, key: int, version: int) -> Any:
    entity = entity_of(letter, version)
    values = {name: getattr(entity, name) for name in type(entity).__dataclass_fields__}
    return await ask(key, version, type(entity).__name__, **values)


@pytest.mark.parametrize("version", range(13))
async def test_metadata_of_every_version(ask: Asker, version: int) -> None:
    await send(ask, FIRST, 6, 8)
    response = await metadata(ask, version, () if version == 0 else None)
    assert [(each.node_id, each.host, each.port) for each in response.brokers] == [(1, "one", 1), (2, "two", 3)]
    assert [topic.name for topic in response.topics] == ["a", "b"]
    led, leaderless = response.topics[0].partitions
    assert (led.error_code, led.leader_id, led.replica_nodes, led.isr_nodes) == (ErrorCode.none, 1, (1, 2), (1, 2))
    assert (leaderless.error_code, leaderless.leader_id) == (ErrorCode.leader_not_available, -1)
    assert getattr(response, "controller_id", 1) == 1
    assert getattr(response, "cluster_id", "the-cluster") == "the-cluster"
    assert getattr(led, "offline_replicas", (2,)) == (2,)


async def test_topics_go_by_name_and_by_id(ask: Asker) -> None:
    await send(ask, FIRST, 6, 8)
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


async def test_a_topic_without_its_name_is_garbage_where_it_may_not_be_null(ask: Asker) -> None:
    shape = shapes(3, 10, "request").MetadataRequestTopic
    with pytest.raises(UnavailableError, match="closed"):
        await metadata(ask, 10, (shape(topic_id=topic_uuid(A_ID), name=None),))


async def test_partitions_add_up_and_deleted_ones_go(ask: Asker) -> None:
    await send(ask, FIRST, 6, 8)
    await send(ask, told(("b", 1, LED), ("a", 0, GONE)), 6, 8)
    response = await metadata(ask)
    assert [(topic.name, [each.partition_index for each in topic.partitions]) for topic in response.topics] == [
        ("a", [1]),
        ("b", [0, 1]),
    ]
    await send(ask, told(("a", 1, GONE)), 6, 8)
    assert [topic.name for topic in (await metadata(ask)).topics] == ["b"]


@pytest.mark.parametrize("version", [5, 8])
async def test_a_controller_elsewhere_is_heard_unless_a_newer_one_has_spoken(ask: Asker, version: int) -> None:
    assert (await send(ask, FIRST, 6, version)).error_code is ErrorCode.none
    seen = await metadata(ask)
    assert [topic.name for topic in seen.topics] == ["a", "b"]
    assert [(each.node_id, each.host) for each in seen.brokers] == [(1, "one"), (2, "two")]
    stale = await send(ask, told(("a", 0, GONE), epoch=3), 6, version)
    assert stale.error_code is ErrorCode.stale_controller_epoch
    assert await metadata(ask) == seen


@pytest.mark.parametrize("version", [2, 4, 7])
async def test_it_keeps_no_logs(ask: Asker, version: int) -> None:
    name = TopicPartition("a", 0)
    serve = PartitionToServe(name, LED, 4, ReplicaAssignment((9, 1)), is_new=True)
    letter = OutgoingRequest(LeaderAndIsrRequest(1, 4, (serve,), (1,), (("a", A_ID),)), 77, REGISTRATIONS, "PLAINTEXT")
    response = await send(ask, letter, 4, version)
    errors = response.partition_errors if version < 5 else response.topics[0].partition_errors
    assert [(each.partition_index, each.error_code.name) for each in errors] == [(0, "kafka_storage_error")]


@pytest.mark.parametrize("version", [3, 4, 12])
async def test_topics_that_are_missing_are_made_if_the_client_allows_it(ask: Asker, version: int) -> None:
    """From version 4 on it may say no."""
    shape = shapes(3, version, "request").MetadataRequestTopic
    topics = tuple(shaped(shape, name=name, topic_id=None) for name in (*MADE, "nothing"))
    wanted = {"include_topic_authorized_operations": False, "include_cluster_authorized_operations": False}
    response = await ask(3, version, "MetadataRequest", topics=topics, allow_auto_topic_creation=True, **wanted)
    assert [topic.error_code.name for topic in response.topics] == [
        "leader_not_available",
        "invalid_replication_factor",
        "unknown_topic_or_partition",
    ]
    if version > 3:
        response = await ask(3, version, "MetadataRequest", topics=topics, allow_auto_topic_creation=False, **wanted)
        assert {topic.error_code.name for topic in response.topics} == {"unknown_topic_or_partition"}


@pytest.mark.parametrize("version", [0, 1])
async def test_the_cluster_is_described(ask: Asker, version: int) -> None:
    await send(ask, FIRST, 6, 8)
    response = await ask(60, version, "DescribeClusterRequest", include_cluster_authorized_operations=False)
    assert (response.error_code, response.cluster_id, response.controller_id) == (ErrorCode.none, "the-cluster", 1)
    assert [(each.broker_id, each.host, each.port, each.rack) for each in response.brokers] == [
        (1, "one", 1, "r1"),
        (2, "two", 3, None),
    ]


ELIGIBLE = {TopicPartition("a", 1): EligibleReplicas((2,), (1,))}


async def described(ask: Asker, *topics: str, most: int = 2_000, after: tuple[str, int] | None = None) -> Any:
    module = shapes(75, 0, "request")
    cursor = after and module.Cursor(topic_name=after[0], partition_index=after[1])
    named = tuple(module.TopicRequest(name=each) for each in topics)
    wanted = {"topics": named, "response_partition_limit": most, "cursor": cursor}
    return await ask(75, 0, "DescribeTopicPartitionsRequest", **wanted)


def partitions_of(response: Any) -> list[tuple[str, list[int]]]:
    return [(topic.name, [each.partition_index for each in topic.partitions]) for topic in response.topics]


def next_of(response: Any) -> tuple[str, int] | None:
    return response.next_cursor and (response.next_cursor.topic_name, response.next_cursor.partition_index)


@pytest.fixture
async def pages() -> AsyncIterator[Asker]:
    replicas = NoReplicas(9)
    told_to = ControllerRequests(replicas).apis
    async with served({**TopicPartitionRequests(replicas.metadata, lambda: ELIGIBLE).apis, **told_to}) as ask:
        await send(ask, FIRST, 6, 8)
        yield ask


async def test_partitions_are_described_with_who_may_lead_them(pages: Asker) -> None:
    response = await described(pages)
    assert (partitions_of(response), next_of(response)) == ([("a", [0, 1]), ("b", [0])], None)
    led, leaderless = response.topics[0].partitions
    assert (led.leader_id, led.isr_nodes, led.eligible_leader_replicas) == (1, (1, 2), ())
    assert (leaderless.leader_id, leaderless.eligible_leader_replicas, leaderless.last_known_elr) == (-1, (2,), (1,))


async def test_partitions_come_by_the_page(pages: Asker) -> None:
    first = await described(pages, most=1)
    assert (partitions_of(first), next_of(first)) == ([("a", [0])], ("a", 1))
    second = await described(pages, most=1, after=next_of(first))
    assert (partitions_of(second), next_of(second)) == ([("a", [1])], ("b", 0))
    last = await described(pages, most=1, after=next_of(second))
    assert (partitions_of(last), next_of(last)) == ([("b", [0])], None)
    assert partitions_of(await described(pages, most=0)) == [("a", [0])]


async def test_topics_that_cannot_be_described(pages: Asker) -> None:
    response = await described(pages, "no name", "b", "nobody")
    assert [(topic.name, topic.error_code.name) for topic in response.topics] == [
        ("b", "none"),
        ("no name", "invalid_topic_exception"),
        ("nobody", "unknown_topic_or_partition"),
    ]
    refused = await described(pages, "b", after=("b", -1))
    assert [topic.error_code.name for topic in refused.topics] == ["invalid_request"]
