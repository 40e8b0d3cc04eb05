"""Finds the best placement and proves it, or says how far it may be from the best. Arrays in, arrays out.

First every cost in linear programs over classes of partitions, one for each objective, each within what the one before
left open; or a search where these are too large. Where no band of counts can be kept, what is outside costs the more
the farther it is. A bound of an objective holds for all placements that are at least as good as the one found in each
objective before it; where every objective meets its bound, nothing is better. Then partitions are exchanged where that
evens disks and topics and changes nothing that counts more.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum import highs
from model.planning.optimum.assigning import assign_replicas, choose_leaders, searched
from model.planning.optimum.exchanging import exchanged
from model.planning.optimum.measures import (
    Bands,
    Bounds,
    BrokerBounds,
    bands_of,
    least_led,
    placement_of,
    with_rack_rule,
)
from model.planning.optimum.problem import (
    NONE,
    Classes,
    Ended,
    Floats,
    Ints,
    Longs,
    MoveCost,
    Objective,
    Placement,
    PlacementProblem,
    PlanningError,
    Scope,
    Told,
    check_loads,
    check_problem,
    classes_of,
    fixed_rows,
)
from model.planning.optimum.program import Matrix, Program, program_of


class Elastic(NamedTuple):
    """A program whose counts may leave their band, and what each of its columns costs for that."""

    matrix: Matrix
    cost: Floats


def with_elastic_band(matrix: Matrix, rows: NDArray[np.intp], band: BrokerBounds, partitions: int) -> Elastic:
    """The matrix with the band for these rows, one a broker, and more columns, which stand for what is outside.

    Steps away from the band are 1, 2, 4… wide and cost as much a piece (`bands.outside`). No count can be above
    `partitions`.
    """
    # A band is less what is fixed: it may lie below zero, or above all that can be decided.
    farthest = max(partitions, partitions - float(band.most.min()), float(band.least.max()), 1.0)
    steps = np.ldexp(1.0, np.arange(int(farthest).bit_length()))
    signs = np.repeat(np.array([-1.0, 1.0]), len(steps))
    costs = np.tile(np.tile(steps, 2), len(rows))
    wider = matrix.with_rows(rows, band.least, band.most).with_columns(
        np.repeat(rows, len(signs)), np.tile(signs, len(rows)), costs
    )
    return Elastic(wider, np.concatenate([np.zeros(matrix.columns), costs]))


class Proven(NamedTuple):
    """What the linear programs found."""

    replicas: Ints
    bounds: Bounds
    are_led: bool
    """False: the time was enough for replicas only."""


class _Reached(NamedTuple):
    """Where one objective is as low as was found, and what is left open."""

    matrix: Matrix
    """All of whose solutions are as good in this objective, and in those before."""
    values: Longs | None = None
    """None: nothing was found in the time."""
    bound: float = 0.0


class _Stage(NamedTuple):
    objective: Objective
    classes: Classes
    program: Program
    by_bytes: bool
    ended: Ended
    time_limit_s: float

    @property
    def partitions(self) -> int:
        return sum(len(each.members) for each in self.classes.classes)

    def least(self, at: _Reached, cost: Floats, *, led: bool, step: float = 1.0) -> _Reached | None:
        """The least cost; None: nothing satisfies the bounds. `led`: cost or bounds have to do with leaders."""
        more = at.matrix.columns - self.program.matrix.columns
        asked = np.concatenate([self.program.first(led=led), np.ones(more, np.bool_)])
        cost = np.concatenate([cost, np.zeros(at.matrix.columns - len(cost))])
        found = highs.minimum(at.matrix, cost, asked, self.ended, self.time_limit_s, step)
        if found is None:
            return None
        if found.values is None:
            return _Reached(at.matrix)
        return _Reached(found.narrowed(at.matrix, cost), found.values, found.bound)

    def even(self, at: _Reached, rows: NDArray[np.intp], band: BrokerBounds, *, led: bool) -> _Reached | None:
        """Counts of these rows as near to the band as can be."""
        stretched = with_elastic_band(at.matrix, rows, band, self.partitions)
        return self.least(at._replace(matrix=stretched.matrix), stretched.cost, led=led)

    def even_then(
        self, at: _Reached, rows: NDArray[np.intp], band: BrokerBounds, cost: Floats, *, led: bool, step: float = 1.0
    ) -> tuple[_Reached, _Reached]:
        """First counts even, within the band if that can be, then the least cost: where both got to."""
        within = at._replace(matrix=at.matrix.with_rows(rows, *band), bound=0.0)
        if (found := self.least(within, cost, led=led, step=step)) is not None:
            return within, found
        even = self.even(at, rows, band, led=led)
        found = self.least(even, cost, led=led, step=step) if even is not None and even.values is not None else None
        if even is None or found is None:
            nothing = _Reached(at.matrix)
            return nothing, nothing
        return even, found


def proven(
    problem: PlacementProblem,
    objective: Objective,
    classes: Classes,
    bands: Bands,
    told: Told,
    ended: Ended,
    time_limit_s: float,
) -> Proven | None:
    """The best placement; None: the time was not enough. Racks of the problem are known, or all one."""
    program = program_of(classes, problem.allowed, problem.rack, objective.scope)
    told(f"{len(classes.classes):,} classes, {len(program.options):,} options")
    by_bytes = objective.cost is MoveCost.BYTES and problem.bytes is not None
    stage = _Stage(objective, classes, program, by_bytes, ended, time_limit_s)
    fixed = Bands(bands.replicas.without(classes.fixed_replicas), bands.leaders.without(classes.fixed_leaders))
    found = _SCOPES[objective.scope](stage, fixed)
    if found is None:
        return None
    told(f"bounds: {found.bounds.moves:,} moves, {found.bounds.leader_changes:,} leader changes")
    stay = objective.scope is Scope.LEADERS
    replicas = assign_replicas(program, classes, found.values, problem.replicas, problem.rack, stay=stay)
    return Proven(replicas, found.bounds, found.are_led)


class _Found(NamedTuple):
    values: Longs
    bounds: Bounds
    are_led: bool


def _balanced(stage: _Stage, bands: Bands) -> _Found | None:
    """Replicas even, fewest bytes, fewest moves, leaders even, fewest leader changes."""
    program, bounds = stage.program, _forced(stage)
    even, cheapest = stage.even_then(
        _Reached(program.matrix),
        program.replica_rows,
        bands.replicas,
        program.cost,
        led=False,
        step=0.0 if stage.by_bytes else 1.0,
    )
    if cheapest.values is None:
        return None
    bounds = bounds._replace(replicas=highs.whole(even.bound))
    least = highs.whole(cheapest.bound)
    if stage.by_bytes:
        bounds = bounds._replace(bytes=max(bounds.bytes, least))
        fewest = stage.least(cheapest, program.moves, led=False)
        if fewest is not None and fewest.values is not None:
            cheapest = fewest
        least = 0 if fewest is None else highs.whole(fewest.bound)
    bounds = bounds._replace(moves=max(bounds.moves, least))
    led, last = stage.even_then(cheapest, program.leader_rows, bands.leaders, program.changes, led=True)
    if last.values is None:
        assert cheapest.values is not None
        return _Found(cheapest.values, bounds, are_led=False)
    return _Found(last.values, _with_leaders(bounds, led, last), are_led=True)


def _forced_only(stage: _Stage, bands: Bands) -> _Found | None:
    """Each partition has one number of moves, and of leader changes; then replicas even, then leaders even."""
    program, bounds = stage.program, _forced(stage)
    even = stage.even(_Reached(program.matrix), program.replica_rows, bands.replicas, led=False)
    if even is None or even.values is None:
        return None
    bounds = bounds._replace(replicas=highs.whole(even.bound))
    if all(each.leader != NONE for each in stage.classes.classes):  # all of them lead: there is nothing to be evened
        return _Found(even.values, bounds._replace(leaders=math.inf), are_led=True)
    led = stage.even(even, program.leader_rows, bands.leaders, led=True)
    if led is None or led.values is None:
        return _Found(even.values, bounds, are_led=False)
    return _Found(led.values, bounds._replace(leaders=highs.whole(led.bound)), are_led=True)


def _reordered(stage: _Stage, bands: Bands) -> _Found | None:
    """Leaders even, then fewest leader changes."""
    program = stage.program
    even, last = stage.even_then(
        _Reached(program.matrix), program.leader_rows, bands.leaders, program.changes, led=True
    )
    if last.values is None:
        return None
    return _Found(last.values, _with_leaders(_forced(stage)._replace(replicas=math.inf), even, last), are_led=True)


def _with_leaders(bounds: Bounds, even: _Reached, last: _Reached) -> Bounds:
    changes = max(bounds.leader_changes, highs.whole(last.bound))
    return bounds._replace(leaders=highs.whole(even.bound), leader_changes=changes)


_SCOPES = {
    Scope.BALANCE: _balanced,
    Scope.DRAIN: _forced_only,
    Scope.RACKS: _forced_only,
    Scope.LEADERS: _reordered,
}


def _forced(stage: _Stage) -> Bounds:
    """What every placement within the rules has, however uneven it is."""
    program, classes = stage.program, stage.classes.classes
    if not classes:
        return Bounds()
    first = np.searchsorted([option.of for option in program.options], np.arange(len(classes)))
    members = np.array([len(each.members) for each in classes], np.int64)
    moves, changes, cost = (
        int(np.minimum.reduceat(of[: len(program.options)], first).astype(np.int64) @ members)
        for of in (program.moves, program.changes, program.cost)
    )
    return Bounds(moves, changes, cost if stage.by_bytes else 0)


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
    check_problem(problem, objective)
    problem = with_rack_rule(problem)
    classes = classes_of(problem, objective)
    told(f"{len(problem.replicas):,} partitions in {len(classes.classes):,} classes")
    bands = bands_of(problem, objective)
    replicas, bounds = _found(problem, objective, classes, bands, told, ended, time_limit_s)
    if objective.scope is not Scope.LEADERS:
        replicas = exchanged(problem, objective, replicas, ended)
        check_loads(problem, replicas)
    by_bytes = objective.cost is MoveCost.BYTES and problem.bytes is not None
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
        by_bytes = objective.cost is MoveCost.BYTES and problem.bytes is not None
        return searched(problem, bands.replicas, bands.leaders, movable, by_bytes, ended)
    if not found.are_led and balances:
        replicas = choose_leaders(problem, found.replicas, bands.leaders, movable)
        return replicas, least_led(problem, replicas, bands.leaders, movable, found.bounds)
    return found.replicas, found.bounds
