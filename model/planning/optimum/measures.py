"""How good any placement is, whoever made it: counts as even as racks allow, the rules it breaks, what it costs.

The most even counts are those of a submodular flow's fair solution: sort racks by size; the replicas that the smallest
s racks must take at least, over their brokers, is a curve, and the slopes of its concave hull are the fair levels.
Costs are counted from the replicas alone. It solves nothing.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec
import numpy as np

from model.planning.optimum.problem import (
    NONE,
    Flags,
    Floats,
    Ints,
    MoveCost,
    Objective,
    Placement,
    PlacementProblem,
    Scope,
    counts_of,
    fixed_rows,
    loads_of,
)


class BrokerBounds(NamedTuple):
    """Least and most for each broker, float64[B]; zero for brokers that are not allowed."""

    least: Floats
    most: Floats

    def without(self, counts: Floats) -> "BrokerBounds":
        """What is left when so many are there already."""
        return BrokerBounds(self.least - counts, self.most - counts)

    def holds(self, counts: Floats) -> bool:
        """Whether no broker has fewer or more."""
        return bool((self.least <= counts).all() and (counts <= self.most).all())


class Bands(NamedTuple):
    """Of all replicas and leaders, those of partitions that stay among them."""

    replicas: BrokerBounds
    leaders: BrokerBounds


def outside(counts: Floats, band: BrokerBounds) -> int:
    """How far counts are from a band, in one figure: 0 within it. The first step out costs 1, the next two cost 2 each,
    the next four 4 each, and so on: one broker far out is worse than many that are nearly in.
    """
    out = np.maximum(np.maximum(band.least - counts, counts - band.most), 0).astype(np.int64)
    # Whole steps of 1, 2, 4… cost 1, 4, 16…; what is left of the last costs its width a piece.
    width = np.int64(1) << np.floor(np.log2(out + 1)).astype(np.int64)
    return int(((width * width - 1) // 3 + (out - width + 1) * width).sum())


def replica_band(factors: Ints, allowed: Flags, rack: Ints, tolerance: float) -> BrokerBounds:
    """Counts within one of the fair level of the broker's rack, or within `tolerance` of it. All racks are known."""
    numbers, sizes = np.unique(rack[allowed], return_counts=True)
    order = np.argsort(sizes, kind="stable")
    levels = _slopes(_forced(factors, sizes[order].tolist()))
    level_of = {int(numbers[at]): level for at, level in zip(order.tolist(), levels, strict=True)}
    return _band([level_of.get(at, Fraction(0)) for at in rack.tolist()], allowed, tolerance)


def leader_band(leaders: int, allowed: Flags, tolerance: float) -> BrokerBounds:
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


def _band(levels: list[Fraction], allowed: Flags, tolerance: float) -> BrokerBounds:
    share = Fraction(tolerance).limit_denominator(10**6)
    least = [min(math.floor(level), math.ceil(level * (1 - share))) for level in levels]
    most = [max(math.ceil(level), math.floor(level * (1 + share))) for level in levels]
    return BrokerBounds(np.where(allowed, least, 0).astype(np.float64), np.where(allowed, most, 0).astype(np.float64))


class Bounds(NamedTuple):
    """No placement that is as good in all that counts before has less (`Placement`)."""

    moves: int = 0
    leader_changes: int = 0
    bytes: int = 0
    """0: not asked for."""
    replicas: float = 0
    """How far counts are out of their band (`bands.outside`); infinite: nothing was to be even."""
    leaders: float = 0


def added_to(before: Ints, after: Ints) -> Flags:
    """[P, W'] replicas where there was none."""
    was = (after[:, :, None] == before[:, None, :]).any(axis=2)
    return (after != NONE) & ~was


def reordered(before: Ints, after: Ints, *, led: bool) -> Ints:
    """Replicas that were there, in their order, then the others, ascending; `led`: the first stays the first."""
    width = before.shape[1]
    place = np.full(after.shape, width, np.int32)
    for column in range(width):
        place[after == before[:, column, None]] = column
    key: Ints = np.where(place < width, place, width + 1 + after)
    key[after == NONE] = np.iinfo(np.int32).max
    if led:
        key[:, 0] = -1
    return np.take_along_axis(after, np.argsort(key, axis=1, kind="stable"), axis=1)


