"""Finds the best placement and proves it, or says how far it may be from the best. Arrays in, arrays out.

First every cost in linear programs over classes of partitions, or a search where these are too large; then partitions
are exchanged where that evens disks and topics and changes nothing that counts more.
"""

from model.planning.optimum import checking
from model.planning.optimum.bands import Bands
from model.planning.optimum.classes import Classes, classes_of, fixed_rows
from model.planning.optimum.exchanging import exchanged
from model.planning.optimum.figures import Bounds, least_led, placement_of
from model.planning.optimum.judging import bands_of, with_rack_rule
from model.planning.optimum.leading import led_evenly
from model.planning.optimum.problem import (
    Cost,
    Ended,
    Ints,
    Objective,
    Placement,
    PlacementProblem,
    PlanningError,
    Scope,
    Told,
)
from model.planning.optimum.proving import proven
from model.planning.optimum.searching import searched

MOST_CLASSES = 15_000
"""Of a balance: beyond, the linear programs take minutes."""


def solve(
    problem: PlacementProblem,
    objective: Objective | None = None,
    told: Told = lambda line: None,
    ended: Ended = lambda: False,
    time_limit_s: float = 60.0,
) -> Placement:
    """The placement that the objective puts first. The same input gives the same placement, unless time runs out.

    `told` hears what is done, a line at a time; `ended` is asked again and again. `time_limit_s` is for each call of
    the linear solver, of which there are few. Raises PlanningError if nothing satisfies the rules, Cancelled
    if it ended.
    """
    objective = objective or Objective()
    checking.check(problem, objective)
    problem = with_rack_rule(problem)
    classes = classes_of(problem, objective)
    told(f"{len(problem.replicas):,} partitions in {len(classes.classes):,} classes")
    bands = bands_of(problem, objective)
    replicas, bounds = _found(problem, objective, classes, bands, told, ended, time_limit_s)
    if objective.scope is not Scope.LEADERS:
        replicas = exchanged(problem, objective, replicas, ended)
        checking.check_loads(problem, replicas)
    by_bytes = objective.cost is Cost.BYTES and problem.bytes is not None
    return placement_of(problem, replicas, bands, bounds, by_bytes)


def _found(
    problem: PlacementProblem,
    objective: Objective,
    classes: Classes,
    bands: Bands,
    told: Told,
    ended: Ended,
    time_limit_s: float,
) -> tuple[Ints, Bounds]:
    """By proof if that can be, else by search."""
    movable = ~fixed_rows(problem, objective)
    balances = objective.scope is Scope.BALANCE
    found = None
    if not balances or len(classes.classes) <= MOST_CLASSES:
        found = proven(problem, objective, classes, bands, told, ended, time_limit_s)
    if found is None and not balances:
        raise PlanningError(f"no placement was found within {time_limit_s:g} s: give more time, or ask for a balance")
    if found is None:
        told("too large for a proof: searching")
        by_bytes = objective.cost is Cost.BYTES and problem.bytes is not None
        return searched(problem, bands.replicas, bands.leaders, movable, by_bytes, ended)
    if not found.are_led and balances:
        replicas = led_evenly(problem, found.replicas, bands.leaders, movable)
        return replicas, least_led(problem, replicas, bands.leaders, movable, found.bounds)
    return found.replicas, found.bounds
