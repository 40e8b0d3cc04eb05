"""The order of lost copies, as scala-library of each release told it (`tests/conformance/test_scala_order.py` asks)."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.generations import GENERATIONS, Generation, generation_of
from model.controller.state_machines import PartitionAndReplica

ORDERS = [
    ("1.1", (4, 5), [5, 4]),
    ("1.1", (1, 2, 3), [2, 1, 3]),
    ("1.1", (101, 102, 103), [101, 103, 102]),
    ("1.1", (11, 12, 13, 14), [11, 14, 13, 12]),
    ("1.1", tuple(range(10)), [0, 5, 1, 6, 9, 2, 7, 3, 8, 4]),
    ("2.5", (1, 2, 3), [2, 1, 3]),
    ("2.6", (1, 2, 3), [1, 2, 3]),
    ("3.9", (4, 5), [5, 4]),
    ("3.9", (101, 102, 103), [101, 102, 103]),
    ("3.9", (11, 12, 13, 14), [14, 13, 12, 11]),
    ("3.9", (1001, 1002, 1003, 1004, 1005, 1006), [1005, 1001, 1006, 1002, 1003, 1004]),
    ("3.9", tuple(range(10)), [0, 5, 1, 6, 9, 2, 7, 3, 8, 4]),
]


def copies(brokers: tuple[int, ...], partitions: int = 3) -> list[PartitionAndReplica]:
    """Copies of topic `orders` on each of the brokers."""
    return [
        PartitionAndReplica(TopicPartition("orders", number), broker)
        for broker in brokers
        for number in range(partitions)
    ]


def turns(release: str, lost: list[PartitionAndReplica]) -> list[tuple[int, tuple[TopicPartition, ...]]]:
    rules = generation_of(release)
    return list(rules.turns(rules.lost(lost)))


@pytest.mark.parametrize(("release", "brokers", "expected"), ORDERS)
def test_brokers_take_turns_as_in_a_map_of_that_scala(
    release: str, brokers: tuple[int, ...], expected: list[int]
) -> None:
    assert [broker for broker, _ in turns(release, copies(brokers))] == expected


def test_until_1_0_each_partition_has_an_order_of_its_own() -> None:
    found: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for broker, names in turns("1.0", copies((1, 2, 3))):
        for name in names:
            found[name.partition].append(broker)
    assert found == {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]}


def test_four_copies_at_most_keep_the_order_of_their_brokers_until_1_0() -> None:
    assert [broker for broker, _ in turns("0.8.2", copies((1, 2, 3, 4), partitions=1))] == [1, 2, 3, 4]


@pytest.mark.parametrize("rules", GENERATIONS, ids=lambda rules: rules.since)
def test_each_copy_has_one_turn(rules: Generation) -> None:
    lost = copies(tuple(range(0, 3_000, 7)))
    moved = [(name, broker) for broker, names in turns(rules.since, lost) for name in names]
    assert sorted(moved) == sorted(lost)
