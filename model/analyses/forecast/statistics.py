"""Intervals at 95 %: which one fits what was counted, and how sure a mean of random histories is.

The interval of sums of few events is that of Fay and Feuer (1997). Quantiles of distributions are scipy's.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from model.analyses.forecast.sampling import Floats

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
ALPHA = 0.05
MANY = 400
"""Events from which a sum of them is as good as normal."""
NEARLY_ALL = 0.9
TOO_FEW = 30


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with its interval. `kind` names it; `high` None: nothing can be said."""

    mean: float
    low: float
    high: float | None
    kind: str
    events: int = 0


def garwood(events: float, exposure: float) -> tuple[float, float]:
    """Of a rate, by so many events in so much time."""
    low = chi_squared(ALPHA / 2, 2 * events) / 2 if events else 0.0
    return low / exposure, chi_squared(1 - ALPHA / 2, 2 * events + 2) / 2 / exposure


def wilson(events: int, number: int) -> tuple[float, float]:
    """Of a share."""
    share, z = events / number, Z * Z / number
    middle = share + z / 2
    half = Z * math.sqrt(share * (1 - share) / number + z / (4 * number))
    return max(0.0, (middle - half) / (1 + z)), min(1.0, (middle + half) / (1 + z))


def jeffreys(events: int, number: int) -> tuple[float, float]:
    """Of a share that is small."""
    a, b = events + 0.5, number - events + 0.5
    low = beta(ALPHA / 2, a, b) if events else 0.0
    return low, beta(1 - ALPHA / 2, a, b) if events < number else 1.0


def exact(events: int, number: int) -> tuple[float, float]:
    """Of a share, by Clopper and Pearson: never too narrow."""
    low = beta(ALPHA / 2, events, number - events + 1) if events else 0.0
    return low, beta(1 - ALPHA / 2, events + 1, number - events) if events < number else 1.0


def never_seen(number: int) -> float:
    """Below which share, at 95 %, something is that was not seen in so many histories."""
    return 1 - ALPHA ** (1 / number)


def share(events: int, number: int) -> Estimate:
    """Of histories in which something happened."""
    if not events:
        return Estimate(mean=0.0, low=0.0, high=never_seen(number), kind="below", events=0)
    small = events / number < 0.01
    low, high = jeffreys(events, number) if small else wilson(events, number)
    kind = "jeffreys" if small else "wilson"
    return Estimate(mean=events / number, low=low, high=high, kind=kind, events=events)


def gamma_interval(total: float, squares: float, largest: float, number: int) -> tuple[float, float]:
    """Of the mean over histories of sums of events, by the sum and the sum of squares of all events."""
    if not total:
        return 0.0, largest * chi_squared(1 - ALPHA / 2, 2) / 2 / number
    low = squares / (2 * total) * chi_squared(ALPHA / 2, 2 * total**2 / squares)
    sum_, square = total + largest, squares + largest**2
    high = square / (2 * sum_) * chi_squared(1 - ALPHA / 2, 2 * sum_**2 / square)
    return low / number, high / number


def t_interval(total: float, squares: float, number: int) -> tuple[float, float]:
    """Of the mean of so many histories."""
    mean = total / number
    if number < 2:
        return -math.inf, math.inf
    spread = math.sqrt(max(0.0, squares - number * mean * mean) / (number - 1))
    half = student(number - 1) * spread / math.sqrt(number)
    return mean - half, mean + half


def mean_of(total: float, squares: float, hit: int, largest: float, number: int, longest: float) -> Estimate:
    """Of a measure that is never below 0: in `hit` of the histories it was more than that, at most `largest`.

    Where it is rare what a history has counts as one event, which makes the interval wider than events would, never
    narrower. `longest`: what a history might well have, though none did.
    """
    if hit >= MANY or (hit >= NEARLY_ALL * number and hit >= TOO_FEW):
        low, high = t_interval(total, squares, number)
        return Estimate(mean=total / number, low=max(0.0, low), high=high, kind="t", events=hit)
    low, high = gamma_interval(total, squares, max(largest, longest), number)
    return Estimate(mean=total / number, low=low, high=high, kind="gamma", events=hit)


def is_within(figure: Estimate, part: float) -> bool:
    """Whether the interval is narrow enough to stop: half of it at most this part of the mean, by events enough."""
    return figure.high is not None and figure.events >= TOO_FEW and (figure.high - figure.low) / 2 <= part * figure.mean


def difference_of(values: Floats) -> Estimate:
    """Of pairs of histories: the mean of what is less afterwards."""
    low, high = t_interval(math.fsum(values.tolist()), math.fsum((values * values).tolist()), len(values))
    finite = math.isfinite(high)
    return Estimate(
        mean=float(values.mean()), low=low if finite else -math.inf, high=high if finite else None, kind="t",
        events=int(np.count_nonzero(values)),
    )  # fmt: skip


def variance_ratio(before: Floats, after: Floats) -> float:
    """How many times the histories unpaired ones would need for the same interval; inf where pairs never differ."""
    apart = float(np.var(before - after))
    return (float(np.var(before)) + float(np.var(after))) / apart if apart else math.inf


def quantile(values: Floats, p: float) -> Estimate:
    """Of histories, by order statistics: no distribution is assumed."""
    ordered, number = np.sort(values), len(values)
    low, high = ranks(number, p)
    middle = min(number, max(1, math.ceil(p * number)))
    return Estimate(
        mean=float(ordered[middle - 1]), low=float(ordered[low - 1]) if low else 0.0,
        high=float(ordered[high - 1]) if high <= number else None, kind="ranks", events=number,
    )  # fmt: skip


def ranks(number: int, p: float) -> tuple[int, int]:
    """Of the order statistics that bound the quantile; 0 and `number + 1` are none."""
    return _binomial(ALPHA / 2, number, p), _binomial(1 - ALPHA / 2, number, p) + 1


def _binomial(q: float, number: int, p: float) -> int:
    """The least k with P(X <= k) >= q."""
    below = _special().bdtr(np.arange(number + 1), number, p)
    return int(np.searchsorted(below, q))


def effective(weights: Sequence[float]) -> float:
    """How many equal weights would be as good: (Σw)²/Σw²."""
    squares = math.fsum(each * each for each in weights)
    return math.fsum(weights) ** 2 / squares if squares else 0.0


def chi_squared(q: float, degrees: float) -> float:
    """The quantile q; degrees of freedom need not be whole."""
    return 2 * float(_special().gammaincinv(degrees / 2, q))


def student(degrees: int) -> float:
    """The 97.5 % quantile of t."""
    return float(_special().stdtrit(degrees, 0.975))


def beta(q: float, a: float, b: float) -> float:
    """The quantile q."""
    return float(_special().betaincinv(a, b, q))


def _special() -> Any:
    """Loaded when the first interval is worked out: most runs of kdrill have none."""
    import scipy.special  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    return scipy.special
