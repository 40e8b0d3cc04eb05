"""LeaderAndIsr and StopReplica: what a broker leads, follows, stops and deletes from now on, and its answers.

A request has to come from the controller of now and be meant for this life of the broker. It knows no wire format.
What lay in a failed log dir is served no more until the broker starts again. In KRaft mode nobody sends requests: what
the metadata log says of a partition is obeyed by its partition epoch, also where the leader epoch stays as it was.

Source: `ReplicaManager.becomeLeaderOrFollower`, `makeLeaders`, `makeFollowers`, `stopReplicas`, `stopPartitions`,
`applyLocalLeadersDelta`, `applyLocalFollowersDelta`, `handleLogDirFailure`, `HostedPartition.Offline` (3.9),
`KafkaApis.isBrokerEpochStale` (2.2, KIP-380); KIP-112 (1.0), KIP-570 (leader epochs of StopReplica, 2.6).
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import msgspec

from model.broker.commands import (
    AssignTopicId,
    Command,
    CreateLog,
    DeleteLog,
    PartitionDecision,
    StopFetching,
)
from model.broker.partition import (
    EMPTY_LOG,
    Conditions,
    LogPositions,
    Logs,
    Partition,
    ServedPartitions,
)
from model.broker.roles import become_follower, become_leader, start_fetching, take_on
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.texts import replicas as replica_list
from model.controller.events_and_commands import (
    EPOCH_DURING_DELETE,
    NO_EPOCH,
    BrokerAnswer,
    LeaderAndIsrRequest,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
)


class LostPartitions(NamedTuple):
    """`removed` are not held any more; all that was named is offline."""

    offline: frozenset[TopicPartition]
    removed: tuple[TopicPartition, ...]
    commands: tuple[Command, ...]
    reasons: tuple[str, ...]


def lose_log_dir(
    partitions: Collection[TopicPartition],
    held: ServedPartitions,
    offline: Collection[TopicPartition],
) -> LostPartitions:
    """Partitions that lie in a failed log dir, or could not be created."""
    lost = sorted(set(partitions) - set(offline))
    return LostPartitions(
        offline=frozenset(offline) | frozenset(lost),
        removed=tuple(partition for partition in lost if held.get(partition) is not None),
        commands=tuple(map(StopFetching, lost)),
        reasons=tuple(f"{partition}: its log dir has failed, it is offline here." for partition in lost),
    )


def with_storage_errors(answer: BrokerAnswer, lost: Collection[TopicPartition]) -> BrokerAnswer:
    """The answer to a LeaderAndIsr of whose logs some could not be created."""
    others = tuple(each for each in answer.partition_errors if each[0] not in lost)
    errors = tuple((partition, "KAFKA_STORAGE_ERROR") for partition in sorted(lost))
    return msgspec.structs.replace(answer, partition_errors=others + errors)


class BrokerEpochs(msgspec.Struct, frozen=True):
    """What a broker knows of itself and of who rules it. Epoch -1: of no broker, of no controller yet."""

    broker: int
    broker_epoch: int = -1
    controller_epoch: int = -1
    shutting_down: bool = False
    """Then it follows nobody any more."""


class RequestOutcome(msgspec.Struct, frozen=True):
    """Partitions that are not named stay as they are. The answer is sent after the commands were carried out."""

    answer: BrokerAnswer
    epochs: BrokerEpochs
    changed: tuple[Partition, ...] = ()
    removed: tuple[TopicPartition, ...] = ()
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()


NO_BROKER_EPOCH = -1
"""Of a request before 2.2, and of a broker before 2.2."""


def refuse_request(epochs: BrokerEpochs, broker_epoch: int, controller_epoch: int) -> RequestOutcome | None:
    """The answer to a request that is too old; None: it holds.

    A newer broker epoch is right: the controller may learn of a registration before the broker does.
    """
    if broker_epoch != NO_BROKER_EPOCH and broker_epoch < epochs.broker_epoch:
        why = f"A request for broker epoch {broker_epoch} is refused: this broker has registered anew since."
        return RequestOutcome(BrokerAnswer("STALE_BROKER_EPOCH"), epochs, reasons=(why,))
    if controller_epoch < epochs.controller_epoch:
        why = f"A request of controller epoch {controller_epoch} is refused: {epochs.controller_epoch} rules."
        return RequestOutcome(BrokerAnswer("STALE_CONTROLLER_EPOCH"), epochs, reasons=(why,))
    return None


def ruled_by(epochs: BrokerEpochs, controller_epoch: int) -> BrokerEpochs:
    """After a request that held."""
    return msgspec.structs.replace(epochs, controller_epoch=controller_epoch)


TopicIds = Iterable[tuple[str, str | None]]


class Replicas(NamedTuple):
    """What a broker has: partitions it serves, those in failed log dirs, and its logs."""

    held: ServedPartitions
    offline: Collection[TopicPartition]
    logs: Logs


def serve_leader_and_isr(
    request: LeaderAndIsrRequest,
    broker_epoch: int,
    epochs: BrokerEpochs,
    replicas: Replicas,
    conditions: Callable[[str], Conditions],
) -> RequestOutcome:
    """`conditions` by topic. Each partition has its own error, which is none for the others."""
    refused = refuse_request(epochs, broker_epoch, request.controller_epoch)
    if refused is not None:
        return refused
    ruled = ruled_by(epochs, request.controller_epoch)
    return _served(request.partitions, request.topic_ids, ruled, replicas, conditions, _AS_REQUESTED)


def serve_metadata(
    partitions: Iterable[PartitionToServe],
    topic_ids: TopicIds,
    epochs: BrokerEpochs,
    replicas: Replicas,
    conditions: Callable[[str], Conditions],
) -> RequestOutcome:
    """What the metadata log says of partitions of this broker. The answer has errors that nobody waits for."""
    return _served(partitions, topic_ids, epochs, replicas, conditions, _AS_LOGGED)


def _served(
    partitions: Iterable[PartitionToServe],
    ids: TopicIds,
    epochs: BrokerEpochs,
    replicas: Replicas,
    conditions: Callable[[str], Conditions],
    rules: "_Rules",
) -> RequestOutcome:
    topic_ids = {topic: topic_id for topic, topic_id in ids if topic_id is not None}
    errors: list[tuple[TopicPartition, str]] = []
    changed: list[Partition] = []
    commands: list[Command] = []
    reasons: list[str] = []
    for told in partitions:
        name = told.partition
        held, topic_id = replicas.held.get(name), topic_ids.get(name.topic)
        refused_here = rules.refuse(told, topic_id, epochs.broker, held, replicas)
        if refused_here is not None:
            errors.append((name, refused_here.error))
            reasons += _said(rules.source, name, refused_here)
        else:
            log = replicas.logs(name)
            decision = _follow_order(told, topic_id, epochs, held, log, conditions(name.topic), rules.take_role)
            changed.append(decision.partition)
            commands += decision.commands
            reasons += decision.reasons
    return RequestOutcome(
        BrokerAnswer(partition_errors=tuple(errors)),
        epochs,
        tuple(changed),
        commands=tuple(commands),
        reasons=tuple(reasons),
    )


class _RefusedHere(NamedTuple):
    """One partition of a request that holds. `why` is empty where that is no news."""

    error: str
    why: str = ""


def _said(what: str, name: TopicPartition, refused: _RefusedHere) -> tuple[str, ...]:
    return (f"{name}: {what} refused, because {refused.why}.",) if refused.why else ()


_LOG_DIR_FAILED = _RefusedHere("KAFKA_STORAGE_ERROR", "its log dir has failed")
_REPEATED = _RefusedHere("STALE_CONTROLLER_EPOCH")  # by a controller that takes over, of all that holds


def _older(told: int, held: int) -> str:
    return f"leader epoch {told} is older than {held}, which holds here"


def _refuse_to_serve(
    told: PartitionToServe, topic_id: str | None, broker: int, held: Partition | None, replicas: Replicas
) -> _RefusedHere | None:
    """In Kafka's order of checks."""
    refused = _refuse_log(told, topic_id, broker, held, replicas)
    if refused is not None:
        return refused
    known_id = _known_id(told, held, replicas)
    if held is None or told.state.leader_epoch > held.state.leader_epoch:
        if broker in told.assignment.replicas:
            return None
        why = f"broker {broker} is none of its replicas {replica_list(told.assignment.replicas)}"
        return _RefusedHere("UNKNOWN_TOPIC_OR_PARTITION", why)
    if told.state.leader_epoch < held.state.leader_epoch:
        return _RefusedHere("STALE_CONTROLLER_EPOCH", _older(told.state.leader_epoch, held.state.leader_epoch))
    if topic_id is not None and known_id is None:
        return None  # an upgraded controller gives the topic an id, and nothing else changes
    return _REPEATED


