"""A request to elect leaders, partition by partition: whether there is anything to elect. It elects nobody itself.

Source: `KafkaController.processReplicaLeaderElection` (3.9); KIP-183 (2.2), KIP-460 (2.4).
"""

from typing import Literal

from model.cluster.ids import NO_LEADER
from model.controller.ballot import Ballot, ElectionResult, Strategy
from model.controller.refusal import KafkaError, Refusal

ElectionKind = Literal["preferred", "unclean"]

STRATEGY: dict[ElectionKind, Strategy] = {"preferred": Strategy.PREFERRED, "unclean": Strategy.OFFLINE}
"""What is then elected by. An unclean election must also be allowed in the Ballot, and only for a request by RPC."""

_NOT_AVAILABLE: dict[ElectionKind, KafkaError] = {
    "preferred": "PREFERRED_LEADER_NOT_AVAILABLE",
    "unclean": "ELIGIBLE_LEADERS_NOT_AVAILABLE",
}


def election_problem(kind: ElectionKind, ballot: Ballot | None, *, deleting: bool = False) -> Refusal | None:
    """Why there will be no election for a partition; `ballot` is None for one that does not exist.

    `deleting` says that the topic is queued for deletion. A request by znode gets no answer.
    """
    if ballot is None:
        return Refusal("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
    if deleting:
        return Refusal("INVALID_TOPIC_EXCEPTION", "The topic is being deleted")
    if not _is_needed(kind, ballot):
        return Refusal("ELECTION_NOT_NEEDED", "Leader election not needed for topic partition.")
    return None


def election_answer(kind: ElectionKind, result: ElectionResult) -> Refusal | None:
    """What the requester is told of an election that was held: nothing, or that nobody could be elected."""
    if result.why_not is None:
        return None
    return Refusal(_NOT_AVAILABLE[kind], result.why_not.message)


def _is_needed(kind: ElectionKind, ballot: Ballot) -> bool:
    leader = ballot.current.leader
    if kind == "preferred":
        return ballot.assignment.replicas[:1] != (leader,)
    liveness = ballot.liveness
    return leader == NO_LEADER or leader not in liveness.live or leader in liveness.shutting_down
