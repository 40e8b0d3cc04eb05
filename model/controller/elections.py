"""How Kafka chooses a leader: one function for each strategy and release; and which changes of an ISR it accepts.

Writes nothing, counts nothing, tells nobody. From 1.1 on: `kafka.controller.Election` and
`PartitionLeaderElectionAlgorithms` (3.9), the same rules within `PartitionStateMachine` (1.1 to 2.2); KIP-704
(recovery, 3.2). Candidates are always tried in the order of the assignment; the ISR keeps its own order.

0.8.0 to 1.0: the five selectors of `kafka.controller.PartitionLeaderSelector` at 0.8.0, 0.8.1, 0.8.2, 0.9, 0.10 and
1.0. Where a selector decides as its successor of 1.1 does, it says so by calling it. `generations` has which variant
belongs to which release.

Whether a leader's proposal of an ISR is accepted: `KafkaController.tryProcessAlterPartition` (3.9), in Kafka's order of
checks. What remains of it when a replica goes offline: `ReplicaStateMachine.removeReplicasFromIsr` (1.1 to 3.9),
`KafkaController.removeReplicaFromIsr` (0.8.0 to 1.0). There a lost leader is only taken note of.
"""

from collections.abc import Callable, Collection, Iterable
from enum import Enum
from typing import Literal

import msgspec

from model.cluster.ids import NO_LEADER
from model.cluster.texts import brokers, replicas
from model.controller import KafkaError, Refusal
from model.controller.events_and_commands import ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment, without


class ElectionStrategy(Enum):
    """Why a leader is elected; the value is the name of it up to 1.0, else from 1.1 on."""

    OFFLINE = "OfflinePartition"
    REASSIGN = "ReassignedPartition"
    PREFERRED = "PreferredReplica"
    CONTROLLED_SHUTDOWN = "ControlledShutdown"
    INITIAL = "NewPartition"
    NO_OP = "NoOp"


class Liveness(msgspec.Struct, frozen=True, gc=False):
    """Which brokers can serve a partition.

    `live` are the registered ones, also those of them that are `shutting_down`. `offline` are brokers whose replica of
    this partition lies in a failed log dir (KIP-112, 1.0).
    """

    live: frozenset[int]
    shutting_down: frozenset[int] = frozenset()
    offline: frozenset[int] = frozenset()

    def online(self, replica: int) -> bool:
        """Live, not on its way down, its log dir in order: a leader can be made of it."""
        return replica not in self.shutting_down and self.reachable(replica)

    def reachable(self, replica: int) -> bool:
        """Live or still on its way down, its log dir in order: it hears what is decided."""
        return replica in self.live and replica not in self.offline


class Ballot(msgspec.Struct, frozen=True, gc=False):
    """One partition that needs a leader: its state as read from ZooKeeper, and all that counts in the election."""

    current: LeaderAndIsr
    assignment: ReplicaAssignment
    liveness: Liveness
    unclean_allowed: bool = False

    @property
    def online(self) -> tuple[int, ...]:
        """Assigned replicas that are online, in the order of the assignment."""
        return tuple(filter(self.liveness.online, self.assignment.replicas))

    @property
    def reachable(self) -> tuple[int, ...]:
        """Assigned replicas that are live or shutting down, in the order of the assignment."""
        return tuple(filter(self.liveness.reachable, self.assignment.replicas))


class ElectionResult(msgspec.Struct, frozen=True, gc=False):
    """A next state to write and the replicas to tell it to, or `why_not` and nobody to tell.

    `rule` names what was tried, in words for an operator. `unclean` means that acknowledged records may be lost.
    """

    leader_and_isr: LeaderAndIsr | None
    recipients: tuple[int, ...]
    unclean: bool
    rule: str
    why_not: Refusal | None = None


Rule = Callable[[Ballot], ElectionResult]
"""The signature of every strategy of every generation."""


def elected(
    ballot: Ballot, leader: int, isr: tuple[int, ...], recipients: tuple[int, ...], rule: str
) -> ElectionResult:
    """A clean election. The recovery state stays: only the leader itself reports that it has recovered."""
    return ElectionResult(ballot.current.with_leader(leader, isr), recipients, False, rule)


