"""LeaderAndIsr: which partitions this broker leads or follows from now on.

Source: `ReplicaManager.becomeLeaderOrFollower`, `makeLeaders`, `makeFollowers` (3.9).
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import msgspec

from model.broker.commands import AssignTopicId, Command, CreateLog
from model.broker.controller_requests.epoch_checks import refuse_request, ruled_by
from model.broker.controller_requests.served import Served, Standing
from model.broker.decision import PartitionDecision
from model.broker.log_positions import EMPTY_LOG, LogPositions, Logs
from model.broker.partition.conditions import Conditions
from model.broker.partition.partition import Held, Partition
from model.broker.partition.roles import become_follower, become_leader, start_fetching, take_on
from model.cluster.ids import TopicPartition
from model.controller.requests import BrokerAnswer, LeaderAndIsrRequest, PartitionToServe


class Replicas(NamedTuple):
    """What a broker has: partitions it serves, those in failed log dirs, and its logs."""

    held: Held
    offline: Collection[TopicPartition]
    logs: Logs


def serve_leader_and_isr(
    request: LeaderAndIsrRequest,
    broker_epoch: int,
    standing: Standing,
    replicas: Replicas,
    conditions: Callable[[str], Conditions],
) -> Served:
    """`conditions` by topic. Each partition has its own error, which is none for the others."""
    refused = refuse_request(standing, broker_epoch, request.controller_epoch)
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
        error = _refuse(told, topic_id, standing.broker, held, replicas)
        if error is not None:
            errors.append((name, error))
        else:
            log = replicas.logs(name)
            decision = _follow_order(told, topic_id, standing, held, log, conditions(name.topic))
            changed.append(decision.partition)
            commands += decision.commands
            reasons += decision.reasons
    return Served(
        BrokerAnswer(partition_errors=tuple(errors)),
        ruled_by(standing, request.controller_epoch),
        tuple(changed),
        commands=tuple(commands),
        reasons=tuple(reasons),
    )


def _refuse(
    told: PartitionToServe, topic_id: str | None, broker: int, held: Partition | None, replicas: Replicas
) -> str | None:
    """In Kafka's order of checks."""
    if told.partition in replicas.offline:
        return "KAFKA_STORAGE_ERROR"
    known_id = held.topic_id if held is not None else _topic_id(replicas.logs(told.partition))
    if topic_id is not None and known_id is not None and topic_id != known_id:
        return "INCONSISTENT_TOPIC_ID"
    if held is None or told.state.leader_epoch > held.state.leader_epoch:
        return None if broker in told.assignment.replicas else "UNKNOWN_TOPIC_OR_PARTITION"
    if told.state.leader_epoch == held.state.leader_epoch and topic_id is not None and known_id is None:
        return None  # an upgraded controller gives the topic an id, and nothing else changes
    return "STALE_CONTROLLER_EPOCH"


def _topic_id(log: LogPositions | None) -> str | None:
    return None if log is None else log.topic_id


def _follow_order(
    told: PartitionToServe,
    topic_id: str | None,
    standing: Standing,
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
    held = held or take_on(name, standing.broker, log)
    if topic_id is not None and topic_id != held.topic_id:
        held = msgspec.structs.replace(held, topic_id=topic_id)
    decision = _take_role(told, standing, held, log, conditions)
    return PartitionDecision(held, first).then(decision) if first else decision


def _take_role(
    told: PartitionToServe, standing: Standing, held: Partition, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    if told.state.leader_epoch <= held.state.leader_epoch:
        return PartitionDecision(held)
    if told.state.leader == standing.broker:
        return become_leader(held, told, log, conditions)
    if told.state.leader not in conditions.live_brokers:
        # The log is made all the same, so that its high watermark is not missing in the checkpoint (KAFKA-1647).
        leader = told.state.leader
        why = f"{told.partition}: broker {leader} cannot be followed, it is not live: the next LeaderAndIsr decides."
        return PartitionDecision(held, reasons=(why,))
    follower = become_follower(held, told, log)
    if standing.shutting_down or not follower.commands:
        return follower
    return start_fetching(follower, log, conditions)
