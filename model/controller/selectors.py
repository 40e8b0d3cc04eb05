"""The five leader selectors of Kafka 0.8.0 to 1.0, in every variant they had. Writes nothing and tells nobody.

Source: `kafka.controller.PartitionLeaderSelector` at 0.8.0, 0.8.1, 0.8.2, 0.9, 0.10 and 1.0. Where a selector decides
as its successor of 1.1 does, it says so by calling it. Which variant belongs to which release is in `generations`.
"""

import msgspec

from model.cluster.words import brokers, replicas
from model.controller import elections
from model.controller.ballot import Ballot, ElectionResult, elected, refused
from model.controller.refusal import KafkaError
from model.controller.replica_assignment import without

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
    return _failing_with("NoReplicaOnlineException", elections.offline(allowed))


def offline_in_assignment_order(ballot: Ballot) -> ElectionResult:
    """0.8.2 to 1.0: as from 1.1 on."""
    result = elections.offline(ballot)
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
    return _failing_with("NoReplicaOnlineException", elections.reassign(ballot))


def preferred_replica(ballot: Ballot) -> ElectionResult:
    """0.8.0 to 1.0: as from 1.1 on, and it is this selector that finds an election needless."""
    leader = ballot.current.leader
    if ballot.assignment.replicas[:1] == (leader,):
        message = f"the preferred replica {leader} is the leader already"
        return refused(elections.PREFERRED, message, "LeaderElectionNotNeededException")
    return elections.preferred(ballot)


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
