"""Intervals against figures that scipy 1.17 says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model.analyses.forecast import statistics as s
from tests.thorough import the_rest_when_asked

CLOSE = 5e-6


def near(found: tuple[float, float], *expected: float, rel: float = CLOSE) -> None:
    assert found == pytest.approx(expected, rel=rel)


def test_rates_by_few_events() -> None:
    near(s.garwood(9, 1), 4.115373, 17.084803, rel=1e-6)
    near(s.garwood(3, 1), 0.618672, 8.767273, rel=1e-6)
    low, high = s.garwood(9, 25_920)
    near((1 / high, 1 / low), 1_517.1, 6_298.3, rel=5e-5)


def test_shares() -> None:
    near(s.wilson(3, 1_000), 0.00102078, 0.00878301)
    near(s.jeffreys(3, 1_000), 0.00084563, 0.00798437, rel=1e-5)
    near(s.exact(3, 1_000), 0.00061910, 0.00874202, rel=2e-5)
    near(s.wilson(95, 100), 0.888250, 0.978456)
    assert s.never_seen(1_000) == pytest.approx(0.00299125, rel=CLOSE)
    assert s.exact(0, 1_000)[1] == pytest.approx(0.00368208, rel=CLOSE)
    assert s.wilson(0, 1_000)[1] == pytest.approx(0.00382676, rel=CLOSE)
    assert s.jeffreys(0, 1_000)[1] == pytest.approx(0.00250816, rel=CLOSE)


def test_which_interval_a_share_gets() -> None:
    assert (s.share(0, 1_000).kind, s.share(3, 1_000).kind, s.share(50, 1_000).kind) == ("below", "jeffreys", "wilson")
    assert s.share(0, 1_000).high == pytest.approx(0.00299125, rel=CLOSE)


def test_sums_of_few_events() -> None:
    lengths = np.array([12, 15, 40, 3, 9])
    total, squares = float(lengths.sum()), float((lengths**2).sum())
    near(s.gamma_interval(total, squares, 40, 1_000), 0.0164750, 0.263555)
    near(s.gamma_interval(30, 300, 10, 1_000), 0.00618672, 0.0876727)
    assert s.gamma_interval(0, 0, 120, 1_000)[1] == pytest.approx(0.442666, rel=CLOSE)
    near(s.t_interval(total, squares, 1_000), -0.00995, 0.16795, rel=5e-4)


def test_means_of_many_histories() -> None:
    values = np.array([31.2, 28.9, 30.4, 33.0, 29.5, 30.8, 27.7, 32.1, 30.0, 31.4])
    near(s.t_interval(values.sum(), (values**2).sum(), 10), 29.38512, 31.61488, rel=1e-6)
    assert s.student(9) == pytest.approx(2.262157, rel=1e-6)


def test_which_interval_a_mean_gets() -> None:
    rare = s.mean_of(79.0, 2_059.0, 5, 40.0, 1_000, 0.0)
    near((rare.low, rare.high or 0.0), 0.0164750, 0.263555)
    assert (rare.kind, rare.events) == ("gamma", 5)
    assert s.mean_of(3e4, 1e6, 950, 40.0, 1_000, 0.0).kind == "t"
    assert s.mean_of(1e3, 5e4, 500, 40.0, 100_000, 0.0).kind == "t"


def test_quantiles_by_ranks() -> None:
    assert s.ranks(1_000, 0.99) == (983, 997)
    assert s.ranks(1_000, 0.5) == (469, 532)
    assert s.ranks(300, 0.99)[1] == 301
    assert s.quantile(np.arange(300.0), 0.99).high is None
    assert s.quantile(np.arange(1_000.0), 0.5).mean == 499


def test_pairs() -> None:
    before, after = np.array([10.0, 12, 9, 30, 11]), np.array([8.0, 11, 9, 20, 10])
    found = s.difference_of(before - after)
    near((found.low, found.high or 0.0), -2.27414, 7.87414)
    assert found.mean == pytest.approx(2.8)
    assert s.variance_ratio(before, after) == pytest.approx(6.02395, rel=CLOSE)
    assert math.isinf(s.variance_ratio(before, before))


def test_weights_that_hide_how_few_they_are() -> None:
    assert s.effective([1, 1, 1, 7]) == pytest.approx(1.923077, rel=CLOSE)


@pytest.mark.parametrize("case", the_rest_when_asked([(0.2, 60), (0.02, 500), (0.2, 1_500), (2.0, 500)]))
def test_s8_who_stops_when_the_interval_is_narrow_is_as_often_right(case: tuple[float, int]) -> None:
    """Events of 15 min on average, exponential, looked at after 200 histories and each half as many again."""
    rate, runs = case
    dice = np.random.Generator(np.random.Philox(key=[8, round(100 * rate)]))
    covered = 0
    for _ in range(runs):
        minutes, checkpoint = np.empty(0), 200
        while True:
            events = dice.poisson(rate, checkpoint - len(minutes))
            minutes = np.concatenate([minutes, dice.gamma(np.maximum(events, 1e-300), 15) * (events > 0)])
            total, squares, hit = float(minutes.sum()), float((minutes**2).sum()), int(np.count_nonzero(minutes))
            figure = s.mean_of(total, squares, hit, float(minutes.max()), len(minutes), 8 * 15)
            if s.is_within(figure, 0.1):
                break
            checkpoint = checkpoint * 3 // 2
        covered += figure.low <= rate * 15 <= (figure.high or 0)
    assert covered >= (0.93 if runs > 100 else 0.85) * runs
