"""Where Kafka 3.9.1 is wrong ours is right, says so, and repeats the bug when asked to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model.consumers.assignors.case import read_case
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.strategies import STRATEGIES, assign, best_answer
from tests.model.consumers.assignors.readable_cases import outcome_of, owning, shares

DATA = Path(__file__).parents[3] / "data" / "assignors"
OLD = {"subscription_generation": -1}
TWICE: dict[str, Any] = {
    "topics": {"t0": 8, "t1": 1, "t2": 1, "t3": 2},
    "members": {
        "m0": owning("t0 t1 t2 t3", "t0:1,2 t3:0,1 t2:0"),
        "m1": owning("t1 t2 t3", "t0:5,4,6"),
        "m2": {"topics": ["t0", "t1", "t2", "t3"]},
        "m3": owning("t0 t1 t2 t3", "t0:7"),
        "m4": {"topics": ["t1", "t2", "t3"]},
        "m5": owning("t1 t2", "t0:3"),
    },
    "subscription_type": "HETEROGENEOUS",
}


def told(assignor: str, topics: dict[str, int], **members: Any) -> str | None:
    case = read_case({"topics": topics, "members": members})
    return best_answer(case, STRATEGIES[assignor]).differs


def test_a_member_without_topics_gets_nothing() -> None:
    members: dict[str, Any] = {"A": {"topics": []}, "B": {"topics": ["t"]}}
    assert shares(outcome_of("sticky", {"t": 4}, **members)) == {"A": "", "B": "t:0,1,2,3"}
    assert shares(outcome_of("sticky", {"t": 4}, as_kafka=True, **members)) == {"A": "t:0,2", "B": "t:1,3"}
    assert told("sticky", {"t": 4}, **members) == (
        "Kafka 3.9.1 has a bug here and gives partitions to A of topics not subscribed to: t-0, t-2: "
        "it takes subscriptions for equal that are not"
    )


def test_a_topic_named_twice_does_not_make_up_for_one_not_named() -> None:
    members: dict[str, Any] = {"a": {"topics": ["t", "u"]}, "b": {"topics": ["t", "t"]}}
    assert shares(outcome_of("sticky", {"t": 2, "u": 2}, **members)) == {"a": "u:0,1", "b": "t:0,1"}
    assert shares(outcome_of("sticky", {"t": 2, "u": 2}, as_kafka=True, **members))["b"] == "t:1 u:1"


def test_a_claim_on_a_partition_that_is_gone_counts_for_nothing() -> None:
    members = {"A": owning("t u", "t:5,0 u:0"), "B": owning("t u", "t:1 u:1,2")}
    assert shares(outcome_of("sticky", {"t": 3, "u": 3}, **members)) == {"A": "t:0,2 u:0", "B": "t:1 u:1,2"}
    with pytest.raises(AssignorError, match="keeps a partition that does not exist"):
        outcome_of("sticky", {"t": 3, "u": 3}, as_kafka=True, **members)
    assert str(told("sticky", {"t": 3, "u": 3}, **members)).startswith(
        "Kafka 3.9.1 has a bug here and gives no answer, or a wrong one: partitions are claimed that do not exist, "
        "t-5 (A); a member keeps a partition"
    )


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky", "uniform"])
def test_partitions_that_do_not_exist_are_handed_out_by_kafka_alone(assignor: str) -> None:
    members = {"A": owning("u", "u:0,7"), "B": owning("t u", "t:0,1")}
    topics = {"t": 2, "u": 1}
    assert shares(outcome_of(assignor, topics, as_kafka=True, **members)) == {"A": "u:0,7", "B": "t:0,1"}
    outcome, differs = best_answer(read_case({"topics": topics, "members": members}), STRATEGIES[assignor])
    assert shares(outcome) == {"A": "u:0", "B": "t:0,1"}
    assert differs == (
        "Kafka 3.9.1 has a bug here and also hands out partitions that do not exist: u-7: "
        "partitions are claimed that do not exist, u-7 (A)"
    )


def test_partitions_that_do_not_exist_stop_the_coordinator() -> None:
    members = {"A": owning("t", "t:0,7"), "B": owning("t", "t:1")}
    with pytest.raises(AssignorError, match="are in the way"):
        outcome_of("uniform", {"t": 4}, as_kafka=True, **members)
    assert "t-7 (A)" in str(told("uniform", {"t": 4}, **members))


def test_a_valid_answer_of_kafkas_that_is_better_is_taken() -> None:
    """Nobody had t-0 if both claims count alike; Kafka hears one of them only, and lets that member keep it."""
    members = {"A": owning("t", "t:0", 5, **OLD), "B": owning("t", "t:0", 5), "C": {"topics": ["t"]}}
    theirs = shares(outcome_of("cooperative-sticky", {"t": 1}, as_kafka=True, **members))
    assert sorted(theirs.values()) == ["", "", "t:0"]
    assert set(shares(outcome_of("cooperative-sticky", {"t": 1}, **members)).values()) == {""}
    case = read_case({"topics": {"t": 1}, "members": members})
    outcome, differs = best_answer(case, STRATEGIES["cooperative-sticky"])
    assert (shares(outcome), differs) == (theirs, None)


def test_a_valid_answer_of_kafkas_that_is_more_even_at_once_is_taken() -> None:
    """Ours gives nobody what A has to give up first. Kafka takes t-0 for B's, and A has two less to give up."""
    members = {"A": owning("t", "t:0,1,2", 5, **OLD), "B": owning("t", "t:0")}
    assert shares(outcome_of("cooperative-sticky", {"t": 4}, **members)) == {"A": "t:0,1", "B": "t:3"}
    outcome, differs = best_answer(
        read_case({"topics": {"t": 4}, "members": members}), STRATEGIES["cooperative-sticky"]
    )
    assert (shares(outcome), differs) == ({"A": "t:1,2", "B": "t:0,3"}, None)


