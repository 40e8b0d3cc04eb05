"""Forecasts against formulas, where independent memoryless brokers have one.

Two sets of rates: the usual ones (Q: a failure in 2,190 h, repaired in 15 min) and loud ones (L: 100 h, 5 h), for which
few histories are enough. Detection, elections and catching up take no time unless said.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from model.analyses.analysis import run_here
from model.analyses.forecast.forecast import FORECAST, ForecastParameters, Tally
from model.analyses.forecast.sampling import HOUR_MS, Component, Times
from model.analyses.forecast.statistics import mean_of
from tests.model.analyses.forecast.variants import YEAR_MS, crashes, one_partition, times
from tests.thorough import the_rest_when_asked

MINUTES = 525_600
LONGEST_MS = 8 * 5 * HOUR_MS


class Law(NamedTuple):
    """Share of time down, and the rates an hour."""

    failure: float
    repair: float

    @property
    def down(self) -> float:
        return self.failure / (self.failure + self.repair)


Q, L = Law(1 / 2_190, 4), Law(0.01, 0.2)


def until_the_last_one_out_is_back(law: Law, replicas: int) -> float:
    """Share of time: all are down, and then until the one that led last has returned, whoever returns before it."""
    u, a = law.down, 1 - law.down
    d = sum(math.comb(replicas - 1, k) * u ** (replicas - 1 - k) * a ** (k + 1) / (a + k) for k in range(replicas))
    return u**replicas / d


def under_two(law: Law) -> float:
    """Share of time that a partition of three has fewer than two in sync, by Kafka's rule."""
    u, a = law.down, 1 - law.down
    return 3 * u**2 * a + u**3 + until_the_last_one_out_is_back(law, 3) * 2 * a**2 / ((a + 1) * (a + 2))


def eligible(law: Law) -> float:
    """As the first, with eligible leader replicas and min ISR 2, where nobody crashes."""
    u, a = law.down, 1 - law.down
    return u**3 / (u + 2 * a**2 / (2 * a + 1))


@pytest.mark.parametrize(
    ("share", "minutes"),
    [
        (L.down, 25_028.6),
        (Q.down, 59.9932),
        (L.down**2, 1_191.84),
        (until_the_last_one_out_is_back(L, 2), 2_326.92),
        (until_the_last_one_out_is_back(Q, 2), 0.0136947),
        (2 * L.down**2 - L.down**3, 2_326.92),
        (until_the_last_one_out_is_back(L, 3), 167.365),
        (until_the_last_one_out_is_back(Q, 3), 2.34476e-6),
        (eligible(L), 84.4391),
        (eligible(Q), 1.17240e-6),
        (under_two(L), 3_514.67),
        (under_two(Q), 0.0205425),
    ],
)
def test_what_the_formulas_say(share: float, minutes: float) -> None:
    assert share * MINUTES == pytest.approx(minutes, rel=5e-6)


def test_disks_of_all_copies_at_once() -> None:
    failure, repair = 0.015 / 8_760, 0.1
    two = (3 * failure + repair) / (2 * failure**2) / 8_760
    assert two == pytest.approx(1_946_767, rel=1e-6)
    h = [1 / (3 * failure)]
    for i in (1, 2):
        h.append((1 + i * repair * h[-1]) / ((3 - i) * failure))
    assert sum(h) / 8_760 == pytest.approx(7.57948e10, rel=1e-5)
    assert math.comb(4, 3) / math.comb(12, 3) == pytest.approx(0.0181818, rel=1e-5)


def bare(components: tuple[Component, ...], brokers: int, **changes: Any) -> Times:
    nothing: dict[str, Any] = {"detect_ms": 0, "lag_ms": 0, "elect_ms": (0,) * brokers, "rejoin_ppm": 0, "rejoin_ms": 0}
    return times(components, brokers, **{**nothing, **changes})


def minutes(arrays: Any, assumed: Times, brokers: int, measure: int, seed: int, histories: int) -> tuple[float, ...]:
    """Mean, low and high, a year."""
    parameters = ForecastParameters(
        seed=seed, histories=histories, horizon_ms=YEAR_MS, brokers=brokers, topics=1, variants=(assumed,)
    )
    tally: Tally = run_here(FORECAST, arrays, parameters)
    found = {
        name: each.sum(axis=0)[0, measure, 0]
        for name, each in tally.arrays().items()
        if name in ("sum", "squares", "hit")
    }
    largest = tally.arrays()["largest"].max(axis=0)[0, measure, 0]
    told = (float(found["sum"]), float(found["squares"]), int(found["hit"]), float(largest))
    figure = mean_of(*told, histories, LONGEST_MS)
    return tuple(each / 60_000 for each in (figure.mean, figure.low, figure.high or math.inf))