def least_led(problem: PlacementProblem, replicas: Ints, band: BrokerBounds, movable: Flags, bounds: Bounds) -> Bounds:
    """With the leaders that go whatever is done: they may not stay or, where the band is kept, their broker leads more.

    Where these replicas are not led within the band, nobody knows whether any could be.
    """
    brokers = len(problem.allowed)
    room = np.full(brokers, np.inf)
    if band.holds(counts_of(replicas[:, :1], problem.allowed)):
        room = np.maximum(band.most - counts_of(problem.replicas[~movable, :1], problem.allowed), 0)
    leaders = problem.replicas[movable, 0]
    led = np.bincount(leaders[leaders != NONE], minlength=brokers)
    least = np.maximum(led - np.where(problem.allowed, room, 0), 0)
    return bounds._replace(leader_changes=int(least.sum()))


def placement_of(problem: PlacementProblem, replicas: Ints, bands: Bands, bounds: Bounds, by_bytes: bool) -> Placement:
    """The answer, with its distance from what is proven: all of it counted here, whatever the solver said."""
    added = added_to(problem.replicas, replicas).sum(axis=1)
    moves = int(added.sum())
    changes = int((problem.replicas[:, 0] != replicas[:, 0]).sum())
    moved = 0 if problem.bytes is None else int(added @ problem.bytes)
    figures = {"copies": (moves, bounds.moves), "leader changes": (changes, bounds.leader_changes)}
    if by_bytes:
        figures["bytes"] = moved, bounds.bytes
    held, led = counts_of(replicas, problem.allowed), counts_of(replicas[:, :1], problem.allowed)
    are_even = outside(held, bands.replicas) <= bounds.replicas and outside(led, bands.leaders) <= bounds.leaders
    gap = max(_gap(*each) for each in figures.values()) if are_even else math.inf
    return Placement(
        replicas=replicas,
        moves=moves,
        moves_bound=bounds.moves,
        leader_changes=changes,
        leader_changes_bound=bounds.leader_changes,
        moved_bytes=moved,
        moved_bytes_bound=bounds.bytes,
        method=_method(gap, figures, are_even),
        gap=gap,
    )


def _gap(found: int, bound: int) -> float:
    return max(found - bound, 0) / bound if bound else math.inf if found else 0.0


def _method(gap: float, figures: dict[str, tuple[int, int]], are_even: bool) -> str:
    if not are_even:
        return "counts may not be as even as they can be"
    if gap == 0:
        return "proven optimum"
    if unknown := [what for what, each in figures.items() if math.isinf(_gap(*each))]:
        return f"not proven: no bound of {' and '.join(unknown)} is known"
    return f"within {_percent(gap)} % of the bound"


def _percent(gap: float) -> str:
    return f"{np.ceil(gap * 1e4) / 1e2:g}"


ORDER: Mapping[Scope, tuple[str, ...]] = {
    Scope.BALANCE: ("replicas", "bytes", "moves", "leaders", "leader_changes"),
    Scope.DRAIN: ("bytes", "moves", "racks", "leader_changes", "replicas", "leaders"),
    Scope.RACKS: ("bytes", "moves", "leader_changes", "replicas", "leaders"),
    Scope.LEADERS: ("leaders", "leader_changes"),
}
"""What counts first, second…: the names of `Judged.figures`. Bytes only where they are what is kept low."""


class Judged(msgspec.Struct, frozen=True):
    """`broken` is how many partitions (of `full`: brokers) break each rule; fewer is better in all of `figures`.

    `replicas` and `leaders` are how far counts are out of their bands (`bands.outside`), `racks` how many racks more
    partitions could be on.
    """

    broken: Mapping[str, int]
    figures: Mapping[str, int]
    """In the order in which they count."""


