"""How many replicas and leaders a broker should have: as even as racks allow.

The most even counts are those of a submodular flow's fair solution: sort racks by size; the replicas that the smallest
s racks must take at least, over their brokers, is a curve, and the slopes of its concave hull are the fair levels.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from model.planning.optimum.problem import Flags, Floats, Ints


class Band(NamedTuple):
    """Least and most for each broker, float64[B]; zero for brokers that are not allowed."""

    least: Floats
    most: Floats

    def without(self, counts: Floats) -> "Band":
        """What is left when so many are there already."""
        return Band(self.least - counts, self.most - counts)

    def holds(self, counts: Floats) -> bool:
        """Whether no broker has fewer or more."""
        return bool((self.least <= counts).all() and (counts <= self.most).all())


class Bands(NamedTuple):
    """Of all replicas and leaders, those of partitions that stay among them."""

    replicas: Band
    leaders: Band


def outside(counts: Floats, band: Band) -> int:
    """How far counts are from a band, in one figure: 0 within it. The first step out costs 1, the next two cost 2 each,
    the next four 4 each, and so on: one broker far out is worse than many that are nearly in.
    """
    out = np.maximum(np.maximum(band.least - counts, counts - band.most), 0).astype(np.int64)
    # Whole steps of 1, 2, 4… cost 1, 4, 16…; what is left of the last costs its width a piece.
    width = np.int64(1) << np.floor(np.log2(out + 1)).astype(np.int64)
    return int(((width * width - 1) // 3 + (out - width + 1) * width).sum())


def replica_band(factors: Ints, allowed: Flags, rack: Ints, tolerance: float) -> Band:
    """Counts within one of the fair level of the broker's rack, or within `tolerance` of it. All racks are known."""
    numbers, sizes = np.unique(rack[allowed], return_counts=True)
    order = np.argsort(sizes, kind="stable")
    levels = _slopes(_forced(factors, sizes[order].tolist()))
    level_of = {int(numbers[at]): level for at, level in zip(order.tolist(), levels, strict=True)}
    return _band([level_of.get(at, Fraction(0)) for at in rack.tolist()], allowed, tolerance)


def leader_band(leaders: int, allowed: Flags, tolerance: float) -> Band:
    """Leaders within one of the mean, or within `tolerance` of it."""
    return _band([Fraction(leaders, max(int(allowed.sum()), 1))] * len(allowed), allowed, tolerance)


def _forced(factors: Ints, sizes: list[int]) -> list[tuple[int, int]]:
    """After each of the racks: (brokers so far, replicas that these cannot do without)."""
    racks, brokers = len(sizes), sum(sizes)
    counts = [(factor, n) for factor, n in enumerate(np.bincount(factors).tolist()) if n] if len(factors) else []
    points = [(0, 0)]
    for so_far in range(1, racks + 1):
        held = sum(sizes[:so_far])
        least = sum(
            n * (max(0, factor - racks + so_far) if factor <= racks else max(so_far, factor - brokers + held))
            for factor, n in counts
        )
        points.append((held, least))
    return points


def _slopes(points: list[tuple[int, int]]) -> list[Fraction]:
    """The slope of the concave hull over each step between points."""
    slopes: list[Fraction] = []
    at = 0
    while at < len(points) - 1:
        (x, y) = points[at]
        steepest, end = max((Fraction(points[to][1] - y, points[to][0] - x), to) for to in range(at + 1, len(points)))
        slopes += [steepest] * (end - at)
        at = end
    return slopes


def _band(levels: list[Fraction], allowed: Flags, tolerance: float) -> Band:
    share = Fraction(tolerance).limit_denominator(10**6)
    least = [min(math.floor(level), math.ceil(level * (1 - share))) for level in levels]
    most = [max(math.ceil(level), math.floor(level * (1 + share))) for level in levels]
    return Band(np.where(allowed, least, 0).astype(np.float64), np.where(allowed, most, 0).astype(np.float64))
