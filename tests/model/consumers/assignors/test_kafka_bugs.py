"""Where Kafka 3.9.1 is wrong ours is right, says so, and repeats the bug when asked to."""

from __future__ import annotations

from typing import Any

import pytest

from model.consumers.assignors.case import read_case
from model.consumers.assignors.group import AssignorError
from model.consumers.assignors.kafka_differs import kafka_differs
from model.consumers.assignors.strategies import STRATEGIES, assign
from tests.model.consumers.assignors.told import outcome_of, owning, shares

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
    return kafka_differs(case, assign(case, STRATEGIES[assignor]))


def test_a_member_without_topics_gets_nothing() -> None:
    members: dict[str, Any] = {"A": {"topics": []}, "B": {"topics": ["t"]}}
    assert shares(outcome_of("sticky", {"t": 4}, **members)) == {"A": "", "B": "t:0,1,2,3"}
    assert shares(outcome_of("sticky", {"t": 4}, as_kafka=True, **members)) == {"A": "t:0,2", "B": "t:1,3"}
    assert told("sticky", {"t": 4}, **members) == (
        "Kafka 3.9.1 has a bug here and gives other partitions to A, B: --as-kafka shows which"
    )


def test_a_topic_named_twice_does_not_make_up_for_one_not_named() -> None:
    members: dict[str, Any] = {"a": {"topics": ["t", "u"]}, "b": {"topics": ["t", "t"]}}
    assert shares(outcome_of("sticky", {"t": 2, "u": 2}, **members)) == {"a": "u:0,1", "b": "t:0,1"}
    assert shares(outcome_of("sticky", {"t": 2, "u": 2}, as_kafka=True, **members))["b"] == "t:1 u:1"


def test_a_claim_on_a_partition_that_is_gone_counts_for_nothing() -> None:
    members = {"A": owning("t u", "t:5,0 u:0"), "B": owning("t u", "t:1 u:1,2")}
    assert shares(outcome_of("sticky", {"t": 3, "u": 3}, **members)) == {"A": "t:0,2 u:0", "B": "t:1 u:1,2"}
    with pytest.raises(AssignorError, match="A claims t-5, which t does not have"):
        outcome_of("sticky", {"t": 3, "u": 3}, as_kafka=True, **members)


def test_the_newer_generation_has_the_partition_whatever_the_version_of_the_protocol() -> None:
    members = {"A": owning("t", "t:0,1", 5, **OLD), "B": owning("t", "t:0,2", 3, **OLD)}
    assert shares(outcome_of("sticky", {"t": 4}, **members))["A"] == "t:0,1"
    assert shares(outcome_of("sticky", {"t": 4}, as_kafka=True, **members))["B"] == "t:0,2"


def test_a_partition_may_move_twice() -> None:
    case = read_case(TWICE)
    outcome = assign(case, STRATEGIES["uniform"])
    assert outcome.assignment.target.min() >= 0
    with pytest.raises(AssignorError, match="would move twice"):
        assign(case, STRATEGIES["uniform"], as_kafka=True)
    assert "bug here: a partition would move twice" in str(kafka_differs(case, outcome))


def test_nothing_goes_back_to_who_does_not_subscribe_any_more() -> None:
    members = {"a": owning("t", "t:0,1,2,3,4,5", 2), "b": owning("u", "t:0,1", 1), "c": owning("t u", "", 2)}
    members["c"]["owned"] = {"u": [0]}
    ours = shares(outcome_of("sticky", {"t": 6, "u": 1}, **members))
    assert "t:" not in ours["b"]
    theirs = shares(outcome_of("sticky", {"t": 6, "u": 1}, as_kafka=True, **members))
    assert "t:" in theirs["b"]


def test_where_kafka_is_right_nothing_is_told() -> None:
    assert told("sticky", {"t": 4}, A={"topics": ["t"]}, B={"topics": ["t"]}) is None
    assert told("range", {"t": 4}, A={"topics": []}, B={"topics": ["t"]}) is None
