"""Kafka's own assignors and ours decide the same for random groups, ties included: clients, coordinator, ZooKeeper.

KDRILL_ASSIGNOR_GROUPS=N compares over that many groups for each assignor; another N begins with other groups.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from random import Random
from typing import Any

import pytest

from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.case import read_case
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.strategies import STRATEGIES, assign, best_answer
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


def as_kafka(case: dict[str, Any]) -> AssignedCase | None:
    """Our answer with Kafka's bugs; None if it is that there is none."""
    try:
        return assign(read_case(case), STRATEGIES[case["assignor"]], as_kafka=True)
    except AssignorError:
        return None


def withheld(outcome: AssignedCase) -> list[list[Any]]:
    topics, numbers = outcome.named.group.located(outcome.assignment.withheld)
    names = [outcome.named.topics[topic] for topic in topics]
    return sorted(map(list, zip(names, numbers.tolist(), strict=True)))


def hands_out_twice(theirs: Any) -> bool:
    """Whether Kafka gives a partition to two members, which ours has no way to say."""
    given = [tuple(partition) for own in theirs["assignment"].values() for partition in own]
    return len(set(given)) < len(given)


@pytest.mark.parametrize("assignor", [*CLIENTS, *COORDINATORS])
def test_the_assignors_of_3_9_decide_the_same(compared: dict[str, Compared], assignor: str) -> None:
    moved = 0
    for case, theirs in compared[assignor]:
        outcome = as_kafka(case)
        if outcome is None:
            assert "error" in theirs or hands_out_twice(theirs), json.dumps(case)
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
        outcome, differs = best_answer(read_case(case), STRATEGIES[assignor])
        same = "error" not in theirs and lists(outcome.lists()) == lists(theirs["assignment"])
        assert (differs is None) == same, json.dumps(case)
        wrong += not same
    assert 0 < wrong < GROUPS // 5


def is_valid(case: dict[str, Any], kafkas: AssignedCase) -> bool:
    """Whether everybody subscribes to what it gets in the end, and all that is subscribed to is given out."""
    target = kafkas.named.lists(kafkas.assignment.target)
    given = {(topic, number) for own in target.values() for topic, number in own}
    wanted = {topic for member in case["members"].values() for topic in member["topics"]} & case["topics"].keys()
    return all(
        topic in case["members"][member]["topics"] for member, own in target.items() for topic, _ in own
    ) and all((topic, number) in given for topic in wanted for number in range(case["topics"][topic]))


def rank(case: dict[str, Any], told: Lists, ours: AssignedCase) -> tuple[int, int, int]:
    """Idle members, spread, and moves from what is known to have been owned; of partitions that exist."""
    owner = {(t, n): member for member, own in told.items() for t, n in own if n < case["topics"][t]}
    counts = Counter(owner.values())
    shares = [counts[member] for member in case["members"]]
    before = ours.named.lists(ours.assignment.before.owner)
    moves = sum(owner.get((topic, number)) != member for member, own in before.items() for topic, number in own)
    return shares.count(0), max(shares) - min(shares), moves


@pytest.mark.parametrize("assignor", STICKY)
def test_no_valid_answer_of_kafkas_is_better_than_ours(compared: dict[str, Compared], assignor: str) -> None:
    worse = 0
    for case, theirs in compared[assignor]:
        kafkas = None if "error" in theirs else as_kafka(case)
        if kafkas is None or not is_valid(case, kafkas):
            continue
        outcome, _ = best_answer(read_case(case), STRATEGIES[assignor])
        mine, its = (rank(case, lists(told), outcome) for told in (outcome.lists(), theirs["assignment"]))
        assert mine <= its, json.dumps(case)
        worse += mine < its
    assert worse or assignor == "uniform", "in none of the groups a bug made Kafka's answer worse"


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
