"""What brokers, and other controllers, ask an active controller: to be registered, to be alive, to change partitions.

As events and requests of `model.kraft_controller`, and its answers as Kafka's responses.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.quorum.active_controller import ActiveController, now_ms
from model.hosts.quorum.controller_state import PRODUCER_IDS
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import topic_id_text
from model.hosts.wire.server import Request as Received
from model.kraft_controller.cluster import BrokerRegistered
from model.kraft_controller.decide import BrokerRegisters, decide
from model.kraft_controller.heartbeats import Heartbeat, KnownRegistrations, Registering, heard, registration_error
from model.kraft_controller.partition_change import MIGRATING
from model.kraft_controller.requests import (
    AlterPartition,
    AssignReplicasToDirs,
    LeaderProposal,
    alter_partition,
    assign_replicas_to_dirs,
)
from model.kraft_controller.written import registration_version
from model.metadata_log.encoder import encode_record

Answers = Callable[[ActiveController, Received], Entity]


def _register(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    state = controller.active
    broker, incarnation = int(body.broker_id), _text(body.incarnation_id)
    dirs = tuple(_text(each) for each in getattr(body, "log_dirs", ()))
    features = {
        str(each.name): (int(each.min_supported_version), int(each.max_supported_version)) for each in body.features
    }
    wanted = Registering(broker, incarnation, dirs, features, str(body.cluster_id))
    known = KnownRegistrations(state.cluster_id, state.incarnations, state.features, controller.periods.session_ms)
    error = registration_error(state.cluster, state.memory, wanted, known, now_ms())
    if error is not ErrorCode.none:
        return received.answer("BrokerRegistrationResponse", error_code=error, broker_epoch=-1)
    before = state.cluster.brokers.get(broker)
    event = BrokerRegisters(
        broker,
        controller.voter.node.log.end,
        clean=before is not None and before.epoch == getattr(body, "previous_broker_epoch", -1),
        again=state.incarnations.get(broker) == incarnation,
        rack=body.rack,
        directories=dirs,
    )
    controller.at_the_end()
    *others, registered = decide(state.cluster, event).records
    assert isinstance(registered, BrokerRegistered)
    values = state.write(others)
    values.append(state.register(registered, _broker(body, registered, incarnation), registration_version(state.level)))
    controller.propose(values)
    return received.answer("BrokerRegistrationResponse", error_code=ErrorCode.none, broker_epoch=registered.epoch)


def _heartbeat(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    state = controller.active
    failed = tuple(_text(each) for each in getattr(body, "offline_log_dirs", ()))
    cordoned = getattr(body, "cordoned_log_dirs", None)
    beat = Heartbeat(
        int(body.broker_id),
        int(body.broker_epoch),
        int(body.current_metadata_offset),
        body.want_fence,
        body.want_shut_down,
        failed,
        None if cordoned is None else tuple(_text(each) for each in cordoned),
    )
    told = heard(state.cluster, state.memory, beat, now_ms())
    state.memory = told.memory
    for event in told.events:
        controller.happens(event)
    reply = told.reply
    return received.answer(
        "BrokerHeartbeatResponse",
        error_code=told.error,
        is_caught_up=reply.is_caught_up,
        is_fenced=reply.is_fenced,
        should_shut_down=reply.should_shut_down,
    )


def _allocate(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    state = controller.active
    broker, epoch = int(body.broker_id), int(body.broker_epoch)
    registered = state.cluster.brokers.get(broker)
    is_stale = registered is None or registered.epoch != epoch
    first = state.next_producer_id
    if not is_stale:
        fields = {"brokerId": broker, "brokerEpoch": epoch, "nextProducerId": first + PRODUCER_IDS}
        controller.append([encode_record("ProducerIdsRecord", 0, fields)])
    return received.answer(
        "AllocateProducerIdsResponse",
        error_code=ErrorCode.stale_broker_epoch if is_stale else ErrorCode.none,
        producer_id_start=0 if is_stale else first,
        producer_id_len=0 if is_stale else PRODUCER_IDS,
    )


def _register_controller(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    fields: dict[str, Any] = {
        "controllerId": int(body.controller_id),
        "incarnationId": _text(body.incarnation_id),
        "zkMigrationReady": body.zk_migration_ready,
        "endPoints": _endpoints(body.listeners),
        "features": _features(body.features),
    }
    controller.append([encode_record("RegisterControllerRecord", 0, fields)])
    return received.answer("ControllerRegistrationResponse", error_code=ErrorCode.none, error_message=None)


def _name(controller: ActiveController, topic_id: Any) -> str:
    """Empty for a topic that nobody knows."""
    text = topic_id_text(topic_id)
    return next((name for name, id_ in controller.active.topic_ids.items() if id_ == text), "")


def _alter_partition(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    asked = [
        (TopicPartition(_name(controller, topic.topic_id), int(each.partition_index)), each)
        for topic in body.topics
        for each in topic.partitions
    ]
    proposals = tuple(_proposal(*each) for each in asked)
    answer = alter_partition(
        controller.active.cluster, AlterPartition(int(body.broker_id), int(body.broker_epoch), proposals)
    )
    controller.write(answer.records)
    told = iter(zip(proposals, answer.errors, strict=False))
    topics = tuple(
        received.shape("TopicData")(
            topic_id=topic.topic_id,
            partitions=tuple(
                _altered(controller, received, proposal.partition, error)
                for proposal, error in islice(told, len(topic.partitions))
            ),
        )
        for topic in (body.topics if answer.error is ErrorCode.none else ())
    )
    return received.answer("AlterPartitionResponse", error_code=answer.error, topics=topics)


def _altered(controller: ActiveController, received: Received, name: TopicPartition, error: ErrorCode) -> Entity:
    is_told = error in (ErrorCode.none, ErrorCode.new_leader_elected)
    now = controller.active.cluster.find(name) if is_told else None
    return received.shape("PartitionData")(
        partition_index=name.partition,
        error_code=error,
        leader_id=now.leader if now else 0,
        leader_epoch=now.leader_epoch if now else 0,
        isr=now.isr if now else (),
        leader_recovery_state=int(now.recovering) if now else 0,
        partition_epoch=now.partition_epoch if now else 0,
    )


def _assign(controller: ActiveController, received: Received) -> Entity:
    body: Any = received.body
    places = [
        (TopicPartition(_name(controller, topic.topic_id), int(each.partition_index)), _text(directory.id_))
        for directory in body.directories
        for topic in directory.topics
        for each in topic.partitions
    ]
    request = AssignReplicasToDirs(int(body.broker_id), int(body.broker_epoch), tuple(places))
    answer = assign_replicas_to_dirs(controller.active.cluster, request)
    controller.write(answer.records)
    errors = iter(answer.errors)
    directories = tuple(
        received.shape("DirectoryData")(
            id_=directory.id_,
            topics=tuple(
                received.shape("TopicData")(
                    topic_id=topic.topic_id,
                    partitions=tuple(
                        received.shape("PartitionData")(partition_index=each.partition_index, error_code=next(errors))
                        for each in topic.partitions
                    ),
                )
                for topic in directory.topics
            ),
        )
        for directory in (body.directories if answer.error is ErrorCode.none else ())
    )
    return received.answer("AssignReplicasToDirsResponse", error_code=answer.error, directories=directories)


def _text(id_: Any) -> str:
    """Also of all zeros, which is a directory that nobody named."""
    return topic_id_text(id_) or MIGRATING


def _broker(body: Any, registered: BrokerRegistered, incarnation: str) -> dict[str, Any]:
    return {
        "brokerId": registered.broker,
        "isMigratingZkBroker": False,
        "incarnationId": incarnation,
        "brokerEpoch": registered.epoch,
        "endPoints": _endpoints(body.listeners),
        "features": _features(body.features),
        "rack": registered.rack,
        "fenced": registered.fenced,
        "inControlledShutdown": registered.in_controlled_shutdown,
        "logDirs": list(registered.directories),
    }


def _endpoints(listeners: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "host": each.host, "port": int(each.port), "securityProtocol": int(each.security_protocol)}
        for each in listeners
    ]


def _features(features: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "minSupportedVersion": int(each.min_supported_version),
            "maxSupportedVersion": int(each.max_supported_version),
        }
        for each in features
    ]


def _proposal(name: TopicPartition, asked: Any) -> LeaderProposal:
    epochs: dict[int, int] = {}
    if hasattr(asked, "new_isr_with_epochs"):
        epochs = {int(each.broker_id): int(each.broker_epoch) for each in asked.new_isr_with_epochs}
    isr = tuple(epochs) or tuple(int(each) for each in getattr(asked, "new_isr", ()))
    epoch, version = int(asked.leader_epoch), int(asked.partition_epoch)
    return LeaderProposal(name, isr, epoch, version, asked.leader_recovery_state == 1, epochs)


OF_BROKERS: Final[Mapping[int, Answers]] = {
    56: _alter_partition,
    62: _register,
    63: _heartbeat,
    67: _allocate,
    70: _register_controller,
    73: _assign,
}
"""By API key."""
