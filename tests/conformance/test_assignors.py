"""Kafka's own assignors and ours decide the same for random groups, ties included: clients, coordinator, ZooKeeper.

KDRILL_ASSIGNOR_GROUPS=N compares over that many groups for each assignor; another N begins with other groups.
"""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

import pytest

from model.consumers.assignors.case import read_case
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.kafka_differs import kafka_differs
from model.consumers.assignors.strategies import STRATEGIES, assign
from model.consumers.assignors.strategy import Outcome
from tests.conformance.java.answers import answers
from tests.conformance.random_groups import CLIENTS, COORDINATORS, random_case
from tests.conformance.random_threads import random_threads, znodes

pytestmark = pytest.mark.conformance

GROUPS = int(os.environ.get("KDRILL_ASSIGNOR_GROUPS", "600"))
STICKY = ("sticky", "cooperative-sticky", "uniform")
THREADS = {"0.8.2.2": ("zk-range", "zk-roundrobin"), "1.1.1": ("zk-range", "zk-roundrobin-1.0")}

Lists = dict[str, list[list[Any]]]
Compared = list[tuple[dict[str, Any], Any]]
"""Cases, and what Kafka answers."""


@pytest.fixture(scope="module")
def compared() -> dict[str, Compared]:
    """Assignor → random cases and the answers of 3.9.1."""
    dice = Random(GROUPS)
    assignors = (*CLIENTS, *COORDINATORS)
    cases = [random_case(dice, assignor) for assignor in assignors for _ in range(GROUPS)]
    told = map(json.loads, answers("Assignors", "3.9.1", map(json.dumps, cases)))
    pairs = list(zip(cases, told, strict=True))
    return {assignor: pairs[at * GROUPS : (at + 1) * GROUPS] for at, assignor in enumerate(assignors)}


def lists(told: Any) -> Lists:
    """Partitions by member, in order: the order within a list means nothing to a consumer."""
    return {member: sorted(map(list, partitions)) for member, partitions in told.items()}


def as_kafka(case: dict[str, Any]) -> Outcome | None:
    """Our answer with Kafka's bugs; None if it is that there is none."""
    try:
        return assign(read_case(case), STRATEGIES[case["assignor"]], as_kafka=True)
    except AssignorError:
        return None


def withheld(outcome: Outcome) -> list[list[Any]]:
    topics, numbers = outcome.named.group.located(outcome.assignment.withheld)
    names = [outcome.named.topics[topic] for topic in topics]
    return sorted(map(list, zip(names, numbers.tolist(), strict=True)))


@pytest.mark.parametrize("assignor", [*CLIENTS, *COORDINATORS])
def test_the_assignors_of_3_9_decide_the_same(compared: dict[str, Compared], assignor: str) -> None:
    moved = 0
    for case, theirs in compared[assignor]:
        outcome = as_kafka(case)
        if outcome is None:
            assert "error" in theirs, json.dumps(case)
            continue
        assert lists(outcome.lists()) == lists(theirs["assignment"]), json.dumps(case)
        moved += outcome.assignment.moves > 0
        if assignor == "cooperative-sticky" and "transferring" in theirs:
            assert withheld(outcome) == sorted(theirs["transferring"]), json.dumps(case)
    assert moved > GROUPS // 4, "too few of the groups are interesting"


@pytest.mark.parametrize("assignor", STICKY)
def test_our_answer_is_kafkas_unless_we_say_that_kafka_is_wrong(compared: dict[str, Compared], assignor: str) -> None:
    wrong = 0
    for case, theirs in compared[assignor]:
        told = read_case(case)
        outcome = assign(told, STRATEGIES[assignor])
        same = "error" not in theirs and lists(outcome.lists()) == lists(theirs["assignment"])
        assert (kafka_differs(told, outcome) is None) == same, json.dumps(case)
        wrong += not same
    assert 0 < wrong < GROUPS // 5


@pytest.mark.parametrize("release", THREADS)
def test_the_assignors_of_zookeeper_consumers_decide_the_same(release: str) -> None:
    dice = Random(f"{release} {GROUPS}")
    cases = [random_threads(dice, assignor) for assignor in THREADS[release] for _ in range(GROUPS // 10)]
    refused = 0
    for case, line in zip(cases, answers("ZooKeeperAssignors", release, map(znodes, cases)), strict=True):
        outcome = as_kafka(case)
        assert (outcome is None) == line.startswith("!"), (line, json.dumps(case))
        if outcome is None:
            refused += 1
            continue
        theirs: Lists = {}
        for word in filter(None, line.split("\t")):
            thread, topic, partition = word.split("|")
            theirs.setdefault(thread, []).append([topic, int(partition)])
        assert {thread: own for thread, own in lists(outcome.lists()).items() if own} == lists(theirs), json.dumps(case)
    assert (refused > 0) == (release == "0.8.2.2")
