"""LeaderAndIsr: which partitions this broker leads or follows from now on.

Source: `ReplicaManager.becomeLeaderOrFollower`, `makeLeaders`, `makeFollowers` (3.9).
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import msgspec

from model.broker.commands import AssignTopicId, Command, CreateLog
from model.broker.controller_requests.epoch_checks import refuse_request, ruled_by
from model.broker.controller_requests.served import Served, Standing
from model.broker.decision import PartitionDecision
from model.broker.log_positions import EMPTY_LOG, Logs
from model.broker.partition.conditions import Conditions
from model.broker.partition.partition import Partition
from model.broker.partition.roles import become_follower, become_leader, start_fetching, take_on
from model.cluster.ids import TopicPartition
from model.controller.requests import BrokerAnswer, LeaderAndIsrRequest, PartitionToServe


class Replicas(NamedTuple):
    """What a broker has: partitions it serves, those in failed log dirs, and its logs."""

    held: Mapping[TopicPartition, Partition]
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
    decisions: list[PartitionDecision] = []
    for told in request.partitions:
        topic_id = topic_ids.get(told.partition.topic)
        error = _refuse(told, topic_id, standing.broker, replicas)
        if error is not None:
            errors.append((told.partition, error))
            continue
        decisions.append(_follow_order(told, topic_id, standing, replicas, conditions(told.partition.topic)))
    return Served(
        BrokerAnswer(partition_errors=tuple(errors)),
        ruled_by(standing, request.controller_epoch),
        changed=tuple(decision.partition for decision in decisions),
        commands=tuple(command for decision in decisions for command in decision.commands),
        reasons=tuple(reason for decision in decisions for reason in decision.reasons),
    )


def _refuse(told: PartitionToServe, topic_id: str | None, broker: int, replicas: Replicas) -> str | None:
    """In Kafka's order of checks."""
    if told.partition in replicas.offline:
        return "KAFKA_STORAGE_ERROR"
    held = replicas.held.get(told.partition)
    known_id = _known_topic_id(told.partition, replicas)
    if None not in (topic_id, known_id) and topic_id != known_id:
        return "INCONSISTENT_TOPIC_ID"
    if held is None or told.state.leader_epoch > held.state.leader_epoch:
        return None if broker in told.assignment.replicas else "UNKNOWN_TOPIC_OR_PARTITION"
    if told.state.leader_epoch == held.state.leader_epoch and topic_id is not None and known_id is None:
        return None  # an upgraded controller gives the topic an id, and nothing else changes
    return "STALE_CONTROLLER_EPOCH"


def _known_topic_id(name: TopicPartition, replicas: Replicas) -> str | None:
    held = replicas.held.get(name)
    if held is not None:
        return held.topic_id
    log = replicas.logs(name)
    return log.topic_id if log is not None else None


def _follow_order(
    told: PartitionToServe, topic_id: str | None, standing: Standing, replicas: Replicas, conditions: Conditions
) -> PartitionDecision:
    name = told.partition
    log = replicas.logs(name)
    known_id = _known_topic_id(name, replicas)
    first: list[Command] = []
    if log is None:
        first.append(CreateLog(name, topic_id, told.is_new))
    elif topic_id is not None and known_id is None:
        first.append(AssignTopicId(name, topic_id))
    held = replicas.held.get(name) or take_on(name, standing.broker, log or EMPTY_LOG)
    held = msgspec.structs.replace(held, topic_id=topic_id or known_id)
    taken = PartitionDecision(held, tuple(first))
    log = log or EMPTY_LOG
    if told.state.leader_epoch <= held.state.leader_epoch:
        return taken
    if told.state.leader == standing.broker:
        return taken.then(become_leader(held, told, log, conditions))
    if told.state.leader not in conditions.live_brokers:
        # The log is made all the same, so that its high watermark is not missing in the checkpoint (KAFKA-1647).
        leader = told.state.leader
        why = f"{name}: broker {leader} cannot be followed, it is not live: the next LeaderAndIsr decides."
        return taken.then(PartitionDecision(held, reasons=(why,)))
    follower = become_follower(held, told, log)
    if standing.shutting_down or not follower.commands:
        return taken.then(follower)
    return taken.then(start_fetching(follower, log, conditions))
