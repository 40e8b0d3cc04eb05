"""Figures known beforehand: of a skewed cluster, and of clusters small enough to reckon by hand."""

import msgspec
import numpy as np
import pytest

from model.planning.optimum import solving
from model.planning.optimum.problem import Cancelled, MoveCost, Objective, PlanningError, Scope
from model.planning.optimum.solving import solve
from tests.model.planning.optimum.problems import counts, is_spread, problem, rows_of
from tests.model.planning.optimum.skewed_cluster import disk_spread, skewed, spread

ADDED = ((13, "r0"), (14, "r1"), (15, "r2"))


@pytest.mark.parametrize(
    ("removed", "added", "moves", "changes", "replica_spread", "leader_spread", "disk"),
    [
        ((), (), 1123, 411, 0, 0, 0.04),
        ((7,), (), 1539, 528, 250, 1, 0.36),  # three brokers of its rack hold a replica of each partition
        ((), ADDED, 2173, 764, 0, 0, 0.04),
    ],
    ids=["rebalance", "remove", "add"],
)
def test_the_skewed_cluster_reaches_the_proven_optimum_in_one_plan(
    removed: tuple[int, ...],
    added: tuple[tuple[int, str], ...],
    moves: int,
    changes: int,
    replica_spread: int,
    leader_spread: int,
    disk: float,
) -> None:
    asked = skewed(removed, added)
    found = solve(asked)
    assert (found.moves, found.moves_bound, found.leader_changes, found.leader_changes_bound) == (
        moves,
        moves,
        changes,
        changes,
    )
    assert found.method == "proven optimum" and found.gap == 0.0
    rows = rows_of(found.replicas)
    assert all(is_spread(row, asked) for row in rows)
    brokers = len(asked.allowed)
    assert spread(np.array(counts(rows, brokers)), asked) == replica_spread
    assert spread(np.array(counts([row[:1] for row in rows], brokers)), asked) == leader_spread
    assert disk_spread(found.replicas, asked) <= disk


@pytest.mark.parametrize(
    ("removed", "objective", "moves", "changes"),
    [
        ((7,), Objective(scope=Scope.DRAIN), 665, 214),
        ((), Objective(scope=Scope.DRAIN), 0, 0),
        ((), Objective(scope=Scope.RACKS), 190, 0),
        ((), Objective(scope=Scope.LEADERS), 0, 497),
        ((), Objective(tolerance=0.09), 826, 319),
    ],
    ids=["drain", "nothing to drain", "racks", "leaders", "tolerance"],
)
def test_the_skewed_cluster_has_cheaper_plans_that_do_less(
    removed: tuple[int, ...], objective: Objective, moves: int, changes: int
) -> None:
    found = solve(skewed(removed), objective)
    assert (found.moves, found.leader_changes) == (moves, changes)
    assert found.gap == 0.0


@pytest.mark.parametrize("factor", [2, 3, 4])
@pytest.mark.parametrize(
    ("removed", "objective"),
    [
        ((), Objective()),
        ((7,), Objective()),
        ((), Objective(cost=MoveCost.BYTES)),
        ((7,), Objective(scope=Scope.DRAIN)),
        ((), Objective(scope=Scope.DRAIN)),
        ((), Objective(scope=Scope.RACKS)),
        ((), Objective(scope=Scope.LEADERS)),
    ],
    ids=["balance", "remove", "bytes", "drain", "factor", "racks", "leaders"],
)
def test_a_few_partitions_of_the_skewed_cluster_move_and_the_others_stay(
    removed: tuple[int, ...], objective: Objective, factor: int
) -> None:
    asked = skewed(removed)
    fixed = np.arange(len(asked.replicas)) % 75 != 0
    asked = msgspec.structs.replace(asked, fixed=fixed, target_rf=np.where(fixed, 3, factor).astype(np.int32))
    found = solve(asked, objective)
    before, after = rows_of(asked.replicas), rows_of(found.replicas)
    assert [new for new, stays in zip(after, fixed, strict=True) if stays] == [
        old for old, stays in zip(before, fixed, strict=True) if stays
    ]
    keeps = objective.scope is Scope.LEADERS
    assert {len(new) for new, stays in zip(after, fixed, strict=True) if not stays} == {3 if keeps else factor}
    assert found.moves_bound <= found.moves and found.leader_changes_bound <= found.leader_changes
    assert found.moved_bytes_bound <= found.moved_bytes
    assert found.gap == 0.0 and found.method == "proven optimum"


