"""What leaders, brokers and operators ask of partitions that are there: what is written, and what they are answered.

Each partition of a request is worked out against the cluster before it, also one that is named twice. Answers are those
to the newest version of each request. Sources: `ReplicationControlManager` (`alterPartition`, `electLeaders`,
`maybeBalancePartitionLeaders`, `maybeElectUncleanLeaders`, `handleAssignReplicasToDirs`,
`alterPartitionReassignments`), `PartitionReassignmentReplicas`, `PartitionReassignmentRevert`, 3.3 to 4.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import KraftCluster, MetadataRecord, PartitionChanged
from model.kraft_controller.decide import UnregisterWanted, changed, decide, online, without
from model.kraft_controller.partition_change import LOST, NO_LEADER, Election, Registration, RequestedChange

MOST_ELECTIONS: Final = 1_000
"""`MAX_ELECTIONS_PER_IMBALANCE`: so many periodic elections are written at once; the next ones 10 ms later."""


class ControllerResult(msgspec.Struct, frozen=True):
    """What is written, and what is answered for each of what was named, in that order."""

    records: tuple[MetadataRecord, ...] = ()
    errors: tuple[ErrorCode, ...] = ()
    error: ErrorCode = ErrorCode.none
    """Of the request as a whole; if it is refused, nothing is written."""


Answered = tuple[ErrorCode, Sequence[MetadataRecord]]
"""For one of the things that a request names."""


class LeaderProposal(msgspec.Struct, frozen=True):
    """The ISR that a leader wants for a partition, and what it takes the partition for."""

    partition: TopicPartition
    isr: tuple[int, ...]
    leader_epoch: int
    partition_epoch: int
    recovering: bool = False
    epochs: Mapping[int, int] = {}
    """Broker epochs of members, as far as the leader knows them (KIP-903)."""


class AlterPartition(msgspec.Struct, frozen=True):
    """A leader's request."""

    leader: int
    broker_epoch: int
    proposals: tuple[LeaderProposal, ...]


def alter_partition(cluster: KraftCluster, request: AlterPartition) -> ControllerResult:
    """NEW_LEADER_ELECTED comes with a record: the reassignment was complete, and the sender leads no more."""
    registered = cluster.brokers.get(request.leader)
    if registered is None or registered.epoch != request.broker_epoch:
        return ControllerResult(error=ErrorCode.stale_broker_epoch)
    return joined(_alter(cluster, request.leader, each) for each in request.proposals)


def proposal_error(cluster: KraftCluster, leader: int, proposal: LeaderProposal) -> ErrorCode:
    """Why a leader's proposal is refused; the first reason counts."""
    name = proposal.partition
    if name.topic not in cluster.topics:
        return ErrorCode.unknown_topic_id
    state = cluster.find(name)
    if state is None:
        return ErrorCode.unknown_topic_or_partition
    isr = proposal.isr
    checks: tuple[tuple[ErrorCode, bool], ...] = (
        (ErrorCode.not_controller, proposal.leader_epoch > state.leader_epoch),
        (ErrorCode.not_controller, proposal.partition_epoch > state.partition_epoch),
        (ErrorCode.fenced_leader_epoch, proposal.leader_epoch < state.leader_epoch),
        (ErrorCode.invalid_request, leader != state.leader),
        (ErrorCode.invalid_update_version, proposal.partition_epoch < state.partition_epoch),
        (ErrorCode.invalid_request, len(set(isr)) < len(isr) or not set(isr) <= set(state.replicas)),
        (ErrorCode.invalid_request, leader not in isr),
        (ErrorCode.invalid_request, proposal.recovering and (len(isr) > 1 or not state.recovering)),
        (ErrorCode.ineligible_replica, not all(_is_eligible(cluster, proposal, each) for each in isr)),
    )
    return next((error for error, is_so in checks if is_so), ErrorCode.none)


def _is_eligible(cluster: KraftCluster, proposal: LeaderProposal, broker: int) -> bool:
    if not cluster.is_active(broker):
        return False
    return proposal.epochs.get(broker, -1) in (-1, cluster.brokers[broker].epoch)


def _alter(cluster: KraftCluster, leader: int, proposal: LeaderProposal) -> Answered:
    if (error := proposal_error(cluster, leader, proposal)) is not ErrorCode.none:
        return error, ()
    name = proposal.partition
    asked = RequestedChange(isr=proposal.isr, recovering=proposal.recovering, election=online(cluster, name))
    records = tuple(changed(cluster, name, asked))
    moves = any(each.change.leader not in (None, leader) for each in records)
    return (ErrorCode.new_leader_elected if moves else ErrorCode.none), records


class ElectLeaders(msgspec.Struct, frozen=True):
    """An operator's request. `partitions` None: all of them, and those that need none are left out of the answer."""

    election: Election
    partitions: tuple[TopicPartition, ...] | None = None


