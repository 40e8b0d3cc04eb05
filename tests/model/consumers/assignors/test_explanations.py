"""The sentences by which an assignment explains itself."""

from __future__ import annotations

import pytest

from model.consumers.assignors.assignment import balance, explain, why
from model.consumers.assignors.from_scratch import ZOOKEEPER_RELEASES
from tests.model.consumers.assignors.readable_cases import outcome_of, owning


def test_a_run_of_a_range() -> None:
    outcome = outcome_of("range", {"t": 5}, a="t", b="t", c="t")
    assert why(outcome, "t", 3) == (
        "5 partitions of t for 3 subscribers, in runs: 1 each and one more for the first 2, by instance id and then "
        "member id; b is number 2 of them and has 2 to 3."
    )
    assert why(outcome_of("zk-range", {"t": 2}, a={"topics": {"t": 2}}), "t", 1) == (
        "2 partitions of t for 2 subscribers, in runs: 1 each, by thread id; a-1 is number 2 of them and has 1."
    )
    assert "2 each, rounded up, until none are left" in why(outcome_of("ceil", {"t": 4}, a="t", b="t", c="t"), "t", 0)


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
    even = outcome_of("roundrobin", {"t": 2, "u": 3}, a="t u", b="t u")
    assert why(even, "u", 2).endswith("; this one is number 5 of 5, the turn of member 1 of 2, a.")


def test_whose_turn_it_is_by_hash_is_who_has_it() -> None:
    for name in ZOOKEEPER_RELEASES:
        outcome = outcome_of(name, {"t": 5, "u": 4}, a={"topics": {"t": 2, "u": 2}}, b="t u")
        for told in explain(outcome):
            assert told.why.endswith(f" of 3, {told.member}."), name


def test_the_whole_is_explained_at_once() -> None:
    outcome = outcome_of("cooperative-sticky", {"t": 3}, a=owning("t", "t:0,1,2"), b="t")
    told = explain(outcome)
    assert [(each.partition, each.before, each.member, each.waits) for each in told] == [
        (0, "a", "a", False),
        (1, "a", "a", False),
        (2, "a", "b", True),
    ]
    assert [each.why for each in told] == [why(outcome, "t", number) for number in range(3)]
    nobody = outcome_of("zk-range", {"t": 1}, a={"topics": {"u": 1}})
    assert explain(nobody) == ()


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


def test_who_has_no_replica_on_its_rack_gives_up() -> None:
    racks = {"t": [["r1"], ["r2"], ["r2"]]}
    a, b = owning("t", "t:0,1,2", rack="r1"), {"topics": ["t"], "rack": "r2"}
    moved = "It moves from a, which has no replica of it on its rack; b had room below its share of 1 or 2"
    told = explain(outcome_of("sticky", {"t": 3}, racks=racks, a=a, b=b))
    assert [each.why for each in told] == [
        "a owned it and keeps it; the share is 1 or 2.",
        *[f"{moved} when its turn came."] * 2,
    ]


def test_shares_of_different_subscriptions() -> None:
    outcome = outcome_of("sticky", {"t": 3, "u": 2}, a=owning("t u", "t:0,1,2 u:0"), b="t", c="u")
    moved = "It moves from a, which owned 4 and ends with 2; b had fewest of t's subscribers when its turn came."
    assert [each.why for each in explain(outcome)] == [
        *[moved] * 2,
        *["a owned it and keeps it; it ends with 2."] * 2,
        "Nobody owned it, and c had fewest of u's subscribers when its turn came.",
    ]
    assert balance(outcome) == (
        "Partitions per member: 2 have 2, 1 has 1. 2 of 4 owned before move; for this balance at least 2 must."
    )


def test_runs_of_the_uniform_assignor() -> None:
    outcome = outcome_of("uniform", {"t": 3}, a=owning("t", "t:0,1"), b="t")
    assert [each.why for each in explain(outcome)] == [
        *["a owned it and keeps it; the share is 1 or 2."] * 2,
        "Nobody owned it; free partitions are given away in runs, and this one filled b's 1.",
    ]
    assert balance(outcome_of("uniform", {"t": 1})).startswith("There are no members. 0 of 0 ")


def test_what_is_not_read_has_no_reason() -> None:
    outcome = outcome_of("range", {"t": 1, "u": 1}, a="t")
    with pytest.raises(KeyError):
        why(outcome, "u", 0)
    with pytest.raises(KeyError):
        why(outcome, "t", 1)
