"""The sentences by which an assignment explains itself."""

from __future__ import annotations

import pytest

from model.consumers.assignors.explanations import balance, why
from tests.model.consumers.assignors.told import outcome_of, owning


def test_a_run_of_a_range() -> None:
    outcome = outcome_of("range", {"t": 5}, a="t", b="t", c="t")
    assert why(outcome, "t", 3) == (
        "Of t's partitions, 5, each subscriber of 3 gets a run, longer ones first, by instance id and then member id; "
        "b is number 2 of them and has 2 to 3."
    )


def test_a_range_where_racks_matter() -> None:
    near, far = {"topics": ["t"], "rack": "r2"}, {"topics": ["t"], "rack": "r1"}
    outcome = outcome_of("range", {"t": 2}, racks={"t": [["r1"], ["r2"]]}, a=near, b=far)
    assert why(outcome, "t", 0).endswith("b has it because members with a replica on their rack are served first.")


def test_turns_around_a_ring() -> None:
    outcome = outcome_of("roundrobin", {"t": 2, "u": 1}, a="t u", b="t")
    assert why(outcome, "t", 1) == (
        "Partitions are dealt one by one in the order of topics and numbers around the members, static members first, "
        "passing over who does not subscribe to t; this one came to b."
    )


def test_what_is_kept_what_moves_and_what_waits() -> None:
    outcome = outcome_of("cooperative-sticky", {"t": 4}, a=owning("t", "t:0,1,2"), b="t")
    assert why(outcome, "t", 0) == "a owned it and keeps it; the share is 2."
    assert why(outcome, "t", 3) == "Nobody owned it, and b had room below its share of 2 when its turn came."
    assert why(outcome, "t", 2) == (
        "It moves from a, which owned 3 and ends with 2; b had room below its share of 2 when its turn came. "
        "It waits: b gets it in the next rebalance, once it is given up."
    )
    assert balance(outcome) == (
        "Partitions per member: 1 has 2, 1 has 1. 1 of 3 owned before move; for this balance at least 1 must. "
        "1 waits for the next rebalance."
    )


def test_why_an_owner_gives_up() -> None:
    contested = outcome_of("sticky", {"t": 2}, a=owning("t", "t:0"), b=owning("t", "t:0"))
    assert why(contested, "t", 0).startswith("Several members claimed it in one generation, so none keeps it;")
    left = outcome_of("sticky", {"t": 1, "u": 1}, a=owning("u", "t:0"), b="t")
    assert why(left, "t", 0) == (
        "It moves from a, which does not subscribe to t any more; b had fewest of t's subscribers when its turn came."
    )


def test_what_is_not_read_has_no_reason() -> None:
    outcome = outcome_of("range", {"t": 1, "u": 1}, a="t")
    with pytest.raises(KeyError):
        why(outcome, "u", 0)
    with pytest.raises(KeyError):
        why(outcome, "t", 1)
