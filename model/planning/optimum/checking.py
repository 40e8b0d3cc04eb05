"""What no placement can satisfy, said in one line before anything is solved."""

import numpy as np

from model.planning.optimum.classes import fixed_rows
from model.planning.optimum.problem import NONE, Objective, PlacementProblem, PlanningError, Scope

MOST_REPLICAS = 14
"""Of a partition that may change: what it keeps is chosen among all subsets of its replicas."""


def check(problem: PlacementProblem, objective: Objective) -> None:
    """Raises PlanningError."""
    if not problem.allowed.any():
        raise PlanningError("no broker may hold replicas: allow some")
    if objective.scope is not Scope.LEADERS:
        _check_factors(problem, objective)
        _check_capacity(problem)


def _check_factors(problem: PlacementProblem, objective: Objective) -> None:
    movable = ~fixed_rows(problem, objective)
    held = int((problem.replicas[movable] != NONE).sum(axis=1).max(initial=0))
    if held > MOST_REPLICAS:
        raise PlanningError(
            f"a partition has {held} replicas, and {MOST_REPLICAS} at most can be planned: leave it out"
        )
    factors = problem.target_rf[movable]
    brokers = int(problem.allowed.sum())
    if (most := int(factors.max(initial=0))) > brokers:
        raise PlanningError(
            f"{most} replicas need {most} brokers, and {brokers} may hold replicas: add brokers or lower the"
            " replication factor"
        )
    if int(factors.min(initial=1)) < 1:
        raise PlanningError("a partition cannot have 0 replicas: ask for a replication factor of 1 or more")


def _check_capacity(problem: PlacementProblem) -> None:
    if problem.capacity is None:
        return
    if problem.bytes is None:
        raise PlanningError("capacity means nothing without sizes of partitions: give sizes, or leave it out")
    needed, there = int(problem.bytes @ problem.target_rf), int(problem.capacity[problem.allowed].sum())
    if needed > there:
        raise PlanningError(f"{needed:,} bytes of replicas do not fit on brokers that hold {there:,}: add brokers")


def check_loads(problem: PlacementProblem, replicas: np.ndarray) -> None:
    """Whether every broker holds what it was given. Raises PlanningError."""
    if problem.capacity is None or problem.bytes is None:
        return
    loads = loads_of(replicas, problem.bytes, len(problem.allowed))
    for broker in np.flatnonzero(problem.allowed & (loads > problem.capacity)).tolist():
        raise PlanningError(
            f"broker {broker} would get {int(loads[broker]):,} bytes and holds {int(problem.capacity[broker]):,};"
            " no exchange was found that helps: raise its capacity, add brokers, or allow a tolerance"
        )


def loads_of(replicas: np.ndarray, sizes: np.ndarray, brokers: int) -> np.ndarray:
    """Bytes on each broker."""
    there = replicas != NONE
    weights = np.broadcast_to(sizes[:, None], replicas.shape)[there]
    return np.bincount(replicas[there], weights=weights, minlength=brokers)
