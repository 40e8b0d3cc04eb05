"""What a failed log dir takes with it: the partitions in it are served no more until the broker starts again.

Source: `ReplicaManager.handleLogDirFailure`, `HostedPartition.Offline` (3.9); KIP-112 (1.0).
"""

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from model.broker.commands import Command, StopFetching
from model.broker.partition.partition import Held
from model.cluster.ids import TopicPartition
from model.controller.requests import BrokerAnswer


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