class Elections(msgspec.Struct, frozen=True):
    """The answer, by partition."""

    records: tuple[PartitionChanged, ...] = ()
    errors: tuple[tuple[TopicPartition, ErrorCode], ...] = ()
    error: ErrorCode = ErrorCode.none


def elect_leaders(cluster: KraftCluster, request: ElectLeaders) -> Elections:
    """An unclean election that is asked for needs no leave of the topic's settings."""
    if request.election is Election.ONLINE:
        return Elections(error=ErrorCode.invalid_request)
    everything = [name for topic in sorted(cluster.topics) for name in cluster.partitions(topic)]
    names = everything if request.partitions is None else request.partitions
    answers = [(name, *_elect(cluster, name, request.election)) for name in names]
    told = tuple(
        (name, error)
        for name, error, _ in answers
        if request.partitions is not None or error is not ErrorCode.election_not_needed
    )
    return Elections(tuple(record for _, _, records in answers for record in records), told)


def _elect(
    cluster: KraftCluster, name: TopicPartition, election: Election
) -> tuple[ErrorCode, tuple[PartitionChanged, ...]]:
    state = cluster.find(name)
    if state is None:
        return ErrorCode.unknown_topic_or_partition, ()
    if _needs_none(state, election):
        return ErrorCode.election_not_needed, ()
    if records := tuple(changed(cluster, name, RequestedChange(election=election))):
        return ErrorCode.none, records
    if election is Election.PREFERRED:
        return ErrorCode.preferred_leader_not_available, ()
    return ErrorCode.eligible_leaders_not_available, ()


def _needs_none(state: Registration, election: Election) -> bool:
    if election is Election.PREFERRED:
        return state.leader == state.replicas[0]
    return state.leader != NO_LEADER


class Periodic(msgspec.Struct, frozen=True):
    """Elections that nobody asked for. `goes_on`: there may be more, 10 ms later."""

    records: tuple[PartitionChanged, ...]
    goes_on: bool


def balance(cluster: KraftCluster) -> Periodic:
    """Each `leader.imbalance.check.interval.seconds`: preferred leaders, without any threshold."""
    names = (name for topic in sorted(cluster.topics) for name in cluster.partitions(topic))
    away = (name for name in names if not _needs_none(cluster.partition(name), Election.PREFERRED))
    return _periodic(cluster, away, Election.PREFERRED)


def elect_uncleanly(cluster: KraftCluster) -> Periodic:
    """Each `unclean.leader.election.interval.ms`, from 3.9 on: who leads nobody's topics that allow it."""
    allowing = (name for name in cluster.leaderless if cluster.allows_unclean(name.topic))
    return _periodic(cluster, allowing, Election.UNCLEAN)


def _periodic(cluster: KraftCluster, names: Iterable[TopicPartition], election: Election) -> Periodic:
    found: list[PartitionChanged] = []
    for name in names:
        if len(found) == MOST_ELECTIONS:
            return Periodic(tuple(found), goes_on=True)
        found += changed(cluster, name, RequestedChange(election=election))
    return Periodic(tuple(found), goes_on=len(found) == MOST_ELECTIONS)


class AssignReplicasToDirs(msgspec.Struct, frozen=True):
    """A broker says in which of its directories replicas are (KIP-858)."""

    broker: int
    broker_epoch: int
    directories: tuple[tuple[TopicPartition, str], ...]


def assign_replicas_to_dirs(cluster: KraftCluster, request: AssignReplicasToDirs) -> ControllerResult:
    """Where the directory works no more the broker leaves the ISR at once, by a second record."""
    broker, registered = request.broker, cluster.brokers.get(request.broker)
    if not cluster.levels.keeps_directories:
        return ControllerResult(error=ErrorCode.unsupported_version)
    if registered is None or registered.epoch != request.broker_epoch:
        return ControllerResult(error=ErrorCode.stale_broker_epoch)
    answer = joined(_assign(cluster, broker, *each) for each in request.directories)
    placed = zip(request.directories, answer.errors, strict=True)
    failed = [
        name
        for (name, directory), error in placed
        if error is ErrorCode.none and (directory == LOST or not cluster.has_directory(broker, directory))
    ]
    return msgspec.structs.replace(answer, records=(*answer.records, *without(cluster, broker, failed)))


def _assign(cluster: KraftCluster, broker: int, name: TopicPartition, directory: str) -> Answered:
    if name.topic not in cluster.topics:
        return ErrorCode.unknown_topic_id, ()
    state = cluster.find(name)
    if state is None:
        return ErrorCode.unknown_topic_or_partition, ()
    if broker not in state.replicas:
        return ErrorCode.not_leader_or_follower, ()
    return ErrorCode.none, tuple(changed(cluster, name, RequestedChange(directories={broker: directory})))


