"""Partitions as tests begin with them: one broker's view of `orders-0`, replicas 1, 2 and 3."""

from __future__ import annotations

import msgspec

from model.broker.partition import Conditions, LogPositions, Partition, ReplicationSettings, replication_rules_of
from model.broker.roles import become_follower, become_leader, take_on
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import PartitionToServe
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.log.checkpoints import EpochStart, LeaderEpochs

NAME = TopicPartition("orders", 0)
LIVE = frozenset({1, 2, 3})
START_MS = 1_000_000


def at(now_ms: int = START_MS, release: str = "3.9", **settings: int) -> Conditions:
    """Conditions with all three brokers live, by the rules of a release."""
    rules = replication_rules_of(release)
    given = {"replica_lag_time_max_ms": rules.lag_time_max_ms, **settings}
    return Conditions(now_ms, LIVE, ReplicationSettings(rules=rules, **given))  # pyright: ignore[reportArgumentType]


def log_to(end: int, *epochs: tuple[int, int], start: int = 0) -> LogPositions:
    """A log that ends at this offset, with epochs as pairs of epoch and start offset."""
    return LogPositions(start, end, LeaderEpochs(tuple(EpochStart(*each) for each in epochs)))


def order(
    leader: int,
    leader_epoch: int = 0,
    isr: tuple[int, ...] = (1, 2, 3),
    *,
    partition_epoch: int = 0,
    replicas: tuple[int, ...] = (1, 2, 3),
    controller_epoch: int = 1,
    partition: TopicPartition = NAME,
    is_new: bool = False,
) -> PartitionToServe:
    """A partition as a LeaderAndIsr tells it."""
    state = LeaderAndIsr(leader, leader_epoch, isr, partition_epoch=partition_epoch)
    return PartitionToServe(partition, state, controller_epoch, ReplicaAssignment(replicas), is_new)


def leader_of(
    log: LogPositions,
    isr: tuple[int, ...] = (1, 2, 3),
    conditions: Conditions | None = None,
    *,
    leader_epoch: int = 0,
    high_watermark: int = 0,
) -> Partition:
    """Broker 1 as it has just become the leader."""
    told = order(1, leader_epoch, isr)
    fresh = take_on(NAME, 1, msgspec.structs.replace(log, checkpointed_high_watermark=high_watermark))
    return become_leader(fresh, told, log, conditions or at()).partition


def follower_of(leader: int, log: LogPositions, *, broker: int = 2, leader_epoch: int = 0) -> Partition:
    """A broker as it has just become a follower."""
    told = order(leader, leader_epoch)
    return become_follower(take_on(NAME, broker, log), told, log).partition
