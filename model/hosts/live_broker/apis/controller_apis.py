"""What brokers and operators ask of the controller, as events; and its answers as responses. It decides nothing.

Of brokers: AlterPartition, ControlledShutdown, AllocateProducerIds. Of operators with Kafka's own tools:
reassignments (KIP-455) and elections (KIP-460). Source: `kafka.server.KafkaApis`, `org.apache.kafka.common.requests`
(3.9).
"""

import uuid
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.events_and_commands import AnswerRequest, PartitionOutcome
from model.controller.topics import Topic
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ZERO_ID, ApiKey, error_code, topic_uuid
from model.hosts.wire.server import Api, Request

HandToController = Callable[[Callable[[int], events_and_commands.RequestReceived]], Awaitable[AnswerRequest]]
"""Hands the controller an event that was given a number, and waits for its answer."""
KnownTopics = Callable[[], Mapping[str, Topic]]
"""The topics that the controller knows at this moment."""
ALTER_PARTITION_BY_ID = 2
"""AlterPartition names topics by their ids from this version on."""


class BrokerRequests:
    """AlterPartition, ControlledShutdown and AllocateProducerIds."""

    def __init__(self, ask: HandToController, topics: KnownTopics) -> None:
        self._ask = ask
        self._topics = topics
        self._names: dict[uuid.UUID, str] = {}

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.CONTROLLED_SHUTDOWN: Api(0, 3, self._controlled_shutdown),
            ApiKey.ALTER_PARTITION: Api(0, 3, self._alter_partition),
            ApiKey.ALLOCATE_PRODUCER_IDS: Api(0, 0, self._allocate_producer_ids),
        }

    async def _controlled_shutdown(self, request: Request) -> Entity:
        broker = request.body.broker_id
        epoch = getattr(request.body, "broker_epoch", None)
        answer = await self._ask(
            lambda number: events_and_commands.ControlledShutdownRequested(
                request=number, broker=broker, broker_epoch=epoch
            )
        )
        shape = request.shape("RemainingPartition")
        left = tuple(
            shape(topic_name=each.partition.topic, partition_index=each.partition.partition)
            for each in answer.partitions
        )
        error = error_code(answer.error)
        return request.answer("ControlledShutdownResponse", error_code=error, remaining_partitions=left)

    async def _allocate_producer_ids(self, request: Request) -> Entity:
        broker, epoch = request.body.broker_id, request.body.broker_epoch
        answer = await self._ask(
            lambda number: events_and_commands.ProducerIdsRequested(request=number, broker=broker, broker_epoch=epoch)
        )
        ids = answer.producer_ids
        first, count = (-1, 0) if ids is None else (ids.first, ids.count)
        error = error_code(answer.error)
        return request.answer(
            "AllocateProducerIdsResponse", error_code=error, producer_id_start=first, producer_id_len=count
        )

    async def _alter_partition(self, request: Request) -> Entity:
        body, by_id = request.body, request.start.version >= ALTER_PARTITION_BY_ID
        names = [self._name(topic.topic_id) if by_id else topic.topic_name for topic in body.topics]
        known = [(name, topic) for name, topic in zip(names, body.topics, strict=True) if name is not None]
        proposals = tuple(_proposal(name, each) for name, topic in known for each in topic.partitions)
        answer = await self._ask(
            lambda number: events_and_commands.AlterPartitionReceived(
                request=number, broker=body.broker_id, broker_epoch=body.broker_epoch, proposals=proposals
            )
        )
        if answer.error != "NONE":
            return request.answer("AlterPartitionResponse", error_code=error_code(answer.error), topics=())
        ids = {name: topic.topic_id for name, topic in known} if by_id else {}
        shape = request.shape("TopicData")
        topics = [
            shaped(shape, topic_name=name, topic_id=ids.get(name), partitions=tuple(_outcomes(request, outcomes)))
            for name, outcomes in by_topic(answer.partitions)
        ]
        unknown = [topic for name, topic in zip(names, body.topics, strict=True) if name is None]
        topics += [_unknown_topic(request, topic) for topic in unknown]
        return request.answer("AlterPartitionResponse", error_code=ErrorCode.none, topics=tuple(topics))

    def _name(self, topic_id: uuid.UUID | None) -> str | None:
        topics = self._topics()
        name = self._names.get(topic_id or ZERO_ID)
        known = topics.get(name) if name is not None else None
        if known is None or topic_uuid(known.topic_id) != topic_id:
            self._names = {topic_uuid(topic.topic_id): name for name, topic in topics.items()}
        return self._names.get(topic_id or ZERO_ID) if topic_id else None


