"""Partitions that are the same to the solver, taken together: it then counts classes, of which there are few."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from model.planning.optimum.problem import NONE, Cost, Flags, Floats, Ints, Objective, PlacementProblem, Scope


class PartitionClass(NamedTuple):
    """Partitions with the same leader, the same replicas on allowed brokers and the same number of replicas to come."""

    leader: int
    """The first replica of now, if it may stay; else NONE."""
    present: tuple[int, ...]
    """Brokers that may keep what they have, ascending."""
    factor: int
    size: float
    """Bytes of each, where moves are counted in bytes; else 1."""
    members: tuple[int, ...]


class Classes(NamedTuple):
    """All that can be decided, and what is there whatever is decided."""

    classes: tuple[PartitionClass, ...]
    fixed_replicas: Floats
    """[B] replicas that allowed brokers have of partitions that stay as they are."""
    fixed_leaders: Floats
    """[B]"""


def classes_of(problem: PlacementProblem, objective: Objective) -> Classes:
    """The classes, in an order that follows from the problem alone."""
    by_bytes = objective.cost is Cost.BYTES and problem.bytes is not None
    members: defaultdict[tuple[int, tuple[int, ...], int, float, int], list[int]] = defaultdict(list)
    allowed = problem.allowed.tolist()
    stays = fixed_rows(problem, objective)
    for row in np.flatnonzero(~stays).tolist():
        replicas = [broker for broker in problem.replicas[row].tolist() if broker != NONE]
        present = tuple(sorted({broker for broker in replicas if allowed[broker]}))
        leader = replicas[0] if replicas and allowed[replicas[0]] else NONE
        factor = len(present) if objective.scope is Scope.LEADERS else int(problem.target_rf[row])
        size = float(problem.bytes[row]) if by_bytes and problem.bytes is not None else 1.0
        members[leader, present, factor, size, row if by_bytes else 0].append(row)
    classes = tuple(
        PartitionClass(leader, present, factor, size, tuple(rows))
        for (leader, present, factor, size, _), rows in sorted(members.items())
    )
    kept = problem.replicas[stays]
    return Classes(classes, counts_of(kept, problem.allowed), counts_of(kept[:, :1], problem.allowed))


def fixed_rows(problem: PlacementProblem, objective: Objective) -> Flags:
    """[P] partitions about which nothing can be decided."""
    stays = np.zeros(len(problem.replicas), np.bool_) if problem.fixed is None else problem.fixed
    if objective.scope is Scope.LEADERS:
        can_lead = (problem.allowed[problem.replicas] & (problem.replicas != NONE)).any(axis=1)
        stays = stays | ~can_lead
    return stays


def counts_of(replicas: Ints, allowed: Flags) -> Floats:
    """[B] replicas of each allowed broker; 0 of the others."""
    counts = np.bincount(replicas[replicas != NONE], minlength=len(allowed))
    return np.where(allowed, counts, 0).astype(np.float64)
