"""The engine without Spark."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from model.analyses import AnalysisError, JobCancelled, analysis
from tests.spark.engine.sums import SUMS, SumsInPieces, SumsParameters

ARRAYS = {"values": np.arange(1000)}


@pytest.mark.parametrize("slices", [0, 1, 10, 300])
def test_watched_or_not_the_result_is_the_same(slices: int):
    parameters = SumsParameters(slices=slices)
    unwatched = analysis.run_here(SUMS, ARRAYS, parameters)
    assert unwatched.sums == tuple(int(np.arange(1000)[unit::slices].sum()) for unit in range(slices))
    told: list[tuple[int, int]] = []
    assert analysis.run_here(SUMS, ARRAYS, parameters, told=lambda *done: told.append(done)) == unwatched
    every = min(slices, 8)
    assert told == [(done, every) for done in range(every + 1)]


def test_it_ends_between_two_tasks():
    told: list[int] = []
    with pytest.raises(JobCancelled):
        analysis.run_here(
            SUMS,
            ARRAYS,
            SumsParameters(),
            told=lambda done, _: told.append(done),
            ended=lambda: len(told) > 3,
        )
    assert told == [0, 1, 2, 3]


def test_pieces_are_no_longer_than_they_may_be():
    """Of 38 units a task: one at a time where each takes too long, else as many as are likely to be in time."""
    parameters, clock = SumsParameters(slices=300), count(0.0, 0.5).__next__
    expected = analysis.run_here(SUMS, ARRAYS, parameters)
    slow, quick, whole = SumsInPieces(0.5), SumsInPieces(3600.0), SumsInPieces(0.0)
    course = divided(slow, parameters, clock)
    assert course.work_on(ended=lambda: len(slow.played) == 3) is None
    assert slow.played == [1, 1, 1]
    assert divided(quick, parameters, clock).work_on(ended=lambda: False) == expected
    assert quick.played[:6] == [1, 2, 4, 8, 16, 6] and sum(quick.played) == 300
    assert divided(whole, parameters, clock).work_on() == expected  # nobody can end it
    assert set(whole.played) == {37, 38}


def divided(of: SumsInPieces, parameters: SumsParameters, clock: Callable[[], float]) -> analysis.RunInProcess:
    course = analysis.RunInProcess(of, ARRAYS, parameters, clock)
    course.divide(8)
    return course


def test_what_was_ended_in_the_midst_of_a_task_goes_on_where_it_was():
    slow, parameters, told = SumsInPieces(0.0), SumsParameters(slices=300), list[tuple[int, int]]()
    course = divided(slow, parameters, lambda: 0.0)
    assert course.work_on(ended=lambda: len(slow.played) == 3) is None
    assert (course.done, len(course.batches), sum(map(len, course.left))) == (0, 3, 297)
    assert course.work_on(told=lambda *done: told.append(done)) == analysis.run_here(SUMS, ARRAYS, parameters)
    assert told == [(done, 8) for done in range(9)]


@pytest.mark.parametrize(("most", "expected"), [(0.0, [1, 1, 1, 1]), (5.0, [2, 1, 1]), (99.0, [4])])
def test_stretches_are_whole_and_say_what_is_left(most: float, expected: list[int]):
    costs = (2.0, 3.0, 4.0, 5.0)
    found = [*analysis.stretches(costs, lambda: most)]
    assert [len(some) for some, _, _ in found] == expected
    assert [unit for some, _, _ in found for unit in some] == [0, 1, 2, 3]
    assert all(
        (cost, left) == (sum(costs[some.start : some.stop]), sum(costs[some.stop :])) for some, cost, left in found
    )


def test_what_the_analysis_refuses():
    with pytest.raises(AnalysisError, match="-1 slices: give 0 or more"):
        analysis.run_here(SUMS, ARRAYS, SumsParameters(slices=-1))
