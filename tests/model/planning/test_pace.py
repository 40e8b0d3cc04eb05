"""Rate and time of a plan: one follows from the other."""

from __future__ import annotations

import pytest

from model.planning.plan import ASSUMED_RATE, PlanBatch, PlanPace, pace_of
from model.planning.request import Throttling


def batch(busiest: int | None) -> PlanBatch:
    return PlanBatch(1, 0, 1, 1, busiest, 1, busiest)


def test_batches_run_one_after_another() -> None:
    batches = [batch(600), batch(400)]
    assert pace_of(batches, Throttling(rate=100)) == PlanPace(100, 10.0, "rate")
    assert pace_of(batches, Throttling(seconds=5)) == PlanPace(200, 5.0, "time")
    assert pace_of(batches, Throttling()) == PlanPace(ASSUMED_RATE, 1000 / ASSUMED_RATE, "nothing")


def test_a_rate_is_rounded_so_that_the_time_is_kept() -> None:
    pace = pace_of([batch(1000)], Throttling(seconds=3))
    assert pace is not None
    assert (pace.rate, pace.seconds <= 3) == (334, True)


@pytest.mark.parametrize("batches", [[], [batch(None)], [batch(0)]])
def test_there_is_none_where_nothing_is_copied_or_sizes_are_unknown(batches: list[PlanBatch]) -> None:
    assert pace_of(batches, Throttling(rate=100)) is None
