"""What people ask of the controller with Kafka's own tools: reassignments and elections. It decides nothing.

Source: `kafka.server.KafkaApis` (3.9), KIP-455, KIP-460.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.commands import PartitionOutcome
from model.controller.events import ElectionRequested, ReassignmentListRequested, ReassignmentsRequested
from model.hosts.live_broker.admin_apis.broker_requests import HandToController, by_topic
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.wire.api_keys import (
    ALTER_PARTITION_REASSIGNMENTS,
    ELECT_LEADERS,
    LIST_PARTITION_REASSIGNMENTS,
)
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Api, Request

UNCLEAN = 1
"""ElectLeaders' election type; 0 is preferred."""


class OperatorRequests:
    """AlterPartitionReassignments, ListPartitionReassignments and ElectLeaders."""

    def __init__(self, ask: HandToController, metadata: MetadataCache) -> None:
        self._ask = ask
        self._metadata = metadata

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {
            ELECT_LEADERS: Api(0, 2, self._elect),
            ALTER_PARTITION_REASSIGNMENTS: Api(0, 0, self._reassign),
            LIST_PARTITION_REASSIGNMENTS: Api(0, 0, self._list),
        }

    async def _reassign(self, request: Request) -> Entity:
        targets = tuple(
            (TopicPartition(topic.name, each.partition_index), each.replicas)
            for topic in request.body.topics
            for each in topic.partitions
        )
        answer = await self._ask(lambda number: ReassignmentsRequested(request=number, targets=targets))
        inner = request.shape("ReassignablePartitionResponse")
        topics = tuple(
            request.shape("ReassignableTopicResponse")(name=name, partitions=tuple(_errors(inner, outcomes)))
            for name, outcomes in by_topic(answer.partitions)
        )
        return request.answer(
            "AlterPartitionReassignmentsResponse",
            error_code=error_code(answer.error),
            error_message=None,
            responses=topics,
        )

    async def _list(self, request: Request) -> Entity:
        asked: Any = request.body.topics
        names = None
        if asked is not None:
            names = tuple(TopicPartition(topic.name, number) for topic in asked for number in topic.partition_indexes)
        answer = await self._ask(lambda number: ReassignmentListRequested(request=number, partitions=names))
        inner = request.shape("OngoingPartitionReassignment")
        topics = tuple(
            request.shape("OngoingTopicReassignment")(
                name=name,
                partitions=tuple(
                    inner(
                        partition_index=each.partition.partition,
                        replicas=each.assignment.replicas,
                        adding_replicas=each.assignment.adding,
                        removing_replicas=each.assignment.removing,
                    )
                    for each in outcomes
                    if each.assignment is not None
                ),
            )
            for name, outcomes in by_topic(answer.partitions)
        )
        return request.answer(
            "ListPartitionReassignmentsResponse", error_code=error_code(answer.error), error_message=None, topics=topics
        )

    async def _elect(self, request: Request) -> Entity:
        asked = request.body.topic_partitions
        unclean = getattr(request.body, "election_type", 0) == UNCLEAN
        names = tuple(self._everything() if asked is None else _named(asked))
        answer = await self._ask(lambda number: ElectionRequested(request=number, partitions=names, unclean=unclean))
        # Whoever asks for all of them wants to hear only of those where there was something to do.
        told = [each for each in answer.partitions if asked is not None or each.error != "ELECTION_NOT_NEEDED"]
        results = tuple(
            request.shape("ReplicaElectionResult")(
                topic=name,
                partition_result=tuple(
                    request.shape("PartitionResult")(
                        partition_id=each.partition.partition, error_code=error_code(each.error), error_message=None
                    )
                    for each in outcomes
                ),
            )
            for name, outcomes in by_topic(told)
        )
        error = error_code(answer.error)
        return request.answer("ElectLeadersResponse", error_code=error, replica_election_results=results)

    def _everything(self) -> Iterator[TopicPartition]:
        for topic, partitions in self._metadata.image.topics.items():
            for number in partitions:
                yield TopicPartition(topic, number)


def _named(topics: Iterable[Any]) -> Iterator[TopicPartition]:
    for topic in topics:
        for number in topic.partitions:
            yield TopicPartition(topic.topic, number)


def _errors(shape: type[Entity], outcomes: Iterable[PartitionOutcome]) -> Iterator[Entity]:
    for each in outcomes:
        number, error = each.partition.partition, error_code(each.error)
        yield shaped(shape, partition_index=number, error_code=error, error_message=_message(error))


def _message(error: ErrorCode) -> str | None:
    return None if error is ErrorCode.none else error.name.upper()
