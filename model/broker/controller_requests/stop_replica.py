"""StopReplica: which partitions this broker follows no more, and whose logs it deletes.

Source: `ReplicaManager.stopReplicas`, `stopPartitions` (3.9); KIP-570 (leader epochs, 2.6).
"""

from collections.abc import Collection

from model.broker.commands import Command, DeleteLog, StopFetching
from model.broker.controller_requests.epoch_checks import refuse_request, ruled_by
from model.broker.controller_requests.served import Served, Standing
from model.broker.partition.partition import Held
from model.cluster.ids import TopicPartition
from model.controller.requests import (
    EPOCH_DURING_DELETE,
    NO_EPOCH,
    BrokerAnswer,
    PartitionToStop,
    StopReplicaRequest,
)


def serve_stop_replica(
    request: StopReplicaRequest,
    broker_epoch: int,
    standing: Standing,
    held: Held,
    offline: Collection[TopicPartition],
) -> Served:
    """What is not held is deleted all the same: its topic may have been deleted while this broker was down.

    A partition that is stopped and not deleted keeps its role: it is the next LeaderAndIsr that changes it.
    """
    refused = refuse_request(standing, broker_epoch, request.controller_epoch)
    if refused is not None:
        return refused
    errors = [(told.partition, _refuse(told, held, offline)) for told in request.partitions]
    failed = {partition for partition, error in errors if error is not None}
    stopped = [told for told in request.partitions if told.partition not in failed]
    deleted = [told.partition for told in stopped if told.delete]
    commands: list[Command] = [StopFetching(told.partition) for told in stopped]
    return Served(
        BrokerAnswer(partition_errors=tuple((partition, error) for partition, error in errors if error is not None)),
        ruled_by(standing, request.controller_epoch),
        removed=tuple(partition for partition in deleted if held.get(partition) is not None),
        commands=(*commands, *map(DeleteLog, deleted)),
        reasons=tuple(f"{partition}: its log is deleted." for partition in deleted),
    )


def _refuse(told: PartitionToStop, held: Held, offline: Collection[TopicPartition]) -> str | None:
    if told.partition in offline:
        return "KAFKA_STORAGE_ERROR"
    current = held.get(told.partition)
    if current is None or told.leader_epoch in (EPOCH_DURING_DELETE, NO_EPOCH):
        return None
    return "FENCED_LEADER_EPOCH" if told.leader_epoch < current.state.leader_epoch else None
