"""The engine without Spark."""

from __future__ import annotations

import numpy as np
import pytest

from model.analyses import analysis
from model.analyses.errors import AnalysisError, JobCancelled
from tests.spark.engine.sums import SUMS, SumsParameters

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


def test_what_the_analysis_refuses():
    with pytest.raises(AnalysisError, match="-1 slices: give 0 or more"):
        analysis.run_here(SUMS, ARRAYS, SumsParameters(slices=-1))
