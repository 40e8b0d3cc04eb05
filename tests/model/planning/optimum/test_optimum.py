"""That what is called the optimum is one: every placement there is, tried."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.planning.optimum import solving
from model.planning.optimum.measures import leader_band, replica_band
from model.planning.optimum.problem import NONE, MoveCost, Objective, Placement, PlacementProblem, Scope
from model.planning.optimum.solving import solve
from tests.model.planning.optimum.problems import (
    Row,
    changes,
    counts,
    every_placement,
    is_spread,
    mostly_fixed,
    moves,
    problems,
    rows_of,
)


def _rack(asked: PlacementProblem) -> np.ndarray:
    return asked.rack if (asked.rack[asked.allowed] != NONE).all() else np.zeros_like(asked.rack)


def _within(found: list[int], band: tuple[np.ndarray, np.ndarray]) -> bool:
    return bool((band[0] <= found).all() and (found <= band[1]).all())


def _even(asked: PlacementProblem) -> list[list[Row]]:
    """Every placement with even counts of replicas."""
    band = replica_band(asked.target_rf, asked.allowed, _rack(asked), 0.0)
    return [rows for rows in every_placement(asked) if _within(counts(rows, len(asked.allowed)), band)]


@settings(max_examples=100, deadline=None)
@given(problems(most_partitions=3))
def test_bands_hold_the_most_even_counts_there_are(asked: PlacementProblem) -> None:
    allowed = np.flatnonzero(asked.allowed)
    everything = [counts(rows, len(asked.allowed)) for rows in every_placement(asked)]
    evenest = min(sorted((each[broker] for broker in allowed), reverse=True) for each in everything)
    least, most = replica_band(asked.target_rf, asked.allowed, _rack(asked), 0.0)
    assert (most - least <= 1).all()
    inside = [each for each in everything if _within(each, (least, most))]
    assert evenest in [sorted((each[broker] for broker in allowed), reverse=True) for each in inside]


@settings(max_examples=120, deadline=None)
@given(problems())
def test_moves_and_leader_changes_are_those_of_the_best_of_all_placements(asked: PlacementProblem) -> None:
    before = rows_of(asked.replicas)
    even = _even(asked)
    fewest = min(moves(before, rows) for rows in even)
    placement = solve(asked)
    assert (placement.moves, placement.moves_bound) == (fewest, fewest)
    band = leader_band(len(before), asked.allowed, 0.0)
    brokers = len(asked.allowed)
    cheapest = [rows for rows in even if moves(before, rows) == fewest]
    led = [rows for rows in cheapest if _within(counts([row[:1] for row in rows], brokers), band)]
    after = rows_of(placement.replicas)
    assert _within(counts(after, brokers), replica_band(asked.target_rf, asked.allowed, _rack(asked), 0.0))
    if led:
        assert _within(counts([row[:1] for row in after], brokers), band)
        assert placement.leader_changes == min(changes(before, rows) for rows in led)
    assert placement.leader_changes_bound <= placement.leader_changes == changes(before, after)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_bytes_are_those_of_the_best_of_all_placements(asked: PlacementProblem) -> None:
    if asked.bytes is None:
        return
    before, sizes = rows_of(asked.replicas), asked.bytes.tolist()

    def moved(after: list[Row]) -> int:
        return sum(size * moves([old], [new]) for size, old, new in zip(sizes, before, after, strict=True))

    placement = solve(asked, Objective(cost=MoveCost.BYTES))
    fewest = min(map(moved, _even(asked)))
    assert (placement.moved_bytes, placement.moved_bytes_bound) == (fewest, fewest)


@settings(max_examples=15, deadline=None)
@given(problems(most_brokers=9, most_partitions=25))
def test_every_plan_keeps_the_rules_and_repeats(asked: PlacementProblem) -> None:
    before = rows_of(asked.replicas)
    for objective in (
        Objective(),
        Objective(tolerance=0.3),
        Objective(scope=Scope.RACKS),
        Objective(cost=MoveCost.BYTES),
    ):
        placement = solve(asked, objective)
        after = rows_of(placement.replicas)
        assert all(is_spread(row, asked) for row in after)
        assert [len(row) for row in after] == asked.target_rf.tolist()
        assert (placement.moves, placement.leader_changes) == (moves(before, after), changes(before, after))
        assert placement.moves >= placement.moves_bound
        assert (solve(asked, objective).replicas == placement.replicas).all()


@settings(max_examples=25, deadline=None)
@given(problems(most_brokers=8, most_partitions=20))
def test_draining_moves_what_must_and_nothing_else(asked: PlacementProblem) -> None:
    placement = solve(asked, Objective(scope=Scope.DRAIN))
    allowed = set(np.flatnonzero(asked.allowed).tolist())
    for old, new, factor in zip(
        rows_of(asked.replicas), rows_of(placement.replicas), asked.target_rf.tolist(), strict=True
    ):
        stayed = [broker for broker in old if broker in allowed]
        assert len(new) == factor == len(set(new)) and set(new) <= allowed
        assert len(set(new) & set(old)) == min(len(stayed), factor)
        if set(old) == set(new):
            assert new == old
        if old[0] in new:
            assert new[0] == old[0]


@settings(max_examples=25, deadline=None)
@given(problems(most_brokers=8, most_partitions=20))
def test_only_the_order_changes_where_only_leaders_are_asked_for(asked: PlacementProblem) -> None:
    placement = solve(asked, Objective(scope=Scope.LEADERS))
    assert placement.moves == 0
    for old, new in zip(rows_of(asked.replicas), rows_of(placement.replicas), strict=True):
        assert sorted(old) == sorted(new)
        assert new == old or asked.allowed[new[0]]


@settings(max_examples=40, deadline=None)
@given(problems(most_brokers=8, most_partitions=20))
def test_a_search_keeps_the_rules_and_its_bounds(asked: PlacementProblem) -> None:
    proven = solve(asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "MOST_CLASSES", 0)
        found = solve(asked)
    after = rows_of(found.replicas)
    assert all(is_spread(row, asked) for row in after)
    assert [len(row) for row in after] == asked.target_rf.tolist()
    assert found.moves_bound <= proven.moves


@settings(max_examples=40, deadline=None)
@given(mostly_fixed(), st.sampled_from(Scope), st.sampled_from(MoveCost))
def test_partitions_that_stay_make_no_bound_exceed_a_cost(
    asked: PlacementProblem, scope: Scope, cost: MoveCost
) -> None:
    placement = solve(asked, Objective(scope=scope, cost=cost))
    _check_bounds(asked, placement)
    assert placement.gap == 0.0


@settings(max_examples=40, deadline=None)
@given(mostly_fixed())
def test_a_search_beside_partitions_that_stay_says_what_it_knows(asked: PlacementProblem) -> None:
    proven = solve(asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "MOST_CLASSES", 0)
        found = solve(asked)
    _check_bounds(asked, found)
    assert all(is_spread(row, asked) for row in rows_of(found.replicas[~_fixed(asked)]))
    assert found.moves_bound <= proven.moves
    if found.method == "proven optimum":
        assert found.moves == proven.moves


def _check_bounds(asked: PlacementProblem, found: Placement) -> None:
    stays = _fixed(asked)
    before, after = rows_of(asked.replicas), rows_of(found.replicas)
    assert rows_of(found.replicas[stays]) == rows_of(asked.replicas[stays])
    assert (found.moves, found.leader_changes) == (moves(before, after), changes(before, after))
    assert found.moves_bound <= found.moves
    assert found.leader_changes_bound <= found.leader_changes
    assert found.moved_bytes_bound <= found.moved_bytes


def _fixed(asked: PlacementProblem) -> np.ndarray:
    assert asked.fixed is not None
    return asked.fixed
