"""Which brokers send and which receive while replicas are moved, and the throttles that Kafka's tool sets for it.

Source: `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` (3.9): `calculateProposedMoveMap`,
`calculateLeaderThrottles`, `calculateFollowerThrottles`, `calculateReassigningBrokers`; KIP-73, KIP-455. Nothing moves
here.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.replica_assignment import ReplicaAssignment


class ReplicaMove(msgspec.Struct, frozen=True, gc=False):
    """Brokers whose copy the new ones are made from, and brokers that get a new one."""

    sources: frozenset[int]
    destinations: frozenset[int]


Moves = Mapping[TopicPartition, ReplicaMove]


def replica_moves(
    under_way: Mapping[TopicPartition, ReplicaAssignment],
    proposed: Mapping[TopicPartition, Sequence[int]],
    current: Mapping[TopicPartition, Sequence[int]],
) -> Moves:
    """All moves once `proposed` is asked for: those `under_way`, with new goals where they get one, and new ones.

    `current` has the replicas of partitions that are proposed and not under way. Raises KeyError for one that is
    in neither.
    """
    moves = {
        name: ReplicaMove(frozenset(assignment.origin), frozenset(assignment.adding))
        for name, assignment in under_way.items()
    }
    for name, target in proposed.items():
        before = moves.get(name)
        sources = before.sources if before is not None else frozenset(current[name])
        moves[name] = ReplicaMove(sources, frozenset(target) - sources)
    return moves


def leader_throttles(moves: Moves) -> dict[str, str]:
    """By topic the value of leader.replication.throttled.replicas."""
    return _by_topic((name, move.sources) for name, move in moves.items())


def follower_throttles(moves: Moves) -> dict[str, str]:
    """By topic the value of follower.replication.throttled.replicas."""
    return _by_topic((name, move.destinations) for name, move in moves.items())


def brokers_involved(moves: Moves) -> frozenset[int]:
    """Brokers that send or receive: they get the rates."""
    return frozenset[int]().union(*(move.sources | move.destinations for move in moves.values()))


def _by_topic(throttled: Iterable[tuple[TopicPartition, frozenset[int]]]) -> dict[str, str]:
    by_topic: dict[str, set[str]] = {}
    for name, brokers in throttled:
        by_topic.setdefault(name.topic, set()).update(f"{name.partition}:{broker}" for broker in brokers)
    # Kafka sorts the pairs as text.
    return {topic: ",".join(sorted(pairs)) for topic, pairs in by_topic.items()}
