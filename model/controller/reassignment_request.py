"""A request to move a partition's replicas: what Kafka refuses, and the assignment it sets out for. It moves nothing.

Source: `KafkaController.processApiPartitionReassignment`, `processZkPartitionReassignment`, `validateReplicas` and
`maybeTriggerPartitionReassignment` (3.9); KIP-455.
"""

from collections.abc import Collection, Sequence

from model.cluster.words import replicas as replica_list
from model.controller.forms import Reassigning
from model.controller.refusal import Refusal
from model.controller.replica_assignment import ReplicaAssignment


def reassign_by_request(
    current: ReplicaAssignment | None, target: Sequence[int] | None, live: Collection[int], *, deleting: bool = False
) -> ReplicaAssignment | Refusal:
    """What an AlterPartitionReassignments sets out for; without a target it cancels what is going on.

    `current` is None for a partition that does not exist, `live` leaves out brokers that are shutting down, and
    `deleting` says that the topic is queued for deletion.
    """
    known = current or ReplicaAssignment(())
    if target is None:
        if not known.is_being_reassigned:
            return Refusal("NO_REASSIGNMENT_IN_PROGRESS", "No partition reassignment is in progress.")
        wanted = known.cancel()
    else:
        problem = _target_problem(known, target, live)
        if problem is not None:
            return problem
        wanted = known.reassign_to(target)
    return _unless_gone(current, wanted, deleting)


def reassign_by_znode(
    current: ReplicaAssignment | None, target: Sequence[int], *, deleting: bool = False
) -> ReplicaAssignment | Refusal:
    """What an entry of /admin/reassign_partitions sets out for. Nobody asks whether its brokers are live."""
    return _unless_gone(current, (current or ReplicaAssignment(())).reassign_to(target), deleting)


def reassign_unkept(
    current: ReplicaAssignment | None,
    target: Sequence[int],
    rules: Reassigning,
    live: Collection[int],
    *,
    deleting: bool = False,
) -> ReplicaAssignment | Refusal:
    """As `reassign_by_znode`, up to 2.3: the topic does not say what was added, so all it has is taken for its origin.

    Kafka put a set in the topic's znode; with five replicas and more it came out in the order of Scala's hashes, here
    it is always the target first.
    """
    if current is not None and not deleting:
        if tuple(target) == current.replicas:
            return _invalid(f"The replicas are {replica_list(target)} already.")
        if rules.needs_live_target and not set(target) <= set(live):
            return _invalid(f"Not all of the replicas {replica_list(target)} are alive.")
        return ReplicaAssignment(current.replicas).reassign_to(target)
    return _unless_gone(current, ReplicaAssignment(()), deleting)


def _unless_gone(
    current: ReplicaAssignment | None, wanted: ReplicaAssignment, deleting: bool
) -> ReplicaAssignment | Refusal:
    if deleting or current is None:
        return Refusal("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
    return wanted


def _target_problem(current: ReplicaAssignment, target: Sequence[int], live: Collection[int]) -> Refusal | None:
    if not target:
        return _invalid("Empty replica list specified in partition reassignment.")
    if len(set(target)) != len(target):
        return _invalid(f"Duplicate replica ids in partition reassignment replica list: {replica_list(target)}")
    if min(target) < 0:
        return _invalid(f"Invalid broker id in replica list: {replica_list(target)}")
    adding = current.reassign_to(target).adding
    if not set(adding) <= set(live):
        return _invalid(
            f"Replica assignment has brokers that are not alive. Replica list: {replica_list(adding)}, "
            f"live broker list: {replica_list(sorted(live))}"
        )
    return None


def _invalid(message: str) -> Refusal:
    return Refusal("INVALID_REPLICA_ASSIGNMENT", message)
