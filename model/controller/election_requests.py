"""Elections that a request or the clock asks for: whether there is anything to elect. It elects nobody itself.

A partition is given as the Ballot that an election would decide on; the automatic rebalance is not given those of
topics that are queued for deletion.

Source: `KafkaController.processReplicaLeaderElection` (3.9), KIP-183 (2.2), KIP-460 (2.4);
`checkAndTriggerAutoLeaderRebalance`, 0.8.1 to 3.9; `ControllerContext.hasPreferredLeader` (2.7 to 3.9).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller import elections
from model.controller.elections import Ballot, Strategy
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.refusal import Refusal

ElectionKind = Literal["preferred", "unclean"]

STRATEGY: dict[ElectionKind, Strategy] = {"preferred": Strategy.PREFERRED, "unclean": Strategy.OFFLINE}
"""What is then elected by. An unclean election must also be allowed in the Ballot, and only for a request by RPC."""


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


def _is_needed(kind: ElectionKind, ballot: Ballot) -> bool:
    leader = ballot.current.leader
    if kind == "preferred":
        return ballot.assignment.replicas[:1] != (leader,)
    liveness = ballot.liveness
    return leader == NO_LEADER or leader not in liveness.live or leader in liveness.shutting_down


DEFAULT_PERCENTAGE = 10
"""Kafka's leader.imbalance.per.broker.percentage, in percent."""


class RebalanceRules(msgspec.Struct, frozen=True, gc=False):
    """How a generation of Kafka rebalances leaders."""

    on_by_default: bool
    """Default of auto.leader.rebalance.enable."""
    asks_isr: bool
    """From 2.6 on the preferred replica has to be in sync; before, elections were tried that had to fail."""
    waits_for_reassignments: bool
    """Up to 3.3 nothing was done while any partition was being reassigned (KAFKA-10149)."""


class LeaderImbalance(msgspec.Struct, frozen=True, gc=False):
    """The partitions that prefer a broker, and those of them that another leads, or nobody."""

    broker: int
    preferring: int
    elsewhere: tuple[TopicPartition, ...]

    @property
    def ratio(self) -> float:
        """0 where all are led by the broker that they prefer, 1 where none is."""
        return len(self.elsewhere) / self.preferring


def imbalances(ballots: Mapping[TopicPartition, Ballot]) -> tuple[LeaderImbalance, ...]:
    """One for each broker that is preferred by any partition, in the order of their ids."""
    preferring: dict[int, list[TopicPartition]] = {}
    for partition, ballot in ballots.items():
        for broker in ballot.assignment.replicas[:1]:
            preferring.setdefault(broker, []).append(partition)
    return tuple(
        LeaderImbalance(
            broker, len(partitions), tuple(p for p in partitions if _led_elsewhere(ballots[p].current, broker))
        )
        for broker, partitions in sorted(preferring.items())
    )


def partitions_to_rebalance(
    ballots: Mapping[TopicPartition, Ballot],
    rules: RebalanceRules,
    *,
    reassigning: bool,
    percentage: int = DEFAULT_PERCENTAGE,
) -> tuple[TopicPartition, ...]:
    """Partitions to hold a preferred election for: all of a broker that has more than `percentage` led elsewhere.

    `reassigning` says whether any partition of the cluster is being reassigned.
    """
    if reassigning and rules.waits_for_reassignments:
        return ()
    return tuple(
        partition
        for imbalance in imbalances(ballots)
        if imbalance.ratio > percentage / 100
        for partition in imbalance.elsewhere
        if _electable(ballots[partition], imbalance.broker, rules)
    )


def _led_elsewhere(current: LeaderAndIsr, broker: int) -> bool:
    return current.exists and current.leader != broker


def _electable(ballot: Ballot, broker: int, rules: RebalanceRules) -> bool:
    if rules.asks_isr:
        return elections.preferred(ballot).leader_and_isr is not None
    return ballot.liveness.online(broker)
