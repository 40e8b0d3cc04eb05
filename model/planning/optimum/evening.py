"""Counts as even as they can be where no band can be kept: what is outside costs the more the farther it is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum import highs
from model.planning.optimum.bands import Band
from model.planning.optimum.matrix import Matrix
from model.planning.optimum.problem import Ended, Flags, Floats


class Evened(NamedTuple):
    """A program whose counts are as even as was found."""

    matrix: Matrix
    is_proven: bool
    """No counts are more even."""


def evened(
    matrix: Matrix, first: Flags, rows: NDArray[np.intp], band: Band, ended: Ended, time_limit_s: float
) -> Evened | None:
    """The matrix with bounds for these rows, one a broker: the band, widened where it cannot be kept.

    Steps away from the band are 1, 2, 4… wide and cost as much a piece. None: nothing was found in the time.
    """
    decided = float(matrix.most[np.isfinite(matrix.most)].sum())
    # A band is less what is fixed: it may lie below zero, or above all that can be decided.
    farthest = max(decided, decided - float(band.most.min()), float(band.least.max()), 1.0)
    steps = np.ldexp(1.0, np.arange(int(farthest).bit_length()))
    signs = np.repeat(np.array([-1.0, 1.0]), len(steps))
    costs = np.tile(steps, 2)
    elastic = matrix.with_rows(rows, band.least, band.most).with_columns(
        np.repeat(rows, len(signs)), np.tile(signs, len(rows)), np.tile(costs, len(rows))
    )
    cost: Floats = np.concatenate([np.zeros(matrix.columns), np.tile(costs, len(rows))])
    asked = np.concatenate([first, np.ones(len(cost) - len(first), np.bool_)])
    found = highs.minimum(elastic, cost, asked, ended, time_limit_s)
    if found is None or found.values is None:
        return None
    counts = matrix.totals(found.values[: matrix.columns])[rows]
    widened = matrix.with_rows(rows, np.minimum(band.least, counts), np.maximum(band.most, counts))
    return Evened(widened, float(cost @ found.values) <= found.bound + 0.5)
