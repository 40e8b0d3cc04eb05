"""Partitions added to a topic, with the cases of Kafka's AddPartitionsTest."""

from collections.abc import Sequence

import pytest

from model.controller import Refusal
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import BrokerMetadata, Placement
from model.controller.topic_validation import PartitionAddition, add_partitions

BROKERS = tuple(map(BrokerMetadata, range(4)))


def add(
    first: Sequence[int], count: int, assignment: Sequence[Sequence[int]] | None = None, **others: object
) -> Placement | Refusal:
    existing = {0: ReplicaAssignment(tuple(first))}
    fields = {"topic": "t", "existing": existing, "brokers": BROKERS, "count": count, "assignment": assignment}
    return add_partitions(PartitionAddition(**fields | others))  # type: ignore[arg-type]


def test_kafka_places_them_behind_the_first() -> None:
    assert add([2, 3, 0, 1], 7) == {
        1: (3, 2, 0, 1),
        2: (0, 3, 1, 2),
        3: (1, 0, 2, 3),
        4: (2, 3, 0, 1),
        5: (3, 0, 1, 2),
        6: (0, 1, 2, 3),
    }
    assert add([1, 2], 3) == {1: (2, 0), 2: (3, 1)}


def test_up_to_0_9_a_broker_id_was_taken_for_its_position() -> None:
    brokers = tuple(map(BrokerMetadata, (4, 5, 6, 7)))
    assert add([5, 6], 2, brokers=brokers) == {1: (6, 4)}
    assert add([5, 6], 2, brokers=brokers, by_broker_id=True) == {1: (6, 5)}


def test_they_may_be_placed_by_hand() -> None:
    assert add([1, 2], 3, [[0, 1], [2, 3]]) == {1: (0, 1), 2: (2, 3)}


@pytest.mark.parametrize(
    ("count", "assignment", "error", "message"),
    [
        (1, None, "INVALID_PARTITIONS", "Topic already has 1 partitions."),
        (0, None, "INVALID_PARTITIONS", "Topic currently has 1 partitions, which is higher than the requested 0."),
        (2, [[0, 9], [8]], "INVALID_REPLICA_ASSIGNMENT", "Unknown broker(s) in replica assignment: 8, 9."),
        (
            3,
            [[0, 1, 2]],
            "INVALID_REPLICA_ASSIGNMENT",
            "Increasing the number of partitions by 2 but 1 assignments provided.",
        ),
        (2, [[]], "INVALID_REPLICA_ASSIGNMENT", "Cannot have replication factor of 0 for partition id 1."),
        (
            2,
            [[1, 1]],
            "INVALID_REPLICA_ASSIGNMENT",
            "Duplicate brokers not allowed in replica assignment: 1,1 for partition id 1.",
        ),
        (
            4,
            [[0, 1, 2], [0, 1], [3]],
            "INVALID_REPLICA_ASSIGNMENT",
            "Inconsistent replication factor between partitions, partition 0 has 2 while partitions [1, 3] have "
            "replication factors [3, 1], respectively.",
        ),
    ],
)
def test_what_is_refused(count: int, assignment: Sequence[Sequence[int]] | None, error: str, message: str) -> None:
    refusal = add([0, 1], count, assignment)
    assert isinstance(refusal, Refusal)
    assert (refusal.error, refusal.message) == (error, message)


def test_a_topic_that_is_being_reassigned_is_refused_first() -> None:
    existing = {0: ReplicaAssignment((0, 1)), 1: ReplicaAssignment((0, 1)).reassign_to((2, 3))}
    refusal = add([0, 1], 0, existing=existing)
    assert refusal == Refusal("REASSIGNMENT_IN_PROGRESS", "A partition reassignment is in progress for the topic 't'.")


def test_there_has_to_be_a_topic_and_its_partition_0() -> None:
    assert add([], 2, existing={}) == Refusal("UNKNOWN_TOPIC_OR_PARTITION", "The topic 't' does not exist.")
    refusal = add([], 2, existing={1: ReplicaAssignment((0, 1))})
    assert isinstance(refusal, Refusal)
    assert refusal.message.endswith("partition id 0 is missing.")


def test_too_few_brokers_are_left() -> None:
    refusal = add([0, 1, 2], 2, brokers=BROKERS[:2])
    assert isinstance(refusal, Refusal)
    assert refusal.error == "INVALID_REPLICATION_FACTOR"
