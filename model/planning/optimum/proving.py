"""The optimum by linear programs, one for each objective, each within what the one before left open."""

import math
from typing import NamedTuple

from model.planning.optimum import highs
from model.planning.optimum.bands import Band
from model.planning.optimum.classes import Classes
from model.planning.optimum.dealing import dealt
from model.planning.optimum.evening import Evened, evened
from model.planning.optimum.figures import Bounds
from model.planning.optimum.matrix import Matrix
from model.planning.optimum.problem import Cost, Ended, Floats, Ints, Longs, Objective, PlacementProblem, Scope, Told
from model.planning.optimum.program import Program, program_of

_NEAR = 1e-9
"""Bytes are numbers of eleven digits to a solver that reckons in floating point."""


class Bands(NamedTuple):
    """Of all replicas and leaders, those of partitions that stay among them."""

    replicas: Band
    leaders: Band


class Proven(NamedTuple):
    """What the linear programs found."""

    replicas: Ints
    bounds: Bounds
    are_led: bool
    """False: the time was enough for replicas only."""


class _Stage(NamedTuple):
    problem: PlacementProblem
    objective: Objective
    program: Program
    told: Told
    ended: Ended
    time_limit_s: float

    @property
    def by_bytes(self) -> bool:
        return self.objective.cost is Cost.BYTES and self.problem.bytes is not None

    @property
    def weight(self) -> int:
        """More than all leader changes together."""
        return len(self.problem.replicas) + 1

    @property
    def last(self) -> Floats:
        """What is kept low among placements of the same cost."""
        program = self.program
        return program.moves * self.weight + program.changes if self.by_bytes else program.changes

    def minimum(self, matrix: Matrix, cost: Floats, step: float, *, led: bool = True) -> highs.Minimum | None:
        """`led`: the cost or the bounds have to do with leaders."""
        return highs.minimum(matrix, cost, self.program.first(led=led), self.ended, self.time_limit_s, step)

    def evened(self, matrix: Matrix, band: Band, *, led: bool) -> Evened | None:
        """With the band on leaders or on replicas, wider where it must be; None: not found in the time."""
        rows = self.program.leader_rows if led else self.program.replica_rows
        return evened(matrix, self.program.first(led=led), rows, band, self.ended, self.time_limit_s)


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
    stage = _Stage(problem, objective, program, told, ended, time_limit_s)
    fixed = Bands(bands.replicas.without(classes.fixed_replicas), bands.leaders.without(classes.fixed_leaders))
    found = _cheapest(stage, fixed.replicas)
    if found is None:
        return None
    least, values, matrix, of_even = found
    cost = float(program.cost @ values)
    is_proven = cost <= least.bound * (1 + _NEAR)
    told(f"{cost:,.0f} {'bytes' if stage.by_bytes else 'moves'}, bound {least.bound:,.0f}")
    matrix = least.face(matrix) if is_proven else matrix.with_row(program.cost, -math.inf, cost)
    best, are_even = _led(stage, matrix, fixed.leaders)
    bound = math.floor(least.bound) if not is_proven else round(cost)
    is_led = best is not None and best.values is not None
    last = max(round(best.bound), 0) if best is not None and is_led and is_proven else 0
    values = best.values if best is not None and best.values is not None else values
    bounds = Bounds(bound, last, of_even=of_even and are_even)
    if stage.by_bytes:
        moves, changes = divmod(last, stage.weight)
        bounds = bounds._replace(
            moves=moves, leader_changes=changes if program.moves @ values <= moves else 0, bytes=bound
        )
    stay = objective.scope is Scope.LEADERS
    return Proven(dealt(program, classes, values, problem.replicas, problem.rack, stay=stay), bounds, is_led)


def _cheapest(stage: _Stage, band: Band) -> tuple[highs.Minimum, Longs, Matrix, bool] | None:
    """The fewest moves or bytes, and the program with counts within the band, or as near to it as can be: whether
    that is proven.
    """
    program, scope = stage.program, stage.objective.scope
    step = 0.0 if stage.by_bytes else 1.0
    matrix, least, is_even = program.matrix, None, True
    if scope is Scope.BALANCE:
        matrix = program.matrix.with_rows(program.replica_rows, *band)
        least = stage.minimum(matrix, program.cost, step, led=False)
    if least is None:
        leaders_only = scope is Scope.LEADERS
        widened = Evened(matrix, True) if leaders_only else stage.evened(program.matrix, band, led=False)
        if widened is None:
            return None
        matrix, is_even = widened
        least = stage.minimum(matrix, program.cost, step, led=False)
    return None if least is None or least.values is None else (least, least.values, matrix, is_even)


def _led(stage: _Stage, matrix: Matrix, band: Band) -> tuple[highs.Minimum | None, bool]:
    """Leaders even as far as the cheapest placements allow, with the fewest changes; None: not in the time. And
    whether nothing is proven to be more even.
    """
    if stage.objective.scope in (Scope.BALANCE, Scope.LEADERS):
        best = stage.minimum(matrix.with_rows(stage.program.leader_rows, *band), stage.last, 1.0)
        if best is not None:
            return best, best.values is not None
    widened = stage.evened(matrix, band, led=True)
    if widened is None:
        return None, False
    best = stage.minimum(widened.matrix, stage.last, 1.0)
    return best, widened.is_proven and best is not None and best.values is not None
