"""HiGHS, asked for whole numbers: the linear relaxation first, then only the columns that can matter."""

import math
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.problem import Cancelled, Ended, Flags, Floats
from model.planning.optimum.program import Matrix

_TINY = 1e-6
_HALF = 0.5
"""Costs are whole numbers, of up to fifteen digits where they are bytes: what is less is an error of floating point."""


class Minimum(NamedTuple):
    """What was found, and what is proven about everything that could be."""

    values: NDArray[np.int64] | None
    """int64[columns]; None: nothing was found in the time."""
    bound: float
    """No solution in whole numbers costs less."""
    relaxed: float
    """What the relaxation costs."""
    reduced: Floats
    prices: Floats

    def narrowed(self, matrix: Matrix, cost: Floats) -> Matrix:
        """The same program, of whose solutions none costs more than the values found.

        Where those cost no more than the relaxation, its prices say which columns and rows may not change
        (complementary slackness). Else a row says what may be spent, and what costs more than all the rest is left out.
        """
        assert self.values is not None
        value, noise = float(cost @ self.values), _noise(cost)
        spare = max(value - self.relaxed, 0.0)
        limit = np.where(self.reduced > spare + noise, 0.0, matrix.limit)
        capped = (self.reduced < -noise) & np.isfinite(matrix.limit)
        if spare > noise or capped.any():
            scale = float(cost.max(initial=1.0))
            return matrix._replace(limit=limit).with_row(cost / scale, -math.inf, (value + _TINY) / scale)
        total = matrix.totals(self.values)
        tight = np.flatnonzero(np.abs(self.prices) > noise)
        return matrix.with_rows(tight, total[tight], total[tight])._replace(limit=limit)


def whole(bound: float) -> int:
    """The least whole number that a bound leaves."""
    return max(math.ceil(bound - _HALF), 0) if math.isfinite(bound) else 0


def _noise(cost: Floats) -> float:
    """What is zero among prices: they are whole numbers, or simple fractions, times an error that grows with costs."""
    return float(np.clip(1e-11 * cost.max(initial=0.0), _TINY, 0.8 * _HALF))


class _Solved(NamedTuple):
    optimal: bool
    feasible: bool
    """There are values."""
    impossible: bool
    """No values can be."""
    values: Floats
    reduced: Floats
    """What a column would cost beside the others' prices."""
    prices: Floats
    """Of the rows."""
    cost: float
    bound: float


def minimum(
    matrix: Matrix, cost: Floats, first: Flags, ended: Ended, time_limit_s: float, step: float = 1.0
) -> Minimum | None:
    """The cheapest solution in whole numbers; None: there is none. `step` divides every cost; 0: any costs.

    The columns `first` should do; the others are taken in if they pay. A column whose reduced cost is above the
    distance between the relaxation and a whole solution is in none better.
    """
    solved = _relaxation(matrix, cost, first, ended, time_limit_s)
    if not solved.optimal:
        nothing = Minimum(None, -math.inf, -math.inf, solved.reduced, solved.prices)
        return None if solved.impossible else nothing
    bound = math.ceil(solved.cost / step - _TINY) * step if step else solved.cost
    rounded = np.rint(solved.values)
    if np.abs(solved.values - rounded).max(initial=0.0) < _TINY:
        value = float(cost @ rounded)
        return Minimum(rounded.astype(np.int64), value, value, solved.reduced, solved.prices)
    found = _whole(matrix, cost, solved, bound, ended, time_limit_s, step)
    return None if found is None else Minimum(*found, solved.cost, solved.reduced, solved.prices)


def _relaxation(matrix: Matrix, cost: Floats, first: Flags, ended: Ended, time_limit_s: float) -> _Solved:
    """Of all columns, though most of them are only ever asked for their reduced cost."""
    free = matrix.limit > 0
    used = first & free
    while True:
        part = _run(matrix.chosen(used), cost[used], None, ended, time_limit_s)
        if not (part.optimal or part.impossible):
            return part
        if part.optimal:
            reduced = cost - matrix.priced(part.prices)
            paying = free & ~used & (reduced < -_TINY)
            if not paying.any():
                values = np.zeros(matrix.columns)
                values[used] = part.values
                return part._replace(values=values, reduced=reduced)
            used = used | paying
        elif (used == free).all():
            return part
        else:
            used = free


