"""How Kafka from 1.1 on chooses a leader, one function a strategy. Writes nothing, counts nothing, tells nobody.

Source: `kafka.controller.Election` and `PartitionLeaderElectionAlgorithms` (3.9), the same rules within
`PartitionStateMachine` (1.1 to 2.2); KIP-704 (recovery, 3.2). Candidates are always tried in the order of the
assignment; the ISR keeps its own order. Up to 1.0 see `selectors`.
"""

from collections.abc import Collection, Iterable

import msgspec

from model.cluster.words import brokers, replicas
from model.controller.ballot import Ballot, ElectionResult, elected, refused
from model.controller.replica_assignment import without

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
