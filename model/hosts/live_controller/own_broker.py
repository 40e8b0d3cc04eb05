"""The broker that the controller runs in, as far as it is told things: it keeps metadata, and no logs.

A request of this process's own controller arrives as a value, one of a controller elsewhere over the wire. Copies that
it is to keep are refused with KAFKA_STORAGE_ERROR, which a controller takes for a failed log directory.
"""

from collections.abc import Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.requests import BrokerAnswer, LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from model.hosts.live_controller.api_keys import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from model.hosts.live_controller.metadata_cache import KnownBroker, KnownPartition, MetadataCache
from model.hosts.live_controller.names import ZERO_ID, topic_uuid
from model.hosts.live_controller.to_brokers import Letter, Registrations
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.server import Api, Request

STORAGE_ERROR = ErrorCode.kafka_storage_error


class OwnBroker:
    """`metadata` is what it was told last."""

    def __init__(self) -> None:
        self.metadata = MetadataCache()
        self._controller_epoch = 0

    @property
    def apis(self) -> Mapping[int, Api]:
        """What a controller elsewhere may ask."""
        return {
            LEADER_AND_ISR: Api(2, 7, self._leader_and_isr),
            STOP_REPLICA: Api(3, 4, self._stop_replica),
            UPDATE_METADATA: Api(5, 8, self._update_metadata),
        }

    def receive(self, letter: Letter) -> BrokerAnswer:
        """What this process's own controller says."""
        request = letter.request
        self._controller_epoch = max(self._controller_epoch, request.controller_epoch)
        match request:
            case UpdateMetadataRequest():
                self._learn(request, letter.registrations)
                return BrokerAnswer()
            case LeaderAndIsrRequest():
                return BrokerAnswer(
                    partition_errors=tuple((e.partition, "KAFKA_STORAGE_ERROR") for e in request.partitions)
                )
            case StopReplicaRequest():
                return BrokerAnswer()

    def _learn(self, request: UpdateMetadataRequest, registrations: Registrations) -> None:
        brokers = {
            broker: KnownBroker({each.listener: (each.host, each.port) for each in known.listeners}, known.rack)
            for broker in request.live_brokers
            if (known := registrations.get(broker)) is not None
        }
        partitions = (
            (
                entry.partition,
                KnownPartition(
                    entry.state.leader,
                    entry.state.leader_epoch,
                    entry.state.isr,
                    entry.replicas,
                    entry.offline_replicas,
                ),
            )
            for entry in request.partitions
        )
        ids = {name: topic_uuid(text) for name, text in request.topic_ids}
        self.metadata.learn(request.controller, brokers, partitions, ids)

    async def _update_metadata(self, request: Request) -> Entity:
        body = request.body
        if self._is_stale(body):
            return request.answer("UpdateMetadataResponse", error_code=ErrorCode.stale_controller_epoch)
        brokers = {
            each.id_: KnownBroker({place.listener: (place.host, place.port) for place in each.endpoints}, each.rack)
            for each in body.live_brokers
        }
        partitions = (
            (
                TopicPartition(topic.topic_name, each.partition_index),
                KnownPartition(each.leader, each.leader_epoch, each.isr, each.replicas, each.offline_replicas),
            )
            for topic in body.topic_states
            for each in topic.partition_states
        )
        ids = {topic.topic_name: getattr(topic, "topic_id", None) or ZERO_ID for topic in body.topic_states}
        self.metadata.learn(body.controller_id, brokers, partitions, ids)
        return request.answer("UpdateMetadataResponse", error_code=ErrorCode.none)

    async def _leader_and_isr(self, request: Request) -> Entity:
        body = request.body
        if self._is_stale(body):
            error = ErrorCode.stale_controller_epoch
            return request.answer("LeaderAndIsrResponse", error_code=error, topics=(), partition_errors=())
        shape = request.shape("LeaderAndIsrPartitionError")

        def errors(topic: Any) -> tuple[Entity, ...]:
            return tuple(
                shaped(
                    shape,
                    topic_name=topic.topic_name,
                    partition_index=each.partition_index,
                    error_code=STORAGE_ERROR,
                )
                for each in topic.partition_states
            )

        if request.start.version < 5:
            flat = tuple(error for topic in body.topic_states for error in errors(topic))
            return request.answer("LeaderAndIsrResponse", error_code=ErrorCode.none, partition_errors=flat)
        by_id = request.shape("LeaderAndIsrTopicError")
        topics = tuple(by_id(topic_id=each.topic_id, partition_errors=errors(each)) for each in body.topic_states)
        return request.answer("LeaderAndIsrResponse", error_code=ErrorCode.none, topics=topics)

    async def _stop_replica(self, request: Request) -> Entity:
        stale = self._is_stale(request.body)
        error = ErrorCode.stale_controller_epoch if stale else ErrorCode.none
        return request.answer("StopReplicaResponse", error_code=error, partition_errors=())

    def _is_stale(self, body: Any) -> bool:
        """Whether a newer controller has spoken already; remembers the newest."""
        stale = body.controller_epoch < self._controller_epoch
        self._controller_epoch = max(self._controller_epoch, body.controller_epoch)
        return stale