def _whole(
    matrix: Matrix, cost: Floats, solved: _Solved, bound: float, ended: Ended, time_limit_s: float, step: float
) -> tuple[NDArray[np.int64] | None, float] | None:
    """The values, if any were found in the time, and a bound at least as good; None: there are none.

    Most of the relaxation is whole already: at first only the little that is not is solved again, then all that may
    still change by two, then everything, with ever more columns.
    """
    best, reach = None, max(step, abs(solved.cost) * 1e-4)
    for slack in (0.0, 2.0, math.inf, math.inf):
        base = np.maximum(np.floor(solved.values + _TINY) - slack, 0.0)
        columns = (matrix.limit > 0) & ((base > 0) | (solved.reduced <= bound - solved.cost + reach + _TINY))
        limit_s = time_limit_s if slack == math.inf else time_limit_s / 6
        found = _run(matrix.beyond(base).chosen(columns), cost[columns], (bound, step), ended, limit_s)
        total = found.cost + float(cost @ base)
        if found.feasible and (best is None or total < float(cost @ best) - _TINY):
            best = base.astype(np.int64)
            best[columns] += np.rint(found.values).astype(np.int64)
        if found.feasible and total <= bound + _TINY:
            return best, bound
        if slack == math.inf:
            if found.optimal and total <= bound + reach + _TINY:
                return best, total if step else max(bound, found.bound)
            if found.impossible and reach == math.inf:
                return None
            farther = math.inf if found.impossible else reach * 30
            reach = farther if best is None else float(cost @ best) - bound
    return best, bound


def _run(
    matrix: Matrix, cost: Floats, target: tuple[float, float] | None, ended: Ended, time_limit_s: float
) -> _Solved:
    """One call of HiGHS; in whole numbers where `target`, (a known bound, what divides all costs), is given."""
    whole = target is not None
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", float(time_limit_s))
    # The programs are sparse and nearly solved at the start; what presolve finds does not pay for its search.
    solver.setOptionValue("presolve", "on" if whole else "off")
    if target is not None:
        solver.setOptionValue("mip_rel_gap", 0.0 if target[1] else 1e-6)
        solver.setOptionValue("mip_abs_gap", max(target[1] * 0.99, _TINY))
    solver.passModel(_model(matrix, cost, whole))
    _listen(solver, ended)
    solver.run()
    if ended():
        raise Cancelled
    return _answer(solver, whole)


def _model(matrix: Matrix, cost: Floats, whole: bool) -> highspy.HighsLp:
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = matrix.columns, len(matrix.least)
    model.col_cost_ = cost
    model.col_lower_ = np.zeros(matrix.columns)
    model.col_upper_ = matrix.limit
    model.row_lower_, model.row_upper_ = matrix.least, matrix.most
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.start, matrix.row, matrix.value
    if whole:
        model.integrality_ = [highspy.HighsVarType.kInteger] * matrix.columns
    return model


def _listen(solver: highspy.Highs, ended: Ended) -> None:
    def asked(event: highspy.HighsCallbackEvent) -> None:
        if ended():
            event.interrupt()

    for callback in (solver.cbSimplexInterrupt, solver.cbMipInterrupt):
        callback.subscribe(asked)


def _answer(solver: highspy.Highs, whole: bool) -> _Solved:
    status, info, solution = solver.getModelStatus(), solver.getInfo(), solver.getSolution()
    optimal = status == highspy.HighsModelStatus.kOptimal
    infeasible = status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
    has_values = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    return _Solved(
        optimal=optimal,
        feasible=has_values and not infeasible,
        impossible=infeasible,
        values=np.array(solution.col_value),
        reduced=np.array(solution.col_dual),
        prices=np.array(solution.row_dual),
        cost=info.objective_function_value,
        bound=info.mip_dual_bound if whole else info.objective_function_value,
    )
