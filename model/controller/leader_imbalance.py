"""Which partitions an automatic rebalance leads back to their preferred replicas. It elects nobody and has no timer.

Source: `KafkaController.checkAndTriggerAutoLeaderRebalance`, 0.8.1 to 3.9; `ControllerContext.hasPreferredLeader`
(2.7 to 3.9). A partition is given as the Ballot that an election would decide on; those of topics that are queued for
deletion are not given at all.
"""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.controller import elections
from model.controller.ballot import Ballot
from model.controller.leader_and_isr import LeaderAndIsr

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


def preferred_replica_imbalance_count(ballots: Mapping[TopicPartition, Ballot]) -> int:
    """Kafka's gauge PreferredReplicaImbalanceCount (as from 2.7 on).

    A preferred replica that is still being added counts only once it is in the ISR, whoever leads.
    """
    return sum(ballot.current.exists and not _has_preferred_leader(ballot) for ballot in ballots.values())


def _has_preferred_leader(ballot: Ballot) -> bool:
    preferred = ballot.assignment.replicas[0]
    if preferred in ballot.assignment.adding:
        return preferred not in ballot.current.isr
    return ballot.current.leader == preferred


def _led_elsewhere(current: LeaderAndIsr, broker: int) -> bool:
    return current.exists and current.leader != broker


def _electable(ballot: Ballot, broker: int, rules: RebalanceRules) -> bool:
    if rules.asks_isr:
        return elections.preferred(ballot).leader_and_isr is not None
    return ballot.liveness.online(broker)