def _refuse_log(
    told: PartitionToServe, topic_id: str | None, broker: int, held: Partition | None, replicas: Replicas
) -> _RefusedHere | None:
    """Because of what is on the disk."""
    if told.partition in replicas.offline:
        return _LOG_DIR_FAILED
    known_id = _known_id(told, held, replicas)
    if topic_id is not None and known_id is not None and topic_id != known_id:
        why = f"the controller says topic id {topic_id} and the log here has {known_id}"
        return _RefusedHere("INCONSISTENT_TOPIC_ID", why)
    return None


def _known_id(told: PartitionToServe, held: Partition | None, replicas: Replicas) -> str | None:
    return held.topic_id if held is not None else _topic_id(replicas.logs(told.partition))


def _topic_id(log: LogPositions | None) -> str | None:
    return None if log is None else log.topic_id


def _follow_order(
    told: PartitionToServe,
    topic_id: str | None,
    epochs: BrokerEpochs,
    held: Partition | None,
    log: LogPositions | None,
    conditions: Conditions,
    take_role: "_TakeRole",
) -> PartitionDecision:
    name = told.partition
    known_id = held.topic_id if held is not None else _topic_id(log)
    first: tuple[Command, ...] = ()
    if log is None:
        first = (CreateLog(name, topic_id, told.is_new),)
    elif topic_id is not None and known_id is None:
        first = (AssignTopicId(name, topic_id),)
    log = log or EMPTY_LOG
    held = held or take_on(name, epochs.broker, log)
    if topic_id is not None and topic_id != held.topic_id:
        held = msgspec.structs.replace(held, topic_id=topic_id)
    decision = take_role(told, epochs, held, log, conditions)
    return PartitionDecision(held, first).then(decision) if first else decision


