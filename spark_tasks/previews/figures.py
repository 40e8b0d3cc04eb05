"""How assignments share partitions and lag out, and what they move: of several strategies at once, for where groups are
small numpy's calls cost more than its work.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.consumers.assignors.assignment import Assignment
from model.consumers.assignors.group import NOBODY, Group, Ints
from spark_tasks.previews.rows import UNKNOWN, Column, Table

FIGURES = len(Column) - Column.MEMBERS


class Shares(NamedTuple):
    """What each member gets under each of several assignments."""

    partitions: Ints  # [N, C]
    lag: Ints | None  # [N, C] records; None where that of no partition is known
    unowned: Ints  # [N] partitions that nobody gets


def shares(owners: Ints, members: int, lag: Ints) -> Shares:
    """Counts up what the members own. `owners` [N, P] is NOBODY where a partition has none; unknown lag counts as 0."""
    width = members + 1
    places = (owners + (1 + width * np.arange(len(owners))[:, None])).ravel()
    counts = np.bincount(places, minlength=width * len(owners)).reshape(-1, width)
    known = lag != UNKNOWN
    summed = None
    if known.any():
        weights = np.tile(np.where(known, lag, 0), len(owners))
        summed = np.bincount(places, weights, width * len(owners)).reshape(-1, width)[:, 1:].astype(np.int64)
    return Shares(counts[:, 1:], summed, counts[:, 0])


def figures(shared: Shares) -> Table:
    """int64[N, FIGURES] in the order of `Column`, of how even it is; moves are 0."""
    table = np.zeros((len(shared.partitions), FIGURES), dtype=np.int64)
    partitions, lag = shared.partitions, shared.lag
    table[:, 0] = partitions.shape[1]
    table[:, 4:6] = UNKNOWN
    if partitions.shape[1]:
        table[:, 1] = np.count_nonzero(partitions == 0, axis=1)
        table[:, 2], table[:, 3] = partitions.min(axis=1), partitions.max(axis=1)
        if lag is not None:
            table[:, 4], table[:, 5] = lag.min(axis=1), lag.max(axis=1)
    table[:, 9] = shared.unowned
    return table


def moves(assignments: Sequence[Assignment], targets: Ints, shared: Shares, group: Group) -> Table:
    """int64[N, 3]: moves, the fewest that this balance takes, and how many partitions wait for a second round.

    As `Assignment` has them, all at once; `targets` [N, P] are its own.
    """
    before = assignments[0].before.owner
    table = np.empty((len(assignments), 3), dtype=np.int64)
    table[:, 0] = np.count_nonzero((before != NOBODY) & (before != targets), axis=1)
    if group.subscribed.all():
        had, has = np.sort(group.claims.counts), np.sort(shared.partitions, axis=1)
        table[:, 1] = np.maximum(had - has, 0).sum(axis=1)
    else:
        table[:, 1] = [each.moves_lower_bound(group) for each in assignments]
    table[:, 2] = [len(each.withheld) for each in assignments]
    return table
