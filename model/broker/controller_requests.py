"""LeaderAndIsr and StopReplica: what a broker leads, follows, stops and deletes from now on, and its answers.

A request has to come from the controller of now and be meant for this life of the broker. It knows no wire format.
What lay in a failed log dir is served no more until the broker starts again.

Source: `ReplicaManager.becomeLeaderOrFollower`, `makeLeaders`, `makeFollowers`, `stopReplicas`, `stopPartitions`,
`handleLogDirFailure`, `Partition.makeLeader`, `makeFollower`, `Replica.resetReplicaState`, `HostedPartition.Offline`
(3.9), `KafkaApis.isBrokerEpochStale` (2.2, KIP-380); KIP-112 (1.0), KIP-570 (leader epochs of StopReplica, 2.6).
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import msgspec

from model.broker.commands import (
    AssignTopicId,
    Command,
    CreateLog,
    DeleteLog,
    PartitionDecision,
    StartFetching,
    StartLeaderEpoch,
    StopFetching,
)
from model.broker.partition import (
    EMPTY_LOG,
    Conditions,
    FollowerProgress,
    Held,
    Leading,
    LogPositions,
    Logs,
    Partition,
    raise_high_watermark,
)
from model.broker.replication import initial_fetch_state
from model.cluster.ids import TopicPartition
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

_UNKNOWN = FollowerProgress()


def take_on(name: TopicPartition, broker: int, log: LogPositions) -> Partition:
    """A partition that this broker has not served since it started; its high watermark comes from the checkpoint."""
    high_watermark = max(log.start, min(log.checkpointed_high_watermark, log.end))
    return Partition(name, broker, topic_id=log.topic_id, high_watermark=high_watermark)


def become_leader(
    partition: Partition, told: PartitionToServe, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    """Lead. What is older than the partition epoch known here changes nothing: an answer to a proposal outran it."""
    if told.state.partition_epoch < partition.state.partition_epoch:
        return PartitionDecision(partition)
    now_ms = conditions.now_ms
    started = told.state.leader_epoch > partition.state.leader_epoch
    before = partition.leading
    known: Mapping[int, FollowerProgress] = {} if before is None else before.followers
    followers: dict[int, FollowerProgress] = {}
    for replica in told.assignment.replicas:
        if replica != partition.broker:
            progress = known.get(replica, _UNKNOWN)
            if started:
                progress = _reset(progress, log.end, now_ms if replica in told.state.isr else 0, fresh=before is None)
            followers[replica] = progress
    if started or before is None:
        leading = Leading(log.end, now_ms, followers)
    else:
        leading = msgspec.structs.replace(before, followers=followers, pending=None)
    led = _told(partition, told, leading)
    after = raise_high_watermark(led, log, conditions)
    if not started:
        return PartitionDecision(after)
    name, epoch = partition.partition, told.state.leader_epoch
    why = f"{name}: broker {partition.broker} leads in epoch {epoch} from offset {log.end}, ISR {[*told.state.isr]}."
    return PartitionDecision(after, (StopFetching(name), StartLeaderEpoch(name, epoch, log.end)), (why,))


def become_follower(partition: Partition, told: PartitionToServe, log: LogPositions) -> PartitionDecision:
    """Follow. A new leader epoch restarts the fetching even from the same leader."""
    if told.state.partition_epoch < partition.state.partition_epoch:
        return PartitionDecision(partition)
    after = _told(partition, told, None)
    if told.state.leader_epoch <= partition.state.leader_epoch:
        return PartitionDecision(after)
    name, state = partition.partition, told.state
    why = f"{name}: broker {partition.broker} follows broker {state.leader} in epoch {state.leader_epoch}."
    return PartitionDecision(after, (StopFetching(name),), (why,))


def start_fetching(decision: PartitionDecision, log: LogPositions, conditions: Conditions) -> PartitionDecision:
    """What a new follower does next, unless its broker is on its way down: fetch from its leader."""
    partition = decision.partition
    state = initial_fetch_state(
        partition.partition, partition.state, partition.high_watermark, log, conditions.settings.rules
    )
    return decision.then(PartitionDecision(partition, (StartFetching(partition.partition, state),)))


def _told(partition: Partition, told: PartitionToServe, leading: Leading | None) -> Partition:
    # A leader counts as recovered at once: it says so with the next ISR that it proposes (KIP-704).
    state = told.state
    if leading is not None and state.recovering:
        state = msgspec.structs.replace(state, recovering=False)
    return msgspec.structs.replace(
        partition, state=state, controller_epoch=told.controller_epoch, assignment=told.assignment, leading=leading
    )


def _reset(progress: FollowerProgress, leader_end: int, caught_up_ms: int, *, fresh: bool) -> FollowerProgress:
    """`caught_up_ms`: now for an in-sync follower: it gets as long as any other to show that it still is. Else 0."""
    if fresh:
        return FollowerProgress(leader_end_at_fetch=-1, caught_up_ms=caught_up_ms)
    return msgspec.structs.replace(
        progress, leader_end_at_fetch=leader_end, fetched_ms=caught_up_ms, caught_up_ms=caught_up_ms
    )


class Lost(NamedTuple):
    """`removed` are not held any more; all that was named is offline."""

    offline: frozenset[TopicPartition]
    removed: tuple[TopicPartition, ...]
    commands: tuple[Command, ...]
    reasons: tuple[str, ...]


def lose_log_dir(
    partitions: Collection[TopicPartition],
    held: Held,
    offline: Collection[TopicPartition],
) -> Lost:
    """Partitions that lie in a failed log dir, or could not be created."""
    lost = sorted(set(partitions) - set(offline))
    return Lost(
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


class Served(msgspec.Struct, frozen=True):
    """Partitions that are not named stay as they are. The answer is sent after the commands were carried out."""

    answer: BrokerAnswer
    epochs: BrokerEpochs
    changed: tuple[Partition, ...] = ()
    removed: tuple[TopicPartition, ...] = ()
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()


NO_BROKER_EPOCH = -1
"""Of a request before 2.2, and of a broker before 2.2."""


def refuse_request(epochs: BrokerEpochs, broker_epoch: int, controller_epoch: int) -> Served | None:
    """The answer to a request that is too old; None: it holds.

    A newer broker epoch is right: the controller may learn of a registration before the broker does.
    """
    if broker_epoch != NO_BROKER_EPOCH and broker_epoch < epochs.broker_epoch:
        why = f"A request for broker epoch {broker_epoch} is refused: this broker has registered anew since."
        return Served(BrokerAnswer("STALE_BROKER_EPOCH"), epochs, reasons=(why,))
    if controller_epoch < epochs.controller_epoch:
        why = f"A request of controller epoch {controller_epoch} is refused: {epochs.controller_epoch} rules."
        return Served(BrokerAnswer("STALE_CONTROLLER_EPOCH"), epochs, reasons=(why,))
    return None


def ruled_by(epochs: BrokerEpochs, controller_epoch: int) -> BrokerEpochs:
    """After a request that held."""
    return msgspec.structs.replace(epochs, controller_epoch=controller_epoch)


class Replicas(NamedTuple):
    """What a broker has: partitions it serves, those in failed log dirs, and its logs."""

    held: Held
    offline: Collection[TopicPartition]
    logs: Logs


def serve_leader_and_isr(
    request: LeaderAndIsrRequest,
    broker_epoch: int,
    epochs: BrokerEpochs,
    replicas: Replicas,
    conditions: Callable[[str], Conditions],
) -> Served:
    """`conditions` by topic. Each partition has its own error, which is none for the others."""
    refused = refuse_request(epochs, broker_epoch, request.controller_epoch)
    if refused is not None:
        return refused
    topic_ids = {topic: topic_id for topic, topic_id in request.topic_ids if topic_id is not None}
    errors: list[tuple[TopicPartition, str]] = []
    changed: list[Partition] = []
    commands: list[Command] = []
    reasons: list[str] = []
    for told in request.partitions:
        name = told.partition
        held, topic_id = replicas.held.get(name), topic_ids.get(name.topic)
        refused_here = _refuse_to_serve(told, topic_id, epochs.broker, held, replicas)
        if refused_here is not None:
            errors.append((name, refused_here.error))
            reasons += _said("LeaderAndIsr", name, refused_here)
        else:
            log = replicas.logs(name)
            decision = _follow_order(told, topic_id, epochs, held, log, conditions(name.topic))
            changed.append(decision.partition)
            commands += decision.commands
            reasons += decision.reasons
    return Served(
        BrokerAnswer(partition_errors=tuple(errors)),
        ruled_by(epochs, request.controller_epoch),
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
    if told.partition in replicas.offline:
        return _LOG_DIR_FAILED
    known_id = held.topic_id if held is not None else _topic_id(replicas.logs(told.partition))
    if topic_id is not None and known_id is not None and topic_id != known_id:
        why = f"the controller says topic id {topic_id} and the log here has {known_id}"
        return _RefusedHere("INCONSISTENT_TOPIC_ID", why)
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


def _topic_id(log: LogPositions | None) -> str | None:
    return None if log is None else log.topic_id


def _follow_order(
    told: PartitionToServe,
    topic_id: str | None,
    epochs: BrokerEpochs,
    held: Partition | None,
    log: LogPositions | None,
    conditions: Conditions,
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
    decision = _take_role(told, epochs, held, log, conditions)
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


def serve_stop_replica(
    request: StopReplicaRequest,
    broker_epoch: int,
    epochs: BrokerEpochs,
    held: Held,
    offline: Collection[TopicPartition],
) -> Served:
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
    return Served(
        BrokerAnswer(partition_errors=tuple((partition, each.error) for partition, each in failed.items())),
        ruled_by(epochs, request.controller_epoch),
        removed=tuple(partition for partition in deleted if held.get(partition) is not None),
        commands=(*commands, *map(DeleteLog, deleted)),
        reasons=(
            *(why for partition, each in failed.items() for why in _said("StopReplica", partition, each)),
            *(f"{partition}: its log is deleted." for partition in deleted),
        ),
    )


def _refuse_to_stop(told: PartitionToStop, held: Held, offline: Collection[TopicPartition]) -> _RefusedHere | None:
    if told.partition in offline:
        return _LOG_DIR_FAILED
    current = held.get(told.partition)
    if current is None or told.leader_epoch in (EPOCH_DURING_DELETE, NO_EPOCH):
        return None
    newest = current.state.leader_epoch
    if told.leader_epoch >= newest:
        return None
    return _RefusedHere("FENCED_LEADER_EPOCH", _older(told.leader_epoch, newest))