def _take_role(
    told: PartitionToServe, epochs: BrokerEpochs, held: Partition, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    if told.state.leader_epoch <= held.state.leader_epoch:
        return PartitionDecision(held)
    if told.state.leader == epochs.broker:
        return become_leader(held, told, log, conditions)
    if told.state.leader not in conditions.live_brokers:
        # The log is made all the same, so that its high watermark is not missing in the checkpoint (KAFKA-1647).
        leader = told.state.leader
        why = f"{told.partition}: broker {leader} cannot be followed, it is not live: the next LeaderAndIsr decides."
        return PartitionDecision(held, reasons=(why,))
    follower = become_follower(held, told, log)
    if epochs.shutting_down or not follower.commands:
        return follower
    return start_fetching(follower, log, conditions)


def _take_logged_role(
    told: PartitionToServe, epochs: BrokerEpochs, held: Partition, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    """A partition without a leader is followed, so that whoever led it steps down; there is nobody to fetch from."""
    if told.state.leader == epochs.broker:
        return become_leader(held, told, log, conditions)
    follower = become_follower(held, told, log)
    is_led = told.state.leader != NO_LEADER
    if epochs.shutting_down and not (is_led and epochs.broker in told.state.isr):
        return follower.then(PartitionDecision(follower.partition, (StopFetching(told.partition),)))
    return start_fetching(follower, log, conditions) if follower.commands and is_led else follower


_TakeRole = Callable[[PartitionToServe, BrokerEpochs, Partition, LogPositions, Conditions], PartitionDecision]


class _Rules(NamedTuple):
    """`source` is what a refusal calls it."""

    source: str
    refuse: Callable[[PartitionToServe, str | None, int, Partition | None, Replicas], _RefusedHere | None]
    take_role: _TakeRole


_AS_REQUESTED = _Rules("LeaderAndIsr", _refuse_to_serve, _take_role)
_AS_LOGGED = _Rules("the metadata log", _refuse_log, _take_logged_role)


def serve_stop_replica(
    request: StopReplicaRequest,
    broker_epoch: int,
    epochs: BrokerEpochs,
    held: ServedPartitions,
    offline: Collection[TopicPartition],
) -> RequestOutcome:
    """What is not held is deleted all the same: its topic may have been deleted while this broker was down.

    A partition that is stopped and not deleted keeps its role: it is the next LeaderAndIsr that changes it.
    """
    refused = refuse_request(epochs, broker_epoch, request.controller_epoch)
    if refused is not None:
        return refused
    outcomes = [(told.partition, _refuse_to_stop(told, held, offline)) for told in request.partitions]
    failed = {partition: refused_here for partition, refused_here in outcomes if refused_here is not None}
    stopped = [told for told in request.partitions if told.partition not in failed]
    deleted = [told.partition for told in stopped if told.delete]
    commands: list[Command] = [StopFetching(told.partition) for told in stopped]
    return RequestOutcome(
        BrokerAnswer(partition_errors=tuple((partition, each.error) for partition, each in failed.items())),
        ruled_by(epochs, request.controller_epoch),
        removed=tuple(partition for partition in deleted if held.get(partition) is not None),
        commands=(*commands, *map(DeleteLog, deleted)),
        reasons=(
            *(why for partition, each in failed.items() for why in _said("StopReplica", partition, each)),
            *(f"{partition}: its log is deleted." for partition in deleted),
        ),
    )


def _refuse_to_stop(
    told: PartitionToStop, held: ServedPartitions, offline: Collection[TopicPartition]
) -> _RefusedHere | None:
    if told.partition in offline:
        return _LOG_DIR_FAILED
    current = held.get(told.partition)
    if current is None or told.leader_epoch in (EPOCH_DURING_DELETE, NO_EPOCH):
        return None
    newest = current.state.leader_epoch
    if told.leader_epoch >= newest:
        return None
    return _RefusedHere("FENCED_LEADER_EPOCH", _older(told.leader_epoch, newest))