def unregister(cluster: KraftCluster, broker: int) -> ControllerResult:
    """An operator takes a broker out, also one that lives."""
    if broker not in cluster.brokers:
        return ControllerResult(error=ErrorCode.broker_id_not_registered)
    return ControllerResult(decide(cluster, UnregisterWanted(broker)).records)


def joined(answers: Iterable[Answered]) -> ControllerResult:
    """Answers for one thing each as that for the request."""
    told = list(answers)
    return ControllerResult(
        tuple(record for _, records in told for record in records), tuple(error for error, _ in told)
    )


# Reassignments: complete with whatever change finds all of those in sync that it takes (`partition_change`).


class Reassignment(msgspec.Struct, frozen=True):
    """What is wanted of a partition. `replicas` None: that the one under way is taken back."""

    partition: TopicPartition
    replicas: tuple[int, ...] | None


class AlterPartitionReassignments(msgspec.Struct, frozen=True):
    """An operator's request. `may_change_count` (KIP-860, 4.1 and later): there may be more replicas, or fewer."""

    reassignments: tuple[Reassignment, ...]
    may_change_count: bool = True


def alter_reassignments(cluster: KraftCluster, request: AlterPartitionReassignments) -> ControllerResult:
    """All of it is one batch; who is refused is left out."""
    may_change = request.may_change_count or cluster.levels.release < (4, 1)
    return joined(_reassign(cluster, each, may_change) for each in request.reassignments)


def _reassign(cluster: KraftCluster, wanted: Reassignment, may_change: bool) -> Answered:
    name = wanted.partition
    state = cluster.find(name)
    if state is None:
        return ErrorCode.unknown_topic_or_partition, ()
    if wanted.replicas is None:
        error, asked = cancelled(state, is_unclean=cluster.allows_unclean(name.topic))
    else:
        error = assignment_error(cluster, wanted.replicas)
        if error is ErrorCode.none and not may_change and len(wanted.replicas) != _count(state):
            error = ErrorCode.invalid_replication_factor
        asked = begun(state, wanted.replicas)
    if error is not ErrorCode.none:
        return error, ()
    asked = msgspec.structs.replace(asked, election=online(cluster, name))
    return error, tuple(changed(cluster, name, asked))


def refuses_cordoned(cluster: KraftCluster) -> bool:
    """Whether nobody may name a broker all of whose directories are cordoned (4.4), not even where it holds a replica.

    Before, only placement keeps away from it.
    """
    return cluster.levels.release >= (4, 4)


def assignment_error(cluster: KraftCluster, replicas: Sequence[int]) -> ErrorCode:
    """Of an assignment that somebody names: who is fenced will do."""
    if not replicas or len(set(replicas)) < len(replicas) or not set(replicas) <= cluster.brokers.keys():
        return ErrorCode.invalid_replica_assignment
    if refuses_cordoned(cluster) and not all(cluster.brokers[broker].takes_replicas for broker in replicas):
        return ErrorCode.invalid_replica_assignment
    return ErrorCode.none


def begun(state: Registration, target: tuple[int, ...]) -> RequestedChange:
    """Those who go come last. A target that needs nobody keeps whoever was coming or going before it."""
    removing = tuple(sorted(set(state.replicas) - set(target)))
    adding = tuple(sorted(set(target) - set(state.replicas)))
    return RequestedChange(replicas=(*target, *removing), removing=removing or None, adding=adding or None)


def cancelled(state: Registration, *, is_unclean: bool) -> tuple[ErrorCode, RequestedChange]:
    """Only those whom the newest target adds are taken back; the order is not that of the beginning."""
    if not state.is_reassigned:
        return ErrorCode.no_reassignment_in_progress, RequestedChange()
    replicas = tuple(each for each in state.replicas if each not in state.adding)
    isr = tuple(each for each in state.isr if each not in state.adding)
    if not isr and not is_unclean:
        return ErrorCode.invalid_replica_assignment, RequestedChange()
    return ErrorCode.none, RequestedChange(isr=isr or replicas[:1], replicas=replicas, removing=(), adding=())


def _count(state: Registration) -> int:
    """Replicas that the partition has when nothing is under way any more."""
    return len((set(state.replicas) | set(state.adding)) - set(state.removing))


def reassigned(
    cluster: KraftCluster, names: Iterable[TopicPartition] | None = None
) -> list[tuple[TopicPartition, Registration]]:
    """Those of these partitions, or of all, that are being reassigned."""
    if names is None:
        names = (name for topic in sorted(cluster.topics) for name in cluster.partitions(topic))
    known = ((name, cluster.find(name)) for name in names)
    return [(name, state) for name, state in known if state is not None and state.is_reassigned]
