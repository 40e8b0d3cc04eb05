"""What a controller sends to brokers, in the version that the receiver knows; and what they answer, as its values.

Source: `kafka.controller.AbstractControllerBrokerRequestBatch`, `org.apache.kafka.common.requests` (3.9). LeaderAndIsr
from v2, UpdateMetadata from v5 and StopReplica from v3 on are written: brokers of 2.6 and newer.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.requests import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.wire.api_keys import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import SECURITY_PROTOCOLS, error_name, topic_id_text, topic_uuid
from model.znodes.brokers import BrokerRegistration, Endpoint

Entry = TypeVar("Entry", PartitionToServe, PartitionToKnow, PartitionToStop)
Registrations = Mapping[int, BrokerRegistration]
LOWEST: Mapping[int, int] = {LEADER_AND_ISR: 2, UPDATE_METADATA: 5, STOP_REPLICA: 3}
"""Before these versions the layout is another one."""


class Letter(msgspec.Struct, frozen=True):
    """A request to one broker. `registrations` are those of all brokers at the time, for their addresses."""

    request: BrokerRequest
    broker_epoch: int
    registrations: Registrations
    listener: str


def endpoint(registration: BrokerRegistration, listener: str) -> Endpoint | None:
    """Where a broker listens under this name, or else the first place where it does."""
    listeners = registration.listeners
    return next((each for each in listeners if each.listener == listener), listeners[0] if listeners else None)


def api_key(request: BrokerRequest) -> int:
    """Which API a request is for."""
    return _KEYS[type(request)]


def entity_of(letter: Letter, version: int) -> Entity:
    """The request in this version of its API, which must not be below LOWEST."""
    return _WRITE[type(letter.request)](letter, letter.request, shapes(api_key(letter.request), version, "request"))


def answer_of(request: BrokerRequest, response: Entity) -> BrokerAnswer:
    """What a broker answered."""
    return BrokerAnswer(error_name(response.error_code), tuple(_partition_errors(request, response)))


def _leader_and_isr(letter: Letter, request: LeaderAndIsrRequest, module: Any) -> Entity:
    def state(entry: PartitionToServe) -> Entity:
        return shaped(
            module.LeaderAndIsrPartitionState,
            partition_index=entry.partition.partition,
            controller_epoch=entry.controller_epoch,
            leader=entry.state.leader,
            leader_epoch=entry.state.leader_epoch,
            isr=entry.state.isr,
            partition_epoch=entry.state.partition_epoch,
            replicas=entry.assignment.replicas,
            adding_replicas=entry.assignment.adding,
            removing_replicas=entry.assignment.removing,
            is_new=entry.is_new,
            leader_recovery_state=int(entry.state.recovering),
        )

    ids = dict(request.topic_ids)
    topics = tuple(
        shaped(
            module.LeaderAndIsrTopicState,
            topic_name=topic,
            topic_id=topic_uuid(ids.get(topic)),
            partition_states=tuple(map(state, entries)),
        )
        for topic, entries in _by_topic(request.partitions)
    )
    leaders = tuple(
        module.LeaderAndIsrLiveLeader(broker_id=broker, host_name=place.host, port=place.port)
        for broker in request.live_leaders
        if (known := letter.registrations.get(broker)) is not None
        and (place := endpoint(known, letter.listener)) is not None
    )
    return _request(module.LeaderAndIsrRequest, letter, type_=0, topic_states=topics, live_leaders=leaders)


def _update_metadata(letter: Letter, request: UpdateMetadataRequest, module: Any) -> Entity:
    def state(entry: PartitionToKnow) -> Entity:
        return shaped(
            module.UpdateMetadataPartitionState,
            partition_index=entry.partition.partition,
            controller_epoch=entry.controller_epoch,
            leader=entry.state.leader,
            leader_epoch=entry.state.leader_epoch,
            isr=entry.state.isr,
            zk_version=entry.state.partition_epoch,
            replicas=entry.replicas,
            offline_replicas=entry.offline_replicas,
        )

    ids = dict(request.topic_ids)
    topics = tuple(
        shaped(
            module.UpdateMetadataTopicState,
            topic_name=topic,
            topic_id=topic_uuid(ids.get(topic)),
            partition_states=tuple(map(state, entries)),
        )
        for topic, entries in _by_topic(request.partitions)
    )
    brokers = tuple(
        _live_broker(broker, letter.registrations[broker], module)
        for broker in request.live_brokers
        if broker in letter.registrations
    )
    return _request(module.UpdateMetadataRequest, letter, topic_states=topics, live_brokers=brokers)


def _live_broker(broker: int, registration: BrokerRegistration, module: Any) -> Entity:
    endpoints = tuple(
        module.UpdateMetadataEndpoint(
            port=place.port,
            host=place.host,
            listener=place.listener,
            security_protocol=SECURITY_PROTOCOLS.get(place.security_protocol, 0),
        )
        for place in registration.listeners
    )
    return module.UpdateMetadataBroker(id_=broker, endpoints=endpoints, rack=registration.rack)


def _stop_replica(letter: Letter, request: StopReplicaRequest, module: Any) -> Entity:
    topics = tuple(
        module.StopReplicaTopicState(
            topic_name=topic,
            partition_states=tuple(
                module.StopReplicaPartitionState(
                    partition_index=entry.partition.partition,
                    leader_epoch=entry.leader_epoch,
                    delete_partition=entry.delete,
                )
                for entry in entries
            ),
        )
        for topic, entries in _by_topic(request.partitions)
    )
    return _request(module.StopReplicaRequest, letter, topic_states=topics)


def _request(shape: type[Entity], letter: Letter, **values: object) -> Entity:
    request = letter.request
    return shaped(
        shape,
        controller_id=request.controller,
        controller_epoch=request.controller_epoch,
        broker_epoch=letter.broker_epoch,
        **values,
    )


def _by_topic(entries: Iterable[Entry]) -> Iterator[tuple[str, Iterator[Entry]]]:
    return groupby(sorted(entries, key=_topic), key=_topic)


def _topic(entry: PartitionToServe | PartitionToKnow | PartitionToStop) -> str:
    return entry.partition.topic


def _partition_errors(request: BrokerRequest, response: Entity) -> Iterator[tuple[TopicPartition, str]]:
    """LeaderAndIsr answers by topic id from v5 on, by name before; UpdateMetadata says nothing of partitions."""
    topics: Any = getattr(response, "topics", ())
    if topics and isinstance(request, LeaderAndIsrRequest):
        names = {text: name for name, text in request.topic_ids}
        for topic in topics:
            name = names.get(topic_id_text(topic.topic_id))
            for each in topic.partition_errors:
                if each.error_code and name is not None:
                    yield TopicPartition(name, each.partition_index), error_name(each.error_code)
    for each in getattr(response, "partition_errors", ()):
        if each.error_code:
            yield TopicPartition(each.topic_name, each.partition_index), error_name(each.error_code)


_KEYS: Mapping[type[BrokerRequest], int] = {
    LeaderAndIsrRequest: LEADER_AND_ISR,
    UpdateMetadataRequest: UPDATE_METADATA,
    StopReplicaRequest: STOP_REPLICA,
}
_WRITE: Mapping[type[BrokerRequest], Callable[[Letter, Any, Any], Entity]] = {
    LeaderAndIsrRequest: _leader_and_isr,
    UpdateMetadataRequest: _update_metadata,
    StopReplicaRequest: _stop_replica,
}
