"""What an election decides on and what comes out of it. The rules themselves are in `elections` and `selectors`.

Source: `kafka.controller.ElectionResult`, `ControllerContext.isReplicaOnline` (3.9).
"""

from collections.abc import Callable
from enum import Enum

import msgspec

from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.refusal import KafkaError, Refusal
from model.controller.replica_assignment import ReplicaAssignment


class Strategy(Enum):
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