def refused(rule: str, message: str, error: KafkaError = "StateChangeFailedException") -> ElectionResult:
    """Nobody was elected; the partition stays as it is."""
    return ElectionResult(None, (), False, rule, Refusal(error, message))


IN_SYNC = "first assigned replica that is online and in sync"
UNCLEAN = "first assigned replica that is online, though out of sync"
IN_SYNC_TARGET = "first replica of the target that is online and in sync"
PREFERRED = "the preferred replica, if online and in sync"
IN_SYNC_STAYING = "first assigned replica that is in sync and not shutting down"
FIRST_ONLINE = "first assigned replica that is online"


def offline(ballot: Ballot) -> ElectionResult:
    """Offline partitions, 1.1 to 3.1: a replica in sync, else, where that is allowed, any that is online.

    Never unclean while any member of the ISR is online, even one that is not assigned: Kafka asks whether it may be
    only where nobody is left (`PartitionStateMachine.collectUncleanLeaderElectionState`).
    """
    online, isr = ballot.online, ballot.current.isr
    in_sync = tuple(filter(ballot.liveness.online, isr))
    leader = first(online, in_sync)
    if leader is not None:
        return elected(ballot, leader, in_sync, online, IN_SYNC)
    if in_sync:
        return refused(IN_SYNC, f"the members {replicas(in_sync)} of the ISR that are online are not assigned")
    if not online:
        return refused(IN_SYNC, f"no replica of {replicas(ballot.assignment.replicas)} is online")
    if not ballot.unclean_allowed:
        return refused(IN_SYNC, f"no member of the ISR {replicas(isr)} is online, and unclean election is not allowed")
    state = ballot.current.with_leader(online[0], online[:1])
    return ElectionResult(state, online, True, UNCLEAN)


def offline_recovering(ballot: Ballot) -> ElectionResult:
    """As `offline`, and an unclean leader is marked as recovering (from 3.2)."""
    result = offline(ballot)
    if not result.unclean or result.leader_and_isr is None:
        return result
    return msgspec.structs.replace(
        result, leader_and_isr=msgspec.structs.replace(result.leader_and_isr, recovering=True)
    )


def reassign(ballot: Ballot) -> ElectionResult:
    """The leader is not among the target of a reassignment, or is dead. The ISR stays: replicas leave it later."""
    target, isr = ballot.assignment.target, ballot.current.isr
    leader = first(filter(ballot.liveness.online, target), isr)
    if leader is None:
        return refused(IN_SYNC_TARGET, f"no replica of the target {replicas(target)} is online and in the ISR")
    return elected(ballot, leader, isr, target, IN_SYNC_TARGET)


def preferred(ballot: Ballot) -> ElectionResult:
    """Leadership goes back to the first assigned replica. Whether that is needed is asked before, not here."""
    assigned, isr = ballot.assignment.replicas, ballot.current.isr
    leader = first(filter(ballot.liveness.online, assigned[:1]), isr)
    if leader is None:
        return refused(PREFERRED, f"the preferred replica {replicas(assigned[:1])} is not online or not in the ISR")
    return elected(ballot, leader, isr, assigned, PREFERRED)


def controlled_shutdown(ballot: Ballot) -> ElectionResult:
    """Leadership leaves the brokers that are shutting down, and so does the ISR; they are told, too (from 2.1)."""
    leaving = ballot.liveness.shutting_down
    staying = without(ballot.current.isr, leaving)
    leader = first(ballot.reachable, staying)
    if leader is None:
        return refused(
            IN_SYNC_STAYING,
            f"nobody in the ISR {replicas(ballot.current.isr)} can take over from {brokers(leaving)} shutting down",
        )
    return elected(ballot, leader, staying, ballot.reachable, IN_SYNC_STAYING)


def controlled_shutdown_untold(ballot: Ballot) -> ElectionResult:
    """As `controlled_shutdown`, and the brokers that are shutting down are not told (1.1 and 2.0)."""
    result = controlled_shutdown(ballot)
    return msgspec.structs.replace(result, recipients=without(result.recipients, ballot.liveness.shutting_down))