def cut_off(brokers: int) -> tuple[Component, ...]:
    return tuple(
        Component(
            name=f"group {broker}", kind="group", brokers=(broker,), up_ms=100.0 * HOUR_MS, down_ms=5.0 * HOUR_MS,
            effect="cut off",
        )
        for broker in range(brokers)
    )  # fmt: skip


LOUD = crashes(3, 100.0, 300.0)
TWO, THREE = one_partition((0, 1), 1), one_partition((0, 1, 2), 2)
ELR = one_partition((0, 1, 2), 2, elr=True)
UNCLEAN = one_partition((0, 1, 2), 2, unclean=True)
CASES: dict[str, tuple[Any, Times, int, float]] = {
    "C1 one replica": (one_partition((0,), 1), bare(LOUD, 3), 0, L.down * MINUTES),
    "C2 two": (TWO, bare(LOUD, 3), 0, 2_326.92),
    "C3 three": (THREE, bare(LOUD, 3), 0, 167.365),
    "C4 three under min ISR": (THREE, bare(LOUD, 3), 1, 3_514.67),
    "C5 eligible leader replicas, cut off": (ELR, bare(cut_off(3), 3), 0, 84.4391),
    "C6 eligible leader replicas, crashed": (ELR, bare(LOUD, 3), 0, 250.811),
    "C7 unclean elections": (UNCLEAN, bare(LOUD, 3), 0, 56.7541),
}
"""Arrays, times, measure, and minutes a year."""


@pytest.mark.parametrize("case", CASES)
def test_four_intervals_of_five_cover_the_formula(case: str) -> None:
    """Of five seeds that were not chosen; one may miss."""
    _covers(case, range(1, 6), at_least=4)


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_ninety_intervals_of_a_hundred_cover_the_formula(case: str) -> None:
    _covers(case, range(100), at_least=90)


def _covers(case: str, seeds: range, at_least: int) -> None:
    arrays, assumed, measure, expected = CASES[case]
    found = [minutes(arrays, assumed, 3, measure, seed, 400) for seed in seeds]
    covered = sum(low <= expected <= high for _, low, high in found)
    assert covered >= at_least, found


def test_c12_detection_is_what_a_replicated_partition_is_without_leader_for() -> None:
    assumed = bare(crashes(3), 3, detect_ms=9_000, elect_ms=(100,) * 3)
    mean, low, high = minutes(THREE, assumed, 3, 0, 7, 20_000)
    exact = MINUTES * 9.1 / 3600 / 2_190 / (1 + 9.1 / 3600 / 2_190)
    assert exact == pytest.approx(0.606666, rel=1e-5)
    assert low <= exact <= high
    assert mean == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("seed", the_rest_when_asked([1, 2, 3]))
def test_c12_racks(seed: int) -> None:
    """Brokers and racks are out independently: one replica in each of three racks."""
    racks = tuple(
        Component(name=f"rack {rack}", kind="group", brokers=(rack,), up_ms=500.0 * HOUR_MS, down_ms=10.0 * HOUR_MS)
        for rack in range(3)
    )
    exact = (1 - (1 - L.down) * (1 - 10 / 510)) * MINUTES
    mean, low, high = minutes(one_partition((0,), 1), bare((*LOUD, *racks), 3), 3, 0, seed, 1_000)
    assert low * 0.99 <= exact <= high * 1.01
    assert mean == pytest.approx(exact, rel=0.02)


def test_c10_the_last_ones_disk_loses_what_the_others_hold() -> None:
    """Two copies; the first is away, and the only one in sync loses its disk: 2 λ_disk P(|ISR| = 1), about."""
    disks = tuple(
        Component(
            name=f"disk {broker}", kind="disk", brokers=(broker,), up_ms=1_000.0 * HOUR_MS, down_ms=float(HOUR_MS),
            effect="empty",
        )
        for broker in range(2)
    )  # fmt: skip
    assumed = bare((*crashes(2, 100.0, 300.0), *disks), 2, refill_ms=(0, 0))
    parameters = ForecastParameters(
        seed=3, histories=1_000, horizon_ms=YEAR_MS, brokers=2, topics=1, variants=(assumed,)
    )
    tally: Tally = run_here(FORECAST, TWO, parameters)
    gone = tally.arrays()["totals"][:, 0, 5]
    alone = 2 * L.down * (1 - L.down)
    rough = alone * 8_760 / 1_000
    assert rough * 0.7 < float(np.mean(gone)) < rough * 1.6
