"""Who sends and who receives while replicas move: the cases of Kafka's ReassignPartitionsUnitTest."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.replica_moves import (
    ReplicaMove,
    brokers_involved,
    follower_throttles,
    leader_throttles,
    replica_moves,
)

HALF_WAY = ReplicaAssignment((1, 2, 3, 4), adding=(3, 4), removing=(1, 2))
UNDER_WAY = {
    TopicPartition("foo", 0): ReplicaAssignment((1, 2, 3, 4), adding=(4,), removing=(3,)),
    TopicPartition("foo", 1): ReplicaAssignment((4, 5, 6, 7, 8), adding=(7, 8), removing=(4, 5)),
    **{TopicPartition("foo", number): HALF_WAY for number in (2, 3, 4, 5)},
}
PROPOSED = {
    TopicPartition("foo", 0): (1, 2, 5),
    TopicPartition("foo", 2): (3, 4),
    TopicPartition("foo", 3): (5, 6),
    TopicPartition("foo", 4): (3,),
    TopicPartition("foo", 5): (3, 4, 5, 6),
    TopicPartition("bar", 0): (1, 2, 3),
}
MOVES = replica_moves(UNDER_WAY, PROPOSED, {TopicPartition("bar", 0): (2, 3, 4)})


@pytest.mark.parametrize(
    ("topic", "partition", "sources", "destinations"),
    [
        ("foo", 0, {1, 2, 3}, {5}),
        ("foo", 1, {4, 5, 6}, {7, 8}),
        ("foo", 2, {1, 2}, {3, 4}),
        ("foo", 3, {1, 2}, {5, 6}),
        ("foo", 4, {1, 2}, {3}),
        ("foo", 5, {1, 2}, {3, 4, 5, 6}),
        ("bar", 0, {2, 3, 4}, {1}),
    ],
)
def test_the_move_map(topic: str, partition: int, sources: set[int], destinations: set[int]) -> None:
    move = MOVES[TopicPartition(topic, partition)]
    assert move == ReplicaMove(frozenset(sources), frozenset(destinations))


def test_throttles() -> None:
    assert leader_throttles(MOVES) == {
        "foo": "0:1,0:2,0:3,1:4,1:5,1:6,2:1,2:2,3:1,3:2,4:1,4:2,5:1,5:2",
        "bar": "0:2,0:3,0:4",
    }
    assert follower_throttles(MOVES) == {
        "foo": "0:5,1:7,1:8,2:3,2:4,3:5,3:6,4:3,5:3,5:4,5:5,5:6",
        "bar": "0:1",
    }
    assert brokers_involved(MOVES) == {1, 2, 3, 4, 5, 6, 7, 8}


def test_nothing_moves() -> None:
    assert replica_moves({}, {}, {}) == {}
    assert brokers_involved({}) == frozenset()


def test_a_partition_has_to_have_replicas() -> None:
    with pytest.raises(KeyError):
        replica_moves({}, {TopicPartition("t", 0): (1,)}, {})