def judged(problem: PlacementProblem, objective: Objective, after: Ints) -> Judged:
    """Of int32[P, W] in place of the problem's replicas."""
    problem = with_rack_rule(problem)
    bands, movable = bands_of(problem, objective), ~fixed_rows(problem, objective)
    added = added_to(problem.replicas, after).sum(axis=1)
    missing = np.where(movable, _missing_racks(problem, after), 0)
    figures = {
        "replicas": _outside(after, problem, bands.replicas),
        "bytes": 0 if problem.bytes is None or objective.cost is not MoveCost.BYTES else int(added @ problem.bytes),
        "moves": int(added.sum()),
        "racks": int(missing.sum()),
        "leaders": _outside(after[:, :1], problem, bands.leaders),
        "leader_changes": int((problem.replicas[:, 0] != after[:, 0]).sum()),
    }
    broken = _broken(problem, objective, after, movable)
    if objective.scope in (Scope.BALANCE, Scope.RACKS):
        broken["racks"] = int((missing > 0).sum())
    return Judged(
        {rule: count for rule, count in broken.items() if count},
        {name: figures[name] for name in ORDER[objective.scope]},
    )


def with_rack_rule(problem: PlacementProblem) -> PlacementProblem:
    """Racks are a rule if every allowed broker has one; else all brokers are as if in one."""
    known = bool((problem.rack[problem.allowed] != NONE).all())
    rack = np.where(problem.allowed, problem.rack, NONE) if known else np.zeros_like(problem.rack)
    return msgspec.structs.replace(problem, rack=rack.astype(np.int32))


def bands_of(problem: PlacementProblem, objective: Objective) -> Bands:
    """Of what allowed brokers hold in the end. Racks of the problem are known, or all one."""
    stays = fixed_rows(problem, objective)
    held = ((problem.replicas != NONE) & problem.allowed[problem.replicas]).sum(axis=1)
    factors = np.where(stays, held, problem.target_rf).astype(np.int32)
    leaders = int((~stays | problem.allowed[problem.replicas[:, 0]]).sum())
    return Bands(
        replica_band(factors, problem.allowed, problem.rack, objective.tolerance),
        leader_band(leaders, problem.allowed, objective.tolerance),
    )


def _outside(replicas: Ints, problem: PlacementProblem, band: BrokerBounds) -> int:
    return outside(counts_of(replicas, problem.allowed), band)


def _missing_racks(problem: PlacementProblem, after: Ints) -> Ints:
    """[P] racks that a partition is not on and could be."""
    there = after != NONE
    racks = np.unique(problem.rack[problem.allowed])
    on = [(there & problem.allowed[after] & (problem.rack[after] == rack)).any(axis=1) for rack in racks]
    return np.maximum(np.minimum(there.sum(axis=1), len(racks)) - np.sum(on, axis=0), 0).astype(np.int32)


def _broken(problem: PlacementProblem, objective: Objective, after: Ints, movable: Flags) -> dict[str, int]:
    """By rule, how many partitions or, of capacity, brokers."""
    width = max(after.shape[1], problem.replicas.shape[1])
    before, after = (
        np.pad(rows, ((0, 0), (0, width - rows.shape[1])), constant_values=NONE) for rows in (problem.replicas, after)
    )
    old, new, there = np.sort(before, axis=1), np.sort(after, axis=1), after != NONE
    broken = {
        "touched": (before != after).any(axis=1) & ~movable,
        "twice": ((np.diff(new, axis=1) == 0) & (new[:, 1:] != NONE)).any(axis=1),
    }
    if objective.scope is Scope.LEADERS:
        broken["others"] = (old != new).any(axis=1)
        broken["leaving"] = movable & ~problem.allowed[after[:, 0]]
    else:
        broken["leaving"] = movable & (there & ~problem.allowed[after]).any(axis=1)
        broken["factor"] = movable & (there.sum(axis=1) != problem.target_rf)
    counts = {rule: int(rows.sum()) for rule, rows in broken.items()}
    if problem.capacity is not None and problem.bytes is not None and objective.scope is not Scope.LEADERS:
        loads = loads_of(after, problem.bytes, len(problem.allowed))
        counts["full"] = int((problem.allowed & (loads > problem.capacity)).sum())
    return counts