def initial(ballot: Ballot) -> ElectionResult:
    """The first leader of a new partition, in every generation: epoch 0, all online replicas in sync by definition."""
    online = ballot.online
    if not online:
        return refused(FIRST_ONLINE, f"no replica of {replicas(ballot.assignment.replicas)} is online")
    return elected(ballot, online[0], online, online, FIRST_ONLINE)


def first(candidates: Iterable[int], accepted: Collection[int]) -> int | None:
    """The first candidate that is accepted."""
    return next((candidate for candidate in candidates if candidate in accepted), None)


FIRST_IN_ISR = "first member of the ISR that is online"
ONLINE_TARGET = "first replica of the target that is online, in sync or not"
NEXT_IN_ISR = "first member of the ISR that is not shutting down"
AS_IT_IS = "leader and ISR as they are"


def offline_in_isr_order(ballot: Ballot) -> ElectionResult:
    """0.8.0 and 0.8.1: the ISR decides the order, and an unclean election cannot be forbidden."""
    in_sync = tuple(filter(ballot.liveness.online, ballot.current.isr))
    if in_sync:
        return elected(ballot, in_sync[0], in_sync, ballot.online, FIRST_IN_ISR)
    allowed = msgspec.structs.replace(ballot, unclean_allowed=True)
    return _failing_with("NoReplicaOnlineException", offline(allowed))


def offline_in_assignment_order(ballot: Ballot) -> ElectionResult:
    """0.8.2 to 1.0: as from 1.1 on."""
    result = offline(ballot)
    if any(map(ballot.liveness.online, ballot.current.isr)):
        return result
    return _failing_with("NoReplicaOnlineException", result)


def reassigned_if_online(ballot: Ballot) -> ElectionResult:
    """0.8.0: it trusts that the target is in sync and does not look."""
    target = ballot.assignment.target
    online = tuple(filter(ballot.liveness.online, target))
    if not online:
        return refused(ONLINE_TARGET, f"no replica of the target {replicas(target)} is online")
    return elected(ballot, online[0], ballot.current.isr, target, ONLINE_TARGET)


def reassigned(ballot: Ballot) -> ElectionResult:
    """0.8.1 to 1.0: as from 1.1 on."""
    return _failing_with("NoReplicaOnlineException", reassign(ballot))


def preferred_replica(ballot: Ballot) -> ElectionResult:
    """0.8.0 to 1.0: as from 1.1 on, and it is this selector that finds an election needless."""
    leader = ballot.current.leader
    if ballot.assignment.replicas[:1] == (leader,):
        message = f"the preferred replica {leader} is the leader already"
        return refused(PREFERRED, message, "LeaderElectionNotNeededException")
    return preferred(ballot)


def controlled_shutdown_besides_leader(ballot: Ballot) -> ElectionResult:
    """0.8.0: the leader counts as shutting down, whether it is or not. Nobody asks whether the next one is live."""
    return _next_in_isr(ballot, without(ballot.current.isr, {ballot.current.leader, *ballot.liveness.shutting_down}))


def controlled_shutdown_in_isr_order(ballot: Ballot) -> ElectionResult:
    """0.8.1 to 0.9: the ISR decides the order. Nobody asks whether the next one is live."""
    return _next_in_isr(ballot, without(ballot.current.isr, ballot.liveness.shutting_down))


def no_op(ballot: Ballot) -> ElectionResult:
    """0.8.0 to 1.0: elects nobody; the default of state changes that need no election."""
    return ElectionResult(ballot.current, ballot.assignment.replicas, False, AS_IT_IS)


def _next_in_isr(ballot: Ballot, isr: tuple[int, ...]) -> ElectionResult:
    if not isr:
        leaving = brokers(ballot.liveness.shutting_down)
        return refused(
            NEXT_IN_ISR, f"nobody in the ISR {replicas(ballot.current.isr)} can take over from {leaving} shutting down"
        )
    return elected(ballot, isr[0], isr, ballot.reachable, NEXT_IN_ISR)


