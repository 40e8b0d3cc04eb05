"""The examples by which the assignors are explained to people, and those that are told wrong."""

from __future__ import annotations

import pytest

from model.consumers.assignors.group import AssignorError
from tests.model.consumers.assignors.readable_cases import outcome_of, owning, shares

FOUR = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}
ALL = "t0 t1 t2 t3"


def test_range_cuts_every_topic_for_itself() -> None:
    even = outcome_of("range", {"t0": 4, "t1": 4}, C0="t0 t1", C1="t0 t1")
    assert shares(even) == {"C0": "t0:0,1 t1:0,1", "C1": "t0:2,3 t1:2,3"}
    odd = outcome_of("range", {"t0": 3, "t1": 3}, C0="t0 t1", C1="t0 t1")
    assert shares(odd) == {"C0": "t0:0,1 t1:0,1", "C1": "t0:2 t1:2"}
    assert odd.assignment.spread == 2


@pytest.mark.parametrize(
    ("consumers", "lengths"), [(1, [7]), (2, [4, 3]), (3, [3, 2, 2]), (7, [1] * 7), (8, [1, 1, 1, 1, 1, 1, 1, 0])]
)
def test_range_of_seven_partitions(consumers: int, lengths: list[int]) -> None:
    outcome = outcome_of("range", {"t": 7}, **{f"C{n}": "t" for n in range(consumers)})
    assert outcome.assignment.counts.tolist() == lengths


def test_round_robin_deals_over_topics() -> None:
    outcome = outcome_of("roundrobin", {"t0": 3, "t1": 3}, C0="t0 t1", C1="t0 t1")
    assert shares(outcome) == {"C0": "t0:0,2 t1:1", "C1": "t0:1 t1:0,2"}


def test_round_robin_with_different_subscriptions_is_uneven() -> None:
    outcome = outcome_of("roundrobin", {"t0": 1, "t1": 2, "t2": 3}, C0="t0", C1="t0 t1", C2="t0 t1 t2")
    assert shares(outcome) == {"C0": "t0:0", "C1": "t1:0", "C2": "t1:1 t2:0,1,2"}


def test_sticky_begins_like_round_robin_and_keeps_what_it_gave() -> None:
    begun = outcome_of("sticky", FOUR, C0=ALL, C1=ALL, C2=ALL)
    assert shares(begun) == {"C0": "t0:0 t1:1 t3:0", "C1": "t0:1 t2:0 t3:1", "C2": "t1:0 t2:1"}
    for assignor in ("sticky", "cooperative-sticky"):
        left = outcome_of(assignor, FOUR, C0=owning(ALL, "t0:0 t1:1 t3:0"), C2=owning(ALL, "t1:0 t2:1"))
        assert shares(left) == {"C0": "t0:0,1 t1:1 t3:0", "C2": "t1:0 t2:0,1 t3:1"}
        assert left.assignment.moves == left.assignment.moves_lower_bound(left.named.group) == 0
    moved = outcome_of("roundrobin", FOUR, C0=owning(ALL, "t0:0 t1:1 t3:0"), C2=owning(ALL, "t1:0 t2:1"))
    assert shares(moved) == {"C0": "t0:0 t1:0 t2:0 t3:0", "C2": "t0:1 t1:1 t2:1 t3:1"}
    assert (moved.assignment.moves, moved.assignment.moves_lower_bound(moved.named.group)) == (2, 0)


def test_cooperative_members_wait_for_what_another_has_to_give_up() -> None:
    outcome = outcome_of("cooperative-sticky", {"t": 4}, A=owning("t", "t:0,1,2,3"), B="t")
    assert shares(outcome) == {"A": "t:0,1", "B": ""}
    assert outcome.assignment.withheld.tolist() == [2, 3]
    assert outcome.assignment.target.tolist() == [0, 0, 1, 1]
    assert (outcome.assignment.moves, outcome.assignment.spread) == (2, 2)