def test_a_search_among_partitions_that_stay_claims_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = skewed()
    asked = msgspec.structs.replace(asked, fixed=np.arange(len(asked.replicas)) % 75 != 0)
    proven = solve(asked)
    monkeypatch.setattr(solving, "MOST_CLASSES", 0)
    found = solve(asked)
    assert found.moves_bound <= min(found.moves, proven.moves)
    assert found.leader_changes_bound <= min(found.leader_changes, proven.leader_changes)
    assert found.method == "counts may not be as even as they can be" and found.gap > 0


def test_leaders_that_come_from_a_rack_leave_room_for_each_other() -> None:
    asked = problem([(0, 1), (2,), (0, 1), (2,), (2,)], [0, 0, 0, 1, 2], rf=[1, 1, 1, 2, 2], gone=(2,))
    found = solve(asked, Objective(scope=Scope.DRAIN))
    assert (found.moves, found.leader_changes) == (5, 3)


def test_disks_are_not_evened_by_a_leader_that_follows() -> None:
    rows = [(0, 1), (0, 1, 2), (0, 1, 2), (0, 1, 3), (3,), (0,), (0, 1, 2), (0,), (0, 1)]
    asked = problem(rows, [0] * 5, rf=[1, 1, 1, 1, 3, 1, 2, 1, 1], topics=[0, 0, 0, 0, 0, 0, 1, 0, 1])
    after = rows_of(solve(asked, Objective(scope=Scope.DRAIN)).replicas)
    assert all(new[0] == old[0] for old, new in zip(rows, after, strict=True) if old[0] in new)


def test_fewest_bytes_are_other_moves_than_fewest_replicas() -> None:
    asked = problem([(0, 1), (0, 1), (0, 1), (0, 1)], [0, 0, 0, 0], sizes=[1, 50, 60, 2])
    found = solve(asked, Objective(cost=MoveCost.BYTES))
    assert (found.moves, found.moved_bytes, found.moved_bytes_bound) == (4, 6, 6)
    assert counts(rows_of(found.replicas), 4) == [2, 2, 2, 2]


def test_more_replicas_keep_those_there_are() -> None:
    asked = problem([(0, 1), (1, 2), (2, 0)], [0, 1, 2, 0], rf=3)
    found = solve(asked, Objective(scope=Scope.DRAIN))
    assert (found.moves, found.leader_changes) == (3, 0)
    assert all(set(new) > set(old) for old, new in zip(rows_of(asked.replicas), rows_of(found.replicas), strict=True))


def test_fewer_replicas_move_nothing() -> None:
    found = solve(problem([(0, 1, 2), (1, 2, 0), (2, 0, 1)], [0, 1, 2], rf=1))
    assert (found.moves, found.leader_changes, found.replicas.tolist()) == (0, 0, [[0], [1], [2]])


def test_four_replicas_are_in_all_of_three_racks() -> None:
    asked = problem([(0, 1, 2, 3)] * 6, [0, 0, 0, 1, 1, 2, 2])
    rows = rows_of(solve(asked).replicas)
    assert all(is_spread(row, asked) for row in rows)


def test_two_brokers_of_a_small_rack_bear_what_racks_force_on_them() -> None:
    asked = problem([(1, 2), (2, 3), (3, 4), (4, 1)], [0, 1, 1, 1, 1])
    found = solve(asked)
    assert counts(rows_of(found.replicas), 5) == [4, 1, 1, 1, 1]
    assert found.moves == 4


def test_racks_are_no_rule_where_a_broker_has_none() -> None:
    found = solve(problem([(0, 1), (2, 3)], [0, 0, -1, 1]))
    assert (found.moves, found.leader_changes) == (0, 0)


