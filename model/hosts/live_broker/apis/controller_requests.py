"""LeaderAndIsr, StopReplica and UpdateMetadata over the wire, as values and back.

Before 2.2, topics are not grouped, and StopReplica deletes all or nothing of what it names until 2.6.

Kafka 3.9 `KafkaApis.handleLeaderAndIsrRequest` and its neighbours, `LeaderAndIsrRequest`, `StopReplicaRequest`,
`UpdateMetadataRequest`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from model.broker.controller_requests import NO_BROKER_EPOCH
from model.broker.metadata import BrokerNode, Endpoint
from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import SECURITY_PROTOCOLS, ApiKey, error_code, topic_id_text
from model.hosts.wire.server import Api, Request

LEADER_AND_ISR_BY_ID = 5
"""LeaderAndIsr answers by topic ids from this version on."""


class ServesController(Protocol):
    """Who does what a controller says: a `ReplicaManager`, or something without replicas."""

    async def take_leader_and_isr(
        self, request: events_and_commands.LeaderAndIsrRequest, broker_epoch: int
    ) -> events_and_commands.BrokerAnswer: ...

    async def take_stop_replica(
        self, request: events_and_commands.StopReplicaRequest, broker_epoch: int
    ) -> events_and_commands.BrokerAnswer: ...

    async def take_update_metadata(
        self, request: events_and_commands.UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], broker_epoch: int
    ) -> events_and_commands.BrokerAnswer: ...


class ControllerRequests:
    """What follows from them is not decided here."""

    def __init__(self, obeys: ServesController) -> None:
        self._obeys = obeys

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.LEADER_AND_ISR: Api(0, 7, self._leader_and_isr),
            ApiKey.STOP_REPLICA: Api(0, 4, self._stop_replica),
            ApiKey.UPDATE_METADATA: Api(0, 8, self._update_metadata),
        }

    async def _leader_and_isr(self, request: Request) -> Entity:
        body = request.body
        order = events_and_commands.LeaderAndIsrRequest(
            controller=body.controller_id,
            controller_epoch=body.controller_epoch,
            partitions=tuple(_to_serve(topic, each) for topic, each in _states(body)),
            live_leaders=tuple(leader.broker_id for leader in body.live_leaders),
            topic_ids=_topic_ids(body),
        )
        answer = await self._obeys.take_leader_and_isr(order, _broker_epoch(body))
        errors = _Errors(answer)
        shape = request.shape("LeaderAndIsrPartitionError")

        def told(topic: str, each: Any) -> Entity:
            error = error_code(errors.of(topic, each.partition_index))
            return shaped(shape, topic_name=topic, partition_index=each.partition_index, error_code=error)

        error = error_code(answer.error)
        if request.start.version < LEADER_AND_ISR_BY_ID:
            flat = tuple(told(topic, each) for topic, each in _states(body))
            return request.answer("LeaderAndIsrResponse", error_code=error, partition_errors=flat)
        by_id = request.shape("LeaderAndIsrTopicError")
        topics = tuple(
            by_id(
                topic_id=topic.topic_id,
                partition_errors=tuple(told(topic.topic_name, each) for each in topic.partition_states),
            )
            for topic in body.topic_states
        )
        return request.answer("LeaderAndIsrResponse", error_code=error, topics=topics)

    async def _stop_replica(self, request: Request) -> Entity:
        body = request.body
        order = events_and_commands.StopReplicaRequest(
            controller=body.controller_id, controller_epoch=body.controller_epoch, partitions=tuple(_to_stop(body))
        )
        answer = await self._obeys.take_stop_replica(order, _broker_epoch(body))
        errors = _Errors(answer)
        told = tuple(
            request.shape("StopReplicaPartitionError")(
                topic_name=each.partition.topic,
                partition_index=each.partition.partition,
                error_code=error_code(errors.of(*each.partition)),
            )
            for each in order.partitions
        )
        return request.answer("StopReplicaResponse", error_code=error_code(answer.error), partition_errors=told)

    async def _update_metadata(self, request: Request) -> Entity:
        body = request.body
        news = events_and_commands.UpdateMetadataRequest(
            controller=body.controller_id,
            controller_epoch=body.controller_epoch,
            partitions=tuple(_to_know(topic, each) for topic, each in _states(body)),
            live_brokers=tuple(broker.id_ for broker in body.live_brokers),
            topic_ids=_topic_ids(body),
        )
        nodes = {broker.id_: _node(broker) for broker in body.live_brokers}
        answer = await self._obeys.take_update_metadata(news, nodes, _broker_epoch(body))
        return request.answer("UpdateMetadataResponse", error_code=error_code(answer.error))


class _Errors:
    """Errors by partition; one of the whole request is that of each partition, for that is where controllers look."""

    def __init__(self, answer: events_and_commands.BrokerAnswer) -> None:
        self._whole = answer.error
        self._single = dict(answer.partition_errors)

    def of(self, topic: str, number: int) -> str:
        if self._whole != "NONE":
            return self._whole
        return self._single.get(TopicPartition(topic, number), "NONE")


def _broker_epoch(body: Any) -> int:
    return getattr(body, "broker_epoch", NO_BROKER_EPOCH)


def _states(body: Any) -> Iterator[tuple[str, Any]]:
    for each in getattr(body, "ungrouped_partition_states", ()):
        yield each.topic_name, each
    for topic in getattr(body, "topic_states", ()):
        for each in topic.partition_states:
            yield topic.topic_name, each


def _to_stop(body: Any) -> Iterator[events_and_commands.PartitionToStop]:
    for topic, each in _states(body):
        name = TopicPartition(topic, each.partition_index)
        yield events_and_commands.PartitionToStop(name, each.leader_epoch, each.delete_partition)
    for each in getattr(body, "ungrouped_partitions", ()):
        name = TopicPartition(each.topic_name, each.partition_index)
        yield events_and_commands.PartitionToStop(name, events_and_commands.NO_EPOCH, body.delete_partitions)
    for topic in getattr(body, "topics", ()):
        for number in topic.partition_indexes:
            name = TopicPartition(topic.name, number)
            yield events_and_commands.PartitionToStop(name, events_and_commands.NO_EPOCH, body.delete_partitions)


def _topic_ids(body: Any) -> tuple[tuple[str, str | None], ...]:
    topics = getattr(body, "topic_states", ())
    return tuple((topic.topic_name, topic_id_text(getattr(topic, "topic_id", None))) for topic in topics)


def _to_serve(topic: str, each: Any) -> events_and_commands.PartitionToServe:
    recovering = bool(getattr(each, "leader_recovery_state", 0))
    return events_and_commands.PartitionToServe(
        partition=TopicPartition(topic, each.partition_index),
        state=LeaderAndIsr(each.leader, each.leader_epoch, tuple(each.isr), recovering, each.partition_epoch),
        controller_epoch=each.controller_epoch,
        assignment=ReplicaAssignment(
            tuple(each.replicas),
            tuple(getattr(each, "adding_replicas", ())),
            tuple(getattr(each, "removing_replicas", ())),
        ),
        is_new=getattr(each, "is_new", False),
    )


def _to_know(topic: str, each: Any) -> events_and_commands.PartitionToKnow:
    return events_and_commands.PartitionToKnow(
        partition=TopicPartition(topic, each.partition_index),
        state=LeaderAndIsr(each.leader, each.leader_epoch, tuple(each.isr), partition_epoch=each.zk_version),
        controller_epoch=each.controller_epoch,
        replicas=tuple(each.replicas),
        offline_replicas=tuple(getattr(each, "offline_replicas", ())),
    )


def _node(broker: Any) -> BrokerNode:
    """Until 0.9 a broker has one place; until 0.10.2 listeners have the names of their protocols."""
    if hasattr(broker, "v0_host"):
        return BrokerNode(broker.id_, (Endpoint("PLAINTEXT", broker.v0_host, broker.v0_port),))
    endpoints = tuple(Endpoint(_listener(each), each.host, each.port) for each in broker.endpoints)
    return BrokerNode(broker.id_, endpoints, getattr(broker, "rack", None))


def _listener(endpoint: Any) -> str:
    name: str | None = getattr(endpoint, "listener", None)
    return _PROTOCOLS.get(endpoint.security_protocol, "PLAINTEXT") if name is None else name


_PROTOCOLS = {number: name for name, number in SECURITY_PROTOCOLS.items()}
