"""Lost copies come in the order of Scala's own collections over Kafka's own class, for the Scala of each release."""

from __future__ import annotations

import random

import pytest

from model.cluster.ids import TopicPartition
from model.controller.generations import generation_of
from model.controller.scala_order import one_by_one
from model.controller.state_machines import PartitionAndReplica
from tests.conformance.java.answers import answers
from tests.conformance.kafka.releases import RELEASES

pytestmark = pytest.mark.conformance

CASES = 2_000


def case(dice: random.Random) -> list[PartitionAndReplica]:
    """What some brokers held, in the order in which it is put into a set: broker by broker."""
    largest = dice.choice([4, 10, 100, 2_000, 2**31 - 1])
    brokers = sorted({dice.randint(0, largest) for _ in range(dice.choice([2, 3, 4, 6, 12, 40]))})
    topics = {"".join(dice.choices("abcXYZ019._-", k=dice.randint(1, 20))) for _ in range(dice.choice([1, 3]))}
    names = [TopicPartition(topic, number) for topic in sorted(topics) for number in range(dice.choice([1, 2, 9]))]
    copies = [
        PartitionAndReplica(name, broker)
        for broker in brokers
        for name in names
        if dice.random() < dice.choice([0.5, 1])
    ]
    return copies or [PartitionAndReplica(names[0], brokers[0])]


def line(copies: list[PartitionAndReplica]) -> str:
    return " ".join(f"{name.topic},{name.partition},{broker}" for name, broker in copies)


def by_partition(copies: list[PartitionAndReplica]) -> dict[TopicPartition, list[int]]:
    found: dict[TopicPartition, list[int]] = {}
    for name, broker in copies:
        found.setdefault(name, []).append(broker)
    return found


@pytest.mark.parametrize("release", RELEASES)
def test_lost_copies_come_as_scala_has_them(release: str) -> None:
    dice = random.Random(1)
    cases = [case(dice) for _ in range(CASES)]
    rules = generation_of(release)
    for copies, told in zip(cases, answers("ScalaOrders", release, map(line, cases)), strict=True):
        in_set, _, groups = told.partition(":")
        turns = list(rules.turns(rules.lost(copies)))
        if rules.turns is one_by_one:
            moved = [PartitionAndReplica(name, broker) for broker, names in turns for name in names]
            expected = [
                PartitionAndReplica(TopicPartition(topic, int(partition)), int(broker))
                for topic, partition, broker in (text.split(",") for text in in_set.split(" "))
            ]
            assert by_partition(moved) == by_partition(expected), line(copies)
        else:
            assert [broker for broker, _ in turns] == list(map(int, groups.split(" "))), line(copies)
            assert sorted((name, broker) for broker, names in turns for name in names) == sorted(copies)