def test_a_partition_that_stays_counts_for_the_others() -> None:
    found = solve(problem([(0,), (0,), (1,), (1,)], [0, 0, 0], fixed=(0, 1)))
    assert rows_of(found.replicas)[:2] == [(0,), (0,)]
    assert sorted(rows_of(found.replicas)[2:]) == [(1,), (2,)]


def test_disks_are_evened_by_who_moves() -> None:
    asked = problem([(0,)] * 4, [0, 0], sizes=[100, 1, 100, 1])
    found = solve(asked)
    assert found.moves == 2 and disk_spread(found.replicas, asked) == 0.0


def test_topics_are_evened_by_who_moves() -> None:
    rows = rows_of(solve(problem([(0,)] * 4, [0, 0], topics=[0, 0, 1, 1])).replicas)
    assert sorted(rows[:2]) == sorted(rows[2:]) == [(0,), (1,)]


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (problem([(0, 1)], [0, 0, 0], rf=3, gone=(0,)), "3 replicas need 3 brokers, and 2 may hold replicas"),
        (problem([(0,)], [0], gone=(0,)), "no broker may hold replicas"),
        (problem([tuple(range(15))], [0] * 16), "a partition has 15 replicas, and 14 at most can be planned"),
        (problem([(0,)], [0], rf=[0]), "a partition cannot have 0 replicas"),
        (problem([(0,)], [0], capacity=[5]), "capacity means nothing without sizes"),
        (problem([(0,), (1,)], [0, 0], sizes=[10, 10], capacity=[9, 9]), "20 bytes of replicas do not fit"),
        (problem([(0,), (1,)], [0, 0], sizes=[10, 10], capacity=[9, 30]), "broker 0 would get 10 bytes and holds 9"),
    ],
    ids=["brokers", "none", "wide", "zero", "sizes", "total", "one broker"],
)
def test_what_cannot_be_is_said_in_one_line(asked: object, line: str) -> None:
    with pytest.raises(PlanningError) as raised:
        solve(asked)  # type: ignore[arg-type]
    assert line in str(raised.value) and "\n" not in str(raised.value)


def test_brokers_may_be_filled_to_the_last_byte() -> None:
    found = solve(problem([(0,), (1,)], [0, 0], sizes=[10, 10], capacity=[10, 10]))
    assert rows_of(found.replicas) == [(0,), (1,)]


def test_it_ends_when_told_so() -> None:
    with pytest.raises(Cancelled):
        solve(skewed(), ended=lambda: True)


def test_it_says_what_it_does() -> None:
    lines: list[str] = []
    solve(problem([(0, 1), (0, 1)], [0, 0, 0]), told=lines.append)
    assert lines[0].startswith("2 partitions in 1 classes")


def test_a_search_knows_the_bytes_that_more_replicas_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "MOST_CLASSES", 0)
    found = solve(problem([(0,), (1,)], [0, 0], rf=2, sizes=[5, 7]), Objective(cost=MoveCost.BYTES))
    assert (found.moved_bytes, found.moved_bytes_bound) == (12, 12)


def test_no_placement_in_no_time() -> None:
    with pytest.raises(PlanningError, match="no placement was found within 0 s: give more time, or ask for a balance"):
        solve(problem([(0, 1), (1, 2)], [0, 1, 2], rf=3), Objective(scope=Scope.DRAIN), time_limit_s=0.0)


def test_a_search_comes_near_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "MOST_CLASSES", 0)
    asked = skewed((7,))
    found = solve(asked)
    rows = rows_of(found.replicas)
    assert all(is_spread(row, asked) for row in rows)
    replicas = np.array(counts(rows, len(asked.allowed)))
    assert spread(replicas, asked) == 250 and sorted(replicas.tolist())[1] == 750
    assert spread(np.array(counts([row[:1] for row in rows], len(asked.allowed))), asked) <= 1
    assert found.moves_bound <= 1539 <= found.moves <= 1620
    assert found.leader_changes_bound <= 528 and found.leader_changes <= 800
    assert found.method.startswith("within ") and found.method.endswith("% of the bound")