@pytest.mark.parametrize(
    ("partitions", "threads", "rounded_up", "kafka"),
    [(4, 3, [2, 2, 0], [2, 1, 1]), (5, 3, [2, 2, 1], [2, 2, 1]), (7, 5, [2, 2, 2, 1, 0], [2, 2, 1, 1, 1])],
)
def test_the_rounded_up_rule_leaves_threads_idle_that_kafka_does_not(
    partitions: int, threads: int, rounded_up: list[int], kafka: list[int]
) -> None:
    members = {f"C{n}": "t" for n in range(threads)}
    assert outcome_of("ceil", {"t": partitions}, **members).assignment.counts.tolist() == rounded_up
    assert outcome_of("zk-range", {"t": partitions}, **members).assignment.counts.tolist() == kafka


def test_the_rounded_up_rule_where_it_fits() -> None:
    outcome = outcome_of("ceil", {"topic1": 4}, C0="topic1", C1="topic1")
    assert shares(outcome) == {"C0": "topic1:0,1", "C1": "topic1:2,3"}


def test_zookeeper_consumers_with_one_thread_and_with_two() -> None:
    one = outcome_of("zk-range", {"report-log": 4}, node1="report-log", node2="report-log", node3="report-log")
    assert shares(one) == {"node1": "report-log:0,1", "node2": "report-log:2", "node3": "report-log:3"}
    two = {"topics": {"report-log": 2}}
    outcome = outcome_of("zk-range", {"report-log": 4}, node1=two, node2=two, node3=two)
    assert [thread for thread, share in shares(outcome).items() if not share] == ["node3-0", "node3-1"]
    assert shares(outcome)["node1-1"] == "report-log:1"


def test_threads_are_ordered_as_text() -> None:
    outcome = outcome_of("zk-range", {"t": 13}, c={"topics": {"t": 12}})
    assert list(outcome.lists())[:5] == ["c-0", "c-1", "c-10", "c-11", "c-2"]
    assert shares(outcome)["c-0"] == "t:0,1"


def test_old_round_robin_wants_the_same_threads_for_every_topic() -> None:
    members = {"C0": {"topics": {"t0": 1}}, "C1": {"topics": {"t0": 1, "t1": 1}}}
    with pytest.raises(AssignorError, match="t0 and t1 are not consumed by the same threads"):
        outcome_of("zk-roundrobin", {"t0": 3, "t1": 3}, **members)
    assert outcome_of("zk-roundrobin-1.0", {"t0": 3, "t1": 3}, **members).assignment.counts.tolist() == [2, 4]


def test_static_members_come_first_by_instance_id() -> None:
    members = {"b": {"topics": ["t"], "instance_id": "i1"}, "a": {"topics": ["t"], "instance_id": "i2"}}
    assert shares(outcome_of("range", {"t": 3}, **members)) == {"a": "t:2", "b": "t:0,1"}
    assert shares(outcome_of("sticky", {"t": 3}, **members)) == {"a": "t:0,2", "b": "t:1"}, "not for sticky"


def test_the_coordinators_range_and_uniform() -> None:
    topics = {"t0": 3, "t1": 3}
    in_ranges = outcome_of("server-range", topics, C0="t0 t1", C1="t0 t1")
    assert shares(in_ranges) == {"C0": "t0:0,1 t1:0,1", "C1": "t0:2 t1:2"}
    assert shares(outcome_of("uniform", topics, C0="t0 t1", C1="t0 t1")) == {"C0": "t0:0,1,2", "C1": "t1:0,1,2"}


def test_uniform_may_move_for_nothing_where_sticky_does_not() -> None:
    members = {"A": owning("t", "t:0,1"), "B": owning("t", "t:2,3,4")}
    uniform, sticky = outcome_of("uniform", {"t": 5}, **members), outcome_of("sticky", {"t": 5}, **members)
    assert (uniform.assignment.moves, uniform.assignment.moves_lower_bound(uniform.named.group)) == (1, 0)
    assert sticky.assignment.moves == 0


def test_what_one_move_makes_room_for_is_moved_too() -> None:
    """A takes t-0 from B, then gives u-0 to C, who can have nothing else; only then can A take one more from B."""
    outcome = outcome_of("sticky", {"t": 4, "u": 1}, A="t u", B=owning("t", "t:0,1,2,3"), C="u")
    assert shares(outcome) == {"A": "t:0,1", "B": "t:2,3", "C": "u:0"}
