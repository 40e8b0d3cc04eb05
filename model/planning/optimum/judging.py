"""How good any placement is, whoever made it: the rules it breaks, then what counts, in order. It solves nothing."""

from collections.abc import Mapping

import msgspec
import numpy as np

from model.planning.optimum.bands import Band, Bands, leader_band, outside, replica_band
from model.planning.optimum.checking import loads_of
from model.planning.optimum.classes import counts_of, fixed_rows
from model.planning.optimum.figures import added_to
from model.planning.optimum.problem import NONE, Cost, Flags, Ints, Objective, PlacementProblem, Scope

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
        "bytes": 0 if problem.bytes is None or objective.cost is not Cost.BYTES else int(added @ problem.bytes),
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


def _outside(replicas: Ints, problem: PlacementProblem, band: Band) -> int:
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
