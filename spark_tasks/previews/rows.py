"""The table that kernels fill: a row for each group, strategy and change, with the figures of what comes of it.

Rows of all kinds of changes stand in one table of whole numbers, so that a batch is a few arrays whatever is asked.
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.int64]

UNKNOWN = -1
"""A lag that is not known, and every figure of a strategy that refuses a group."""

AT_PRESENT, REBALANCED, JOINED = -3, -2, -1
"""What a row's `CHANGE` says besides the number of the consumer that dies."""


class Column(IntEnum):
    """Columns of the table; from MEMBERS on as `result.Figures` has them."""

    GROUP = 0
    STRATEGY = 1  # its place among those previewed for the group; AT_PRESENT has 0
    CHANGE = 2
    HANDED_ON = 3
    MEMBERS = 4
    IDLE = 5
    PARTITIONS_MIN = 6
    PARTITIONS_MAX = 7
    LAG_MIN = 8
    LAG_MAX = 9
    MOVES = 10
    MOVES_LOWER_BOUND = 11
    WAITS = 12
    UNOWNED = 13


def joined(tables: Sequence[Table]) -> Table:
    """One table of several, or of none."""
    return np.concatenate([np.zeros((0, len(Column)), dtype=np.int64), *tables])


def in_order(table: Table) -> NDArray[np.intp]:
    """Places of the rows by group, strategy and change."""
    return np.lexsort((table[:, Column.CHANGE], table[:, Column.STRATEGY], table[:, Column.GROUP]))


def without_lesser_deaths(table: Table) -> Table:
    """Of the deaths that one group with one strategy could suffer only the worst; all other rows as they are.

    The worst leaves most partitions to one member, then most lag, then hands most on; of equals the first consumer's.
    """
    dies = table[:, Column.CHANGE] >= 0
    deaths = table[dies]
    worst_last = (Column.PARTITIONS_MAX, Column.LAG_MAX, Column.HANDED_ON)
    keys = [deaths[:, Column.CHANGE], *(-deaths[:, column] for column in reversed(worst_last))]
    deaths = deaths[np.lexsort((*keys, deaths[:, Column.STRATEGY], deaths[:, Column.GROUP]))]
    whose = deaths[:, [Column.GROUP, Column.STRATEGY]]
    first = np.ones(len(deaths), dtype=np.bool_)
    first[1:] = (whose[1:] != whose[:-1]).any(axis=1)
    return np.concatenate((table[~dies], deaths[first]))
