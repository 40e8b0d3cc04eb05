"""Counts as even as they can be where no band can be kept: what is outside costs the more the farther it is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.bands import Band
from model.planning.optimum.matrix import Matrix
from model.planning.optimum.problem import Floats


class Elastic(NamedTuple):
    """A program whose counts may leave their band, and what each of its columns costs for that."""

    matrix: Matrix
    cost: Floats


def elastic(matrix: Matrix, rows: NDArray[np.intp], band: Band, partitions: int) -> Elastic:
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
