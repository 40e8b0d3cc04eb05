"""What is asked of brokers on KRaft beside their metadata, over a socket: the controller, ELRs, and who is fenced."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kio.schema.errors import ErrorCode

from model.hosts.kafka_client import ReadingClient
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api, Request, Server
from model.sources.kafka.cluster_survey import ClusterSurvey
from model.sources.kafka.views import ClusterView
from tests.model.sources.kafka.test_quorum_survey import answer as quorum_answer

NAMED_IN_METADATA, LEADER = 1, 3
PARTITIONS = 3
ELR, LAST_KNOWN = (2,), (1,)


@dataclass
class Broker:
    """Broker 1, which names itself as the controller, as KRaft has it. Topic `led` is in sync, `lost` is not."""

    cluster_version: int = 2
    quorum_error: ErrorCode = ErrorCode.none
    is_fenced: bool = True
    """Whether broker 2 is."""
    port: int = 0
    pages: list[int] = field(default_factory=list[int])
    """Where each page of partitions began."""
    asked_for: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def apis(self) -> dict[int, Api]:
        lowest = min(self.cluster_version, 1)
        return {
            ApiKey.METADATA: Api(12, 12, self._metadata),
            ApiKey.DESCRIBE_CONFIGS: Api(4, 4, self._configs),
            ApiKey.DESCRIBE_QUORUM: Api(0, 1, self._quorum),
            ApiKey.DESCRIBE_CLUSTER: Api(lowest, self.cluster_version, self._cluster),
            ApiKey.DESCRIBE_TOPIC_PARTITIONS: Api(0, 0, self._partitions),
        }

    async def _metadata(self, request: Request) -> Entity:
        broker, topic = request.shape("MetadataResponseBroker"), request.shape("MetadataResponseTopic")
        place = request.shape("MetadataResponsePartition")
        rest = {"error_code": ErrorCode.none, "offline_replicas": ()}

        def partitions(leader: int, isr: tuple[int, ...]) -> tuple[Entity, ...]:
            facts = {"leader_id": leader, "leader_epoch": 4, "replica_nodes": (1, 2), "isr_nodes": isr, **rest}
            return tuple(place(partition_index=number, **facts) for number in range(PARTITIONS))

        topics = tuple(
            topic(
                error_code=ErrorCode.none, name=name, topic_id=uuid.UUID(int=number), is_internal=False,
                partitions=partitions(*led), topic_authorized_operations=0,
            )
            for number, (name, led) in enumerate({"led": (1, (1, 2)), "lost": (-1, ())}.items(), 1)
        )  # fmt: skip
        brokers = (broker(node_id=1, host="127.0.0.1", port=self.port, rack=None),)
        return request.answer(
            "MetadataResponse", brokers=brokers, cluster_id="c", controller_id=NAMED_IN_METADATA, topics=topics
        )

    async def _configs(self, request: Request) -> Entity:
        return request.answer("DescribeConfigsResponse", results=())

    async def _quorum(self, request: Request) -> Entity:
        return quorum_answer(request, LEADER, self.quorum_error)

    async def _cluster(self, request: Request) -> Entity:
        broker = request.shape("DescribeClusterBroker")
        told = {"host": "h2", "port": 9092, "rack": "r2"}
        listed = [broker(broker_id=1, host="127.0.0.1", port=self.port, rack=None, is_fenced=False)]
        if request.body.include_fenced_brokers:
            listed.append(broker(broker_id=2, **told, is_fenced=self.is_fenced))
        return request.answer(
            "DescribeClusterResponse", error_code=ErrorCode.none, error_message=None, endpoint_type=1, cluster_id="c",
            controller_id=1, brokers=tuple(listed), cluster_authorized_operations=0,
        )  # fmt: skip

    async def _partitions(self, request: Request) -> Entity:
        """One a page."""
        topic = request.shape("DescribeTopicPartitionsResponseTopic")
        place, cursor = request.shape("DescribeTopicPartitionsResponsePartition"), request.shape("Cursor")
        number = 0 if request.body.cursor is None else int(request.body.cursor.partition_index)
        self.pages.append(number)
        self.asked_for.append(tuple(str(each.name) for each in request.body.topics))
        partition = place(
            error_code=ErrorCode.none, partition_index=number, leader_id=-1, leader_epoch=4, replica_nodes=(1, 2),
            isr_nodes=(), eligible_leader_replicas=ELR, last_known_elr=LAST_KNOWN, offline_replicas=(),
        )  # fmt: skip
        topics = (
            topic(
                error_code=ErrorCode.none, name="lost", topic_id=None, is_internal=False, partitions=(partition,),
                topic_authorized_operations=0,
            ),
        )  # fmt: skip
        more = number + 1 < PARTITIONS
        after = cursor(topic_name="lost", partition_index=number + 1) if more else None
        return request.answer("DescribeTopicPartitionsResponse", topics=topics, next_cursor=after)


@asynccontextmanager
async def looked_at(broker: Broker) -> AsyncIterator[tuple[ClusterView, list[str]]]:
    """What one look brings, and what could not be had."""
    server = Server(broker.apis())
    broker.port = await server.start("127.0.0.1", 0)
    client = ReadingClient([("127.0.0.1", broker.port)], "test", 20.0)
    try:
        survey = ClusterSurvey(client)
        await survey.look()
        yield survey.view, survey.silent
    finally:
        await client.close()
        await server.close()


async def test_the_controller_is_who_leads_the_quorum_whatever_metadata_names() -> None:
    async with looked_at(Broker()) as (view, _):
        assert (view.generation, view.controller) == ("kraft", LEADER)


async def test_who_may_not_ask_for_the_quorum_takes_nobody_of_metadata_for_the_controller() -> None:
    async with looked_at(Broker(quorum_error=ErrorCode.cluster_authorization_failed)) as (view, silent):
        assert (view.controller, view.quorum) == (-1, None)
    assert any("DESCRIBE on the cluster" in line for line in silent)


async def test_fenced_brokers_are_asked_for_and_told_apart_where_brokers_know_them() -> None:
    async with looked_at(Broker()) as (view, _):
        assert view.brokers.keys() == {1}
        assert view.fenced is not None
        assert {number: (one.host, one.rack) for number, one in view.fenced.items()} == {2: ("h2", "r2")}


async def test_a_broker_that_comes_back_between_two_questions_is_not_gone() -> None:
    async with looked_at(Broker(is_fenced=False)) as (view, _):
        assert (view.brokers.keys(), (view.fenced or {}).keys()) == ({1}, {2})


async def test_before_4_0_nobody_knows_who_is_fenced() -> None:
    async with looked_at(Broker(cluster_version=1)) as (view, silent):
        assert view.fenced is None
    assert not any("fenced" in line for line in silent)


async def test_eligible_leader_replicas_are_asked_for_page_by_page_where_there_may_be_some() -> None:
    broker = Broker()
    async with looked_at(broker) as (view, _):
        places = view.topics["lost"].places
        assert {number: (place.elr, place.last_known_elr) for number, place in places.items()} == dict.fromkeys(
            range(PARTITIONS), (ELR, LAST_KNOWN)
        )
        assert view.tells_elr
        assert {place.elr for place in view.topics["led"].places.values()} == {None}
    assert (broker.pages, set(broker.asked_for)) == ([0, 1, 2], {("lost",)})
