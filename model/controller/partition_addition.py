"""More partitions for a topic: what Kafka refuses, and where it places them. It writes nothing and throws no dice.

Source: `ZkAdminManager.createPartitions`, `AdminZkClient.createNewPartitionsAssignment` (3.9).
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from model.cluster.words import replicas as replica_list
from model.controller.placement import place, start_for_added_partitions
from model.controller.placement_strategies import BrokerMetadata, Placement, PlacementRequest
from model.controller.refusal import Refusal
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.validation import first_problem


class PartitionAddition(msgspec.Struct, frozen=True, kw_only=True):
    """A topic that shall have `count` partitions in all, on the live brokers by id.

    `assignment` are the replicas of each new partition in turn, None to let Kafka place them.
    """

    topic: str
    existing: Mapping[int, ReplicaAssignment]
    brokers: Sequence[BrokerMetadata]
    count: int
    assignment: Sequence[Sequence[int]] | None = None
    by_broker_id: bool = False

    @property
    def increment(self) -> int:
        """How many partitions are to be added."""
        return self.count - len(self.existing)

    @property
    def replication_factor(self) -> int:
        """That of partition 0 counts for all."""
        return len(self.existing[0].replicas)


def add_partitions(addition: PartitionAddition) -> Placement | Refusal:
    """The replicas of the new partitions only, by partition."""
    problem = first_problem(check(addition) for check in ADDITION_CHECKS)
    if problem is not None:
        return problem
    first = len(addition.existing)
    if addition.assignment is not None:
        return {first + index: tuple(replicas) for index, replicas in enumerate(addition.assignment)}
    leader = next(iter(addition.existing[0].replicas), 0)
    start = start_for_added_partitions(addition.brokers, leader, by_broker_id=addition.by_broker_id)
    request = PlacementRequest(addition.increment, addition.replication_factor, start, start, first)
    return place(addition.brokers, request)


def _reassigning(addition: PartitionAddition) -> Refusal | None:
    if not any(assignment.is_being_reassigned for assignment in addition.existing.values()):
        return None
    message = f"A partition reassignment is in progress for the topic '{addition.topic}'."
    return Refusal("REASSIGNMENT_IN_PROGRESS", message)


def _unknown(addition: PartitionAddition) -> Refusal | None:
    if addition.existing:
        return None
    return Refusal("UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{addition.topic}' does not exist.")


def _no_increase(addition: PartitionAddition) -> Refusal | None:
    now = len(addition.existing)
    if addition.increment > 0:
        return None
    message = (
        f"Topic already has {now} partitions."
        if addition.increment == 0
        else f"Topic currently has {now} partitions, which is higher than the requested {addition.count}."
    )
    return Refusal("INVALID_PARTITIONS", message)


def _unknown_brokers(addition: PartitionAddition) -> Refusal | None:
    known = {broker.id for broker in addition.brokers}
    unknown = sorted({replica for replicas in addition.assignment or () for replica in replicas} - known)
    if not unknown:
        return None
    named = ", ".join(map(str, unknown))
    return Refusal("INVALID_REPLICA_ASSIGNMENT", f"Unknown broker(s) in replica assignment: {named}.")


def _wrong_number(addition: PartitionAddition) -> Refusal | None:
    if addition.assignment is None or len(addition.assignment) == addition.increment:
        return None
    return Refusal(
        "INVALID_REPLICA_ASSIGNMENT",
        f"Increasing the number of partitions by {addition.increment} "
        f"but {len(addition.assignment)} assignments provided.",
    )


def _no_partition_0(addition: PartitionAddition) -> Refusal | None:
    if 0 in addition.existing:
        return None
    return Refusal(
        "AdminOperationException",
        f"Unexpected existing replica assignment for topic '{addition.topic}', partition id 0 is missing.",
    )


def _bad_replicas(addition: PartitionAddition) -> Refusal | None:
    for partition, replicas in enumerate(addition.assignment or (), len(addition.existing)):
        if not replicas:
            message = f"Cannot have replication factor of 0 for partition id {partition}."
            return Refusal("INVALID_REPLICA_ASSIGNMENT", message)
        if len(set(replicas)) != len(replicas):
            return Refusal(
                "INVALID_REPLICA_ASSIGNMENT",
                f"Duplicate brokers not allowed in replica assignment: {replica_list(replicas)} "
                f"for partition id {partition}.",
            )
    return None


def _other_replication_factor(addition: PartitionAddition) -> Refusal | None:
    first = len(addition.existing)
    wrong = {
        first + index: len(replicas)
        for index, replicas in enumerate(addition.assignment or ())
        if len(replicas) != addition.replication_factor
    }
    if not wrong:
        return None
    return Refusal(
        "INVALID_REPLICA_ASSIGNMENT",
        f"Inconsistent replication factor between partitions, partition 0 has {addition.replication_factor} while "
        f"partitions [{', '.join(map(str, wrong))}] have replication factors "
        f"[{', '.join(map(str, wrong.values()))}], respectively.",
    )


ADDITION_CHECKS: tuple[Callable[[PartitionAddition], Refusal | None], ...] = (
    _reassigning,
    _unknown,
    _no_increase,
    _unknown_brokers,
    _wrong_number,
    _no_partition_0,
    _bad_replicas,
    _other_replication_factor,
)
"""In Kafka's order. While replicas are being added, partition 0 would give a wrong replication factor."""
