"""What a placement costs, counted from the replicas alone."""

import math
from typing import NamedTuple

import numpy as np

from model.planning.optimum.bands import Band, Bands, outside
from model.planning.optimum.classes import counts_of
from model.planning.optimum.problem import NONE, Flags, Ints, Placement, PlacementProblem


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


def least_led(problem: PlacementProblem, replicas: Ints, band: Band, movable: Flags, bounds: Bounds) -> Bounds:
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