def by_topic(outcomes: Iterable[PartitionOutcome]) -> Iterator[tuple[str, Iterator[PartitionOutcome]]]:
    """Outcomes by the names of their topics."""
    return groupby(sorted(outcomes, key=_topic_of), key=_topic_of)


def _topic_of(outcome: PartitionOutcome) -> str:
    return outcome.partition.topic


def _proposal(topic: str, each: Any) -> events_and_commands.ProposedIsr:
    with_epochs = getattr(each, "new_isr_with_epochs", None)
    isr = each.new_isr if with_epochs is None else tuple(member.broker_id for member in with_epochs)
    recovering = bool(getattr(each, "leader_recovery_state", 0))
    partition = TopicPartition(topic, each.partition_index)
    return events_and_commands.ProposedIsr(partition, each.leader_epoch, each.partition_epoch, tuple(isr), recovering)


def _outcomes(request: Request, outcomes: Iterable[PartitionOutcome]) -> Iterator[Entity]:
    for each in outcomes:
        state, error = each.state, each.error
        if error == "INELIGIBLE_REPLICA" and request.start.version < ALTER_PARTITION_BY_ID:
            error = "OPERATION_NOT_ATTEMPTED"
        yield shaped(
            request.shape("PartitionData"),
            partition_index=each.partition.partition,
            error_code=error_code(error),
            leader_id=0 if state is None else state.leader,
            leader_epoch=0 if state is None else state.leader_epoch,
            isr=() if state is None else state.isr,
            leader_recovery_state=0 if state is None else int(state.recovering),
            partition_epoch=0 if state is None else state.partition_epoch,
        )


def _unknown_topic(request: Request, topic: Any) -> Entity:
    partitions = tuple(
        shaped(
            request.shape("PartitionData"),
            partition_index=each.partition_index,
            error_code=ErrorCode.unknown_topic_id,
            leader_id=0,
            leader_epoch=0,
            partition_epoch=0,
        )
        for each in topic.partitions
    )
    return shaped(request.shape("TopicData"), topic_id=topic.topic_id, partitions=partitions)


UNCLEAN = 1
"""ElectLeaders' election type; 0 is preferred."""


class OperatorRequests:
    """AlterPartitionReassignments, ListPartitionReassignments and ElectLeaders."""

    def __init__(self, ask: HandToController, metadata: MetadataCache) -> None:
        self._ask = ask
        self._metadata = metadata

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.ELECT_LEADERS: Api(0, 2, self._elect),
            ApiKey.ALTER_PARTITION_REASSIGNMENTS: Api(0, 0, self._reassign),
            ApiKey.LIST_PARTITION_REASSIGNMENTS: Api(0, 0, self._list),
        }

    async def _reassign(self, request: Request) -> Entity:
        targets = tuple(
            (TopicPartition(topic.name, each.partition_index), each.replicas)
            for topic in request.body.topics
            for each in topic.partitions
        )
        answer = await self._ask(
            lambda number: events_and_commands.ReassignmentsRequested(request=number, targets=targets)
        )
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
        answer = await self._ask(
            lambda number: events_and_commands.ReassignmentListRequested(request=number, partitions=names)
        )
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
        answer = await self._ask(
            lambda number: events_and_commands.ElectionRequested(request=number, partitions=names, unclean=unclean)
        )
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
