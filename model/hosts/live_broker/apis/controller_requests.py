"""LeaderAndIsr, StopReplica and UpdateMetadata over the wire, as values and back.

Kafka 3.9 `KafkaApis.handleLeaderAndIsrRequest` and its neighbours. What brokers before 2.6 know has another layout.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from model.broker.metadata import BrokerNode, Endpoint
from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, error_code, topic_id_text
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
            ApiKey.LEADER_AND_ISR: Api(2, 7, self._leader_and_isr),
            ApiKey.STOP_REPLICA: Api(3, 4, self._stop_replica),
            ApiKey.UPDATE_METADATA: Api(5, 8, self._update_metadata),
        }

    async def _leader_and_isr(self, request: Request) -> Entity:
        body = request.body
        order = events_and_commands.LeaderAndIsrRequest(
            controller=body.controller_id,
            controller_epoch=body.controller_epoch,
            partitions=tuple(_to_serve(topic.topic_name, each) for topic, each in _states(body)),
            live_leaders=tuple(leader.broker_id for leader in body.live_leaders),
            topic_ids=_topic_ids(body),
        )
        answer = await self._obeys.take_leader_and_isr(order, body.broker_epoch)
        errors = _Errors(answer)
        shape = request.shape("LeaderAndIsrPartitionError")

        def told(topic: Any) -> tuple[Entity, ...]:
            return tuple(
                shaped(
                    shape,
                    topic_name=topic.topic_name,
                    partition_index=each.partition_index,
                    error_code=error_code(errors.of(topic.topic_name, each.partition_index)),
                )
                for each in topic.partition_states
            )

        error = error_code(answer.error)
        if request.start.version < LEADER_AND_ISR_BY_ID:
            flat = tuple(each for topic in body.topic_states for each in told(topic))
            return request.answer("LeaderAndIsrResponse", error_code=error, partition_errors=flat)
        by_id = request.shape("LeaderAndIsrTopicError")
        topics = tuple(by_id(topic_id=topic.topic_id, partition_errors=told(topic)) for topic in body.topic_states)
        return request.answer("LeaderAndIsrResponse", error_code=error, topics=topics)

    async def _stop_replica(self, request: Request) -> Entity:
        body = request.body
        order = events_and_commands.StopReplicaRequest(
            controller=body.controller_id,
            controller_epoch=body.controller_epoch,
            partitions=tuple(
                events_and_commands.PartitionToStop(
                    TopicPartition(topic.topic_name, each.partition_index), each.leader_epoch, each.delete_partition
                )
                for topic, each in _states(body)
            ),
        )
        answer = await self._obeys.take_stop_replica(order, body.broker_epoch)
        errors = _Errors(answer)
        told = tuple(
            request.shape("StopReplicaPartitionError")(
                topic_name=topic.topic_name,
                partition_index=each.partition_index,
                error_code=error_code(errors.of(topic.topic_name, each.partition_index)),
            )
            for topic, each in _states(body)
        )
        return request.answer("StopReplicaResponse", error_code=error_code(answer.error), partition_errors=told)

    async def _update_metadata(self, request: Request) -> Entity:
        body = request.body
        news = events_and_commands.UpdateMetadataRequest(
            controller=body.controller_id,
            controller_epoch=body.controller_epoch,
            partitions=tuple(_to_know(topic.topic_name, each) for topic, each in _states(body)),
            live_brokers=tuple(broker.id_ for broker in body.live_brokers),
            topic_ids=_topic_ids(body),
        )
        nodes = {broker.id_: _node(broker) for broker in body.live_brokers}
        answer = await self._obeys.take_update_metadata(news, nodes, body.broker_epoch)
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


def _states(body: Any) -> Iterator[tuple[Any, Any]]:
    for topic in body.topic_states:
        for each in topic.partition_states:
            yield topic, each


def _topic_ids(body: Any) -> tuple[tuple[str, str | None], ...]:
    return tuple((topic.topic_name, topic_id_text(getattr(topic, "topic_id", None))) for topic in body.topic_states)


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
        is_new=each.is_new,
    )


def _to_know(topic: str, each: Any) -> events_and_commands.PartitionToKnow:
    return events_and_commands.PartitionToKnow(
        partition=TopicPartition(topic, each.partition_index),
        state=LeaderAndIsr(each.leader, each.leader_epoch, tuple(each.isr), partition_epoch=each.zk_version),
        controller_epoch=each.controller_epoch,
        replicas=tuple(each.replicas),
        offline_replicas=tuple(each.offline_replicas),
    )


def _node(broker: Any) -> BrokerNode:
    endpoints = tuple(Endpoint(each.listener, each.host, each.port) for each in broker.endpoints)
    return BrokerNode(broker.id_, endpoints, broker.rack)
