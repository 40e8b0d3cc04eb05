"""Which engine is the right one, by what was measured: estimates, what is learnt, and the choice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analyses.analysis import RunInProcess
from model.analyses.engine_costs import (
    KEPT,
    LEAST_S,
    EngineCosts,
    SparkCosts,
    Work,
    WorkTiming,
    after_here,
    after_spark,
    after_start,
    here_s,
    outlook,
    seconds_of,
    with_timing,
    work_of,
)
from tests.spark.engine.sums import SUMS, SumsParameters

MASTER = "local[2]"
positive = st.floats(0.1, 1e6)
timings = st.lists(st.builds(WorkTiming, positive, positive), max_size=3 * KEPT)


def learnt(some: list[WorkTiming]) -> tuple[WorkTiming, ...]:
    known: tuple[WorkTiming, ...] = ()
    for each in some:
        known = with_timing(known, each)
    return known


@given(timings, st.builds(WorkTiming, positive, positive))
def test_few_timings_are_kept_in_order_and_the_newest_is_among_them(some: list[WorkTiming], new: WorkTiming) -> None:
    known = with_timing(learnt(some), new)
    assert 1 <= len(known) <= KEPT
    assert list(known) == sorted(known)
    assert any(each.cost == new.cost for each in known)


@given(timings.filter(bool), positive)
def test_between_timings_seconds_are_between_theirs(some: list[WorkTiming], cost: float) -> None:
    known = learnt(some)
    below = [each.seconds for each in known if each.cost <= cost]
    above = [each.seconds for each in known if each.cost >= cost]
    found = seconds_of(known, cost, None)
    assert found is not None
    if below and above:
        assert min(below[-1], above[0]) * (1 - 1e-9) <= found <= max(below[-1], above[0]) * (1 + 1e-9)


def test_beyond_the_last_timing_seconds_grow_as_the_cost_unless_it_was_too_short_to_tell() -> None:
    assert seconds_of((WorkTiming(10, 2.0),), 30, 1.0) == 6.0
    assert seconds_of((WorkTiming(10, 2.0),), 5, 1.0) == 1.0
    assert seconds_of((WorkTiming(10, LEAST_S),), 30, 0.001) == pytest.approx(LEAST_S + 0.02)
    assert seconds_of((), 30, 0.5) == 15.0
    assert seconds_of((), 30, None) is None


def test_the_same_work_again_moves_the_estimate_half_the_way() -> None:
    assert with_timing((WorkTiming(100, 4.0),), WorkTiming(110, 2.0)) == (WorkTiming(110, 3.0),)


def test_what_is_as_expected_is_not_written_down() -> None:
    costs = after_here(EngineCosts(), Work("mine", 100), 4.0)
    assert here_s(costs, Work("mine", 50)) == 2.0
    assert after_here(costs, Work("mine", 100), 4.5) is costs
    assert after_here(costs, Work("mine", 100), 9.0) is not costs
    costs = after_spark(costs, Work("mine", 100), 1.0, MASTER)
    assert after_spark(costs, Work("mine", 100), 1.1, MASTER) is costs
    assert after_start(costs, MASTER, 4.0, 0.1).spark[MASTER] == SparkCosts(5.5, 0.2, {"mine": (WorkTiming(100, 1.0),)})


@pytest.mark.parametrize(
    ("here", "on_spark", "served", "cold"),
    [
        (0.4, 0.01, False, False),  # too little
        (10.0, 1.0, True, True),
        (10.0, 5.0, True, False),  # the start takes what is gained
        (10.0, 9.0, False, False),  # estimates are not that good
    ],
)
def test_spark_is_for_what_gains_by_it(here: float, on_spark: float, served: bool, cold: bool) -> None:
    spark = SparkCosts(start_s=4.0, timings={"mine": (WorkTiming(100, on_spark),)})
    costs = EngineCosts(here={"mine": (WorkTiming(100, here),)}, spark={MASTER: spark})
    seen = outlook(costs, Work("mine", 100), MASTER, 2)
    assert (seen.is_for_spark, seen.is_worth_a_start) == (served, cold)


def test_what_was_never_measured_begins_here_and_is_judged_by_how_it_goes() -> None:
    unknown = outlook(EngineCosts(), Work("new", 100), MASTER, 2)
    assert not unknown.is_for_spark and unknown.in_words == "nothing like it was measured yet"
    under_way = outlook(EngineCosts(), Work("new", 90), MASTER, 8, so_far_s=60.0)
    assert under_way.is_for_spark
    assert under_way.in_words == "about 60 s in process, about 11 s on Spark"


def test_before_anything_was_measured_there_are_priors() -> None:
    pairs = Work("drills pairs", 15_000_000, 600_000_000)
    assert 3 < (here_s(EngineCosts(), pairs) or 0) < 12
    assert not outlook(EngineCosts(), pairs, MASTER, 2).is_worth_a_start
    assert outlook(EngineCosts(), pairs._replace(cost=1e9), MASTER, 2).is_worth_a_start
    assert here_s(EngineCosts(), Work("drills racks", 1e6)) == here_s(EngineCosts(), Work("drills", 1e6))


def test_the_work_is_what_is_left() -> None:
    course = RunInProcess(SUMS, {"values": np.arange(1000)}, SumsParameters(slices=4))
    course.divide(4)
    assert work_of(course) == Work(SUMS.name, 7.0, 8000)
    assert course.work_on(ended=lambda: len(course.batches) == 1) is None
    assert work_of(course).cost == 4.0
    assert len(course.work_on().sums) == 4
