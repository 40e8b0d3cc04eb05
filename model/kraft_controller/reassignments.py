"""Replicas that are to be elsewhere: a reassignment begins, is replaced by another, or is taken back.

It is complete with whatever change finds all of those in sync that it takes (`partition_change`). Sources:
`ReplicationControlManager` (`alterPartitionReassignments`), `PartitionReassignmentReplicas`,
`PartitionReassignmentRevert`, 3.3 to 4.4.
"""

from collections.abc import Collection, Sequence

import msgspec
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.kraft_controller.changes import changed, online
from model.kraft_controller.cluster import KraftCluster
from model.kraft_controller.partition_change import Asked, Registration
from model.kraft_controller.requests import Answer, Answered, joined


class Reassignment(msgspec.Struct, frozen=True):
    """What is wanted of a partition. `replicas` None: that the one under way is taken back."""

    partition: TopicPartition
    replicas: tuple[int, ...] | None


class AlterPartitionReassignments(msgspec.Struct, frozen=True):
    """An operator's request. `may_change_count` (KIP-860, 4.1 and later): there may be more replicas, or fewer."""

    reassignments: tuple[Reassignment, ...]
    may_change_count: bool = True


def alter_reassignments(cluster: KraftCluster, request: AlterPartitionReassignments) -> Answer:
    """All of it is one batch; who is refused is left out."""
    may_change = request.may_change_count or cluster.levels.release < (4, 1)
    return joined(_alter(cluster, each, may_change) for each in request.reassignments)


def _alter(cluster: KraftCluster, wanted: Reassignment, may_change: bool) -> Answered:
    name = wanted.partition
    state = cluster.find(name)
    if state is None:
        return ErrorCode.unknown_topic_or_partition, ()
    if wanted.replicas is None:
        error, asked = cancelled(state, is_unclean=cluster.allows_unclean(name.topic))
    else:
        error = assignment_error(wanted.replicas, cluster.brokers)
        if error is ErrorCode.none and not may_change and len(wanted.replicas) != _count(state):
            error = ErrorCode.invalid_replication_factor
        asked = begun(state, wanted.replicas)
    if error is not ErrorCode.none:
        return error, ()
    asked = msgspec.structs.replace(asked, election=online(cluster, name))
    return error, tuple(changed(cluster, name, asked))


def assignment_error(replicas: Sequence[int], registered: Collection[int]) -> ErrorCode:
    """Of an assignment that somebody names: who is fenced will do."""
    if not replicas or len(set(replicas)) < len(replicas) or not set(replicas) <= set(registered):
        return ErrorCode.invalid_replica_assignment
    return ErrorCode.none


def begun(state: Registration, target: tuple[int, ...]) -> Asked:
    """Those who go come last. A target that needs nobody keeps whoever was coming or going before it."""
    removing = tuple(sorted(set(state.replicas) - set(target)))
    adding = tuple(sorted(set(target) - set(state.replicas)))
    return Asked(replicas=(*target, *removing), removing=removing or None, adding=adding or None)


def cancelled(state: Registration, *, is_unclean: bool) -> tuple[ErrorCode, Asked]:
    """Only those whom the newest target adds are taken back; the order is not that of the beginning."""
    if not state.is_reassigned:
        return ErrorCode.no_reassignment_in_progress, Asked()
    replicas = tuple(each for each in state.replicas if each not in state.adding)
    isr = tuple(each for each in state.isr if each not in state.adding)
    if not isr and not is_unclean:
        return ErrorCode.invalid_replica_assignment, Asked()
    return ErrorCode.none, Asked(isr=isr or replicas[:1], replicas=replicas, removing=(), adding=())


def _count(state: Registration) -> int:
    """Replicas that the partition has when nothing is under way any more."""
    return len((set(state.replicas) | set(state.adding)) - set(state.removing))
