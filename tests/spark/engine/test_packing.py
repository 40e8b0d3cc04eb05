"""Every unit in one task, and no task much longer than it has to be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.analyses.analysis import Unit, pack, tasks_for

COSTS = st.lists(st.integers(1, 1000), max_size=60)


@given(COSTS, st.integers(1, 20))
def test_every_unit_once_and_no_task_empty(costs: list[int], tasks: int):
    packed = pack([Unit(number, cost) for number, cost in enumerate(costs)], tasks)
    assert sorted(unit for task in packed for unit in task) == list(range(len(costs)))
    assert all(packed)
    assert len(packed) == min(tasks, len(costs))


@given(COSTS.filter(bool), st.integers(1, 20))
def test_no_task_is_much_longer_than_the_best_packing_s_longest(costs: list[int], tasks: int):
    packed = pack([Unit(number, cost) for number, cost in enumerate(costs)], tasks)
    loads = [sum(costs[unit] for unit in task) for task in packed]
    assert loads == sorted(loads, reverse=True)
    # Graham's bound for any list order, against a lower bound of the best packing.
    assert loads[0] <= sum(costs) / tasks + max(costs)


def test_one_big_unit_stands_alone():
    packed = pack([Unit(0, 100), *(Unit(number, 1) for number in range(1, 13))], 4)
    assert packed[0] == [0]
    assert [len(task) for task in packed[1:]] == [4, 4, 4]


def test_units_without_cost_are_spread_too():
    assert [len(task) for task in pack([Unit(number, 0) for number in range(4)], 4)] == [1, 1, 1, 1]


def test_tasks_a_job():
    assert [tasks_for(cores) for cores in (1, 2, 3, 4, 8, 64)] == [8, 8, 12, 16, 16, 128]