def _failing_with(error: KafkaError, result: ElectionResult) -> ElectionResult:
    """The selectors named other exceptions than their successors."""
    if result.why_not is None:
        return result
    return msgspec.structs.replace(result, why_not=msgspec.structs.replace(result.why_not, error=error))


class Rejection(msgspec.Struct, frozen=True, gc=False):
    """Nothing is written. Error NONE: it is so already, as `state` says."""

    error: str
    state: LeaderAndIsr | None = None


def accept_proposal(
    current: LeaderAndIsr | None, proposal: ProposedIsr, liveness: Liveness
) -> LeaderAndIsr | Rejection:
    """The state to write under the version of `current`, or why there is none. `current` None: no such partition."""
    if current is None:
        return Rejection("UNKNOWN_TOPIC_OR_PARTITION")
    if proposal.leader_epoch > current.leader_epoch or proposal.partition_epoch > current.partition_epoch:
        # The leader knows more than this controller: there must be another one.
        return Rejection("NOT_CONTROLLER")
    if proposal.leader_epoch < current.leader_epoch:
        return Rejection("FENCED_LEADER_EPOCH")
    if proposal.isr == current.isr and proposal.recovering == current.recovering:
        return Rejection("NONE", current)
    if proposal.partition_epoch < current.partition_epoch:
        return Rejection("INVALID_UPDATE_VERSION")
    if proposal.recovering and (len(proposal.isr) > 1 or not current.recovering):
        return Rejection("INVALID_REQUEST")
    if not all(map(liveness.online, proposal.isr)):
        return Rejection("INELIGIBLE_REPLICA")
    return msgspec.structs.replace(current, isr=proposal.isr, recovering=proposal.recovering)


LastMember = Literal["leaves", "stays unless unclean is allowed", "stays"]
"""What the last member of an ISR does. Once it has left, nobody knows any more who held all the data."""

Told = Literal["leader if changed", "leader", "other replicas"]
"""Who is sent the next state in a LeaderAndIsr."""


class IsrRemovalRules(msgspec.Struct, frozen=True, gc=False):
    """How a generation of Kafka removes a replica from an ISR."""

    last_member: LastMember
    told: Told


class IsrRemoval(msgspec.Struct, frozen=True, gc=False):
    """The next state, whether it has to be written, and who is sent it.

    An unwritten one is kept in memory all the same, with the controller's own controller epoch.
    """

    leader_and_isr: LeaderAndIsr
    is_written: bool
    recipients: tuple[int, ...]
    rule: str


def remove_from_isr(
    current: LeaderAndIsr,
    replica: int,
    assigned: tuple[int, ...],
    rules: IsrRemovalRules,
    *,
    unclean_allowed: bool = False,
    deleting: bool = False,
) -> IsrRemoval:
    """Take a replica that is offline out of the ISR of a partition that has a state.

    A change always costs one leader epoch, also where the content stays the same (the only member is offline again).
    While its topic is being deleted (`deleting`), nobody is told.
    """
    if replica not in current.isr:
        after, rule = current, "it is not in the ISR: nothing is written"
    else:
        leader = NO_LEADER if replica == current.leader else current.leader
        isr = without(current.isr, (replica,))
        rule = "it leaves the ISR"
        if not isr and _stays(rules.last_member, unclean_allowed):
            isr, rule = current.isr, "it is the last member of the ISR and stays in it"
        after = current.with_leader(leader, isr)
    changed = after is not current
    recipients = () if deleting else _told(rules.told, after, changed, without(assigned, (replica,)))
    return IsrRemoval(after, changed, recipients, rule)


def _stays(last_member: LastMember, unclean_allowed: bool) -> bool:
    return last_member == "stays" or (last_member == "stays unless unclean is allowed" and not unclean_allowed)


def _told(told: Told, after: LeaderAndIsr, changed: bool, others: tuple[int, ...]) -> tuple[int, ...]:
    if told == "other replicas":
        return others
    has_leader = after.leader != NO_LEADER
    return (after.leader,) if has_leader and (changed or told == "leader") else ()
