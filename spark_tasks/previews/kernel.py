"""What a worker does: of each unit of work, the rows of the table, and with `detail` everybody's shares."""

from collections.abc import Sequence

import numpy as np

from model.consumers.assignors.group import Ints
from spark_tasks.analysis import Arrays
from spark_tasks.previews.changed_group import NOTHING, Change, changed
from spark_tasks.previews.figures import Shares
from spark_tasks.previews.parameters import Parameters, strategies_for
from spark_tasks.previews.pieces import Piece, pieces
from spark_tasks.previews.questions import answers, at_present
from spark_tasks.previews.rows import AT_PRESENT, JOINED, REBALANCED, UNKNOWN, Table, joined, without_lesser_deaths
from spark_tasks.previews.staged_group import StagedGroup

NO_STRATEGY = -1
"""Stands for the present ownership among strategies, in `share_keys`."""


class Batch:
    """Rows and shares as they come. `share_keys` has group, strategy and number of members of each run of shares."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._rows: list[Table] = []
        self._keys: list[tuple[int, int, int]] = []
        self._partitions: list[Ints] = [np.zeros(0, dtype=np.int64)]
        self._lags: list[Ints] = [np.zeros(0, dtype=np.int64)]

    def add(self, heads: Table, figures: Table) -> None:
        """Rows: of each the group, strategy, change and what was handed on; and its figures."""
        self._rows.append(np.concatenate((heads, figures), axis=1))

    def add_shares(self, group: int, strategies: Sequence[int], shared: Shares) -> None:
        """The shares of members, if they are wanted."""
        if self._parameters.detail:
            members = shared.partitions.shape[1]
            self._keys += [(group, strategy, members) for strategy in strategies]
            self._partitions.append(shared.partitions.ravel())
            lag = np.full_like(shared.partitions, UNKNOWN) if shared.lag is None else shared.lag
            self._lags.append(lag.ravel())

    def arrays(self) -> Arrays:
        """All of it."""
        rows = joined(self._rows)
        return {
            "rows": rows if self._parameters.detail else without_lesser_deaths(rows),
            "share_keys": np.array(self._keys, dtype=np.int64).reshape(-1, 3),
            "share_partitions": np.concatenate(self._partitions),
            "share_lag": np.concatenate(self._lags),
        }


def kernel(units: Sequence[int], arrays: Arrays, parameters: Parameters) -> Arrays:
    """What comes of these units."""
    work, batch = pieces(arrays, parameters), Batch(parameters)
    for piece in map(work.piece, units):
        _play(piece, StagedGroup(arrays, piece.group), parameters, batch)
    return batch.arrays()


def _play(piece: Piece, staged: StagedGroup, parameters: Parameters, batch: Batch) -> None:
    everything = strategies_for(parameters, zookeeper=staged.is_zookeeper)
    places = [everything.index(name) for name in piece.strategies]
    for change in piece.changes:
        group = changed(staged, change)
        table, answered, shared = answers(group, piece.strategies)
        heads = [(piece.group, place, _written(change), group.handed_on) for place in places]
        batch.add(np.array(heads, dtype=np.int64), table)
        if change == NOTHING:
            batch.add_shares(piece.group, [places[place] for place in answered], shared)
            if 0 in places:
                present, shared = at_present(group)
                batch.add(np.array([(piece.group, 0, AT_PRESENT, 0)], dtype=np.int64), present)
                batch.add_shares(piece.group, [NO_STRATEGY], shared)


def _written(change: Change) -> int:
    if change == NOTHING:
        return REBALANCED
    return JOINED if change.joins else change.leaves