def test_the_newer_generation_has_the_partition_whatever_the_version_of_the_protocol() -> None:
    members = {"A": owning("t", "t:0,1", 5, **OLD), "B": owning("t", "t:0,2", 3, **OLD)}
    assert shares(outcome_of("sticky", {"t": 4}, **members))["A"] == "t:0,1"
    assert shares(outcome_of("sticky", {"t": 4}, as_kafka=True, **members))["B"] == "t:0,2"
    assert told("sticky", {"t": 4}, **members) == (
        "Kafka 3.9.1 has a bug here and gives other partitions to A, B: "
        "of two claims it takes the older one where a member tells its generation in user data alone"
    )


def test_a_partition_may_move_twice() -> None:
    case = read_case(TWICE)
    outcome, differs = best_answer(case, STRATEGIES["uniform"])
    assert outcome.assignment.target.min() >= 0
    with pytest.raises(AssignorError, match="would move twice"):
        assign(case, STRATEGIES["uniform"], as_kafka=True)
    assert str(differs).endswith(
        "gives no answer, or a wrong one: a partition would move twice, at which Kafka 3.9.1 throws an exception"
    )


def test_nothing_goes_back_to_who_does_not_subscribe_any_more() -> None:
    members = {"a": owning("t", "t:0,1,2,3,4,5", 2), "b": owning("u", "t:0,1", 1), "c": owning("t u", "", 2)}
    members["c"]["owned"] = {"u": [0]}
    ours = shares(outcome_of("sticky", {"t": 6, "u": 1}, **members))
    assert "t:" not in ours["b"]
    theirs = shares(outcome_of("sticky", {"t": 6, "u": 1}, as_kafka=True, **members))
    assert "t:" in theirs["b"]
    assert str(told("sticky", {"t": 6, "u": 1}, **members)) == (
        "Kafka 3.9.1 has a bug here and gives partitions to b of topics not subscribed to: t-0, t-1: "
        "partitions go back to who had them in an older generation, whether it subscribes or not"
    )


def test_partitions_do_not_go_back_and_forth_for_ever() -> None:
    """Kafka ends here: it gives back to members that do not subscribe."""
    case = read_case(json.loads((DATA / "circles.json").read_bytes()))
    outcome, differs = best_answer(case, STRATEGIES["sticky"])
    assert outcome.assignment.target.min() >= 0
    assert differs is not None
    assert "of topics not subscribed to" in differs or "other partitions" in differs


def test_where_kafka_is_right_nothing_is_told() -> None:
    assert told("sticky", {"t": 4}, A={"topics": ["t"]}, B={"topics": ["t"]}) is None
    assert told("range", {"t": 4}, A={"topics": []}, B={"topics": ["t"]}) is None
