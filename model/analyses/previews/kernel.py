"""How the work of previews is cut, what a worker does with a piece, and the result from the rows of all batches.

A group is one unit, unless it is so large that cores would wait for it: then it is cut by strategy, and within a
strategy by changes (as it is, who joins, who dies). Units are numbered group by group, so that every worker knows what
a number means without being told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from model.analyses.analysis import Arrays, Unit
from model.analyses.previews.changed_group import NOTHING, GroupChange, StagedGroup, changed
from model.analyses.previews.figures import (
    AT_PRESENT,
    JOINED,
    REBALANCED,
    UNKNOWN,
    Column,
    Shares,
    Table,
    answers,
    at_present,
    in_order,
    joined,
    without_lesser_deaths,
)
from model.analyses.previews.result import (
    Figures,
    GroupPreview,
    Leave,
    PreviewParameters,
    PreviewResult,
    Share,
    StrategyPreview,
    strategies_for,
)
from model.consumers.assignors.group import Ints

MOST_SHARES = 64
"""No unit costs more than one part in so many, if it can be helped: so that 16 tasks end together."""

LEAST_PIECE = 100_000
"""Cutting smaller pieces costs more than it evens out: what strategies have in common is then done for each."""

PARTITIONS_EACH = 4_000
"""What a strategy and a change cost beside the partitions, in partitions: about 0.1 ms."""


class Piece(NamedTuple):
    """What a unit stands for."""

    group: int
    strategies: Sequence[str]
    changes: Sequence[GroupChange]


@dataclass(frozen=True)
class Pieces:
    """The whole work. A group has `strategies` times `changes` questions, cut into runs of changes of one."""

    parameters: PreviewParameters
    zookeeper: Ints  # [G]
    consumers: Ints  # [G]
    questions: Ints  # [G, 2] strategies, changes
    cost: Ints  # [G] of one question
    run: Ints  # [G] changes in a piece; 0: the group is in one piece
    starts: Ints  # [G + 1] first unit of each group

    def units(self) -> list[Unit]:
        """Each piece with its cost, in partitions."""
        strategies, changes = self.questions.T
        each = np.where(self.run, np.minimum(self.run, changes), strategies * changes) * self.cost
        groups = np.repeat(np.arange(len(self.run)), np.diff(self.starts))
        return [Unit(number, cost) for number, cost in enumerate(each[groups].tolist())]

    def piece(self, unit: int) -> Piece:
        group = int(np.searchsorted(self.starts, unit, side="right")) - 1
        strategies = strategies_for(self.parameters, zookeeper=bool(self.zookeeper[group]))
        changes = changes_for(self.parameters, int(self.consumers[group]))
        run = int(self.run[group])
        if run:
            strategy, part = divmod(unit - int(self.starts[group]), -(-len(changes) // run))
            strategies, changes = strategies[strategy : strategy + 1], changes[part * run : (part + 1) * run]
        return Piece(group, strategies, changes)


def changes_for(parameters: PreviewParameters, consumers: int) -> list[GroupChange]:
    """Everything that is to happen to a group of so many consumers, each time from how it is now."""
    joins = [GroupChange(joins=parameters.join)] if parameters.join else []
    leaves = [GroupChange(leaves=consumer) for consumer in range(consumers if parameters.each_leaves else 0)]
    return [NOTHING, *joins, *leaves]


def pieces(arrays: Arrays, parameters: PreviewParameters) -> Pieces:
    """Cuts the work."""
    zookeeper, consumers = arrays["zookeeper"].astype(np.intp), arrays["consumers"].astype(np.int64)
    kinds = [len(strategies_for(parameters, zookeeper=kind)) for kind in (False, True)]
    strategies = np.array(kinds, dtype=np.int64)[zookeeper]
    changes = 1 + bool(parameters.join) + (consumers if parameters.each_leaves else 0 * consumers)
    cost = np.diff(arrays["partition_starts"]) + PARTITIONS_EACH
    whole = strategies * changes * cost
    most = max(int(whole.sum()) // MOST_SHARES, LEAST_PIECE)
    run = np.where(whole > most, np.maximum(most // cost, 1), 0)
    parts = np.where(run, strategies * -(-changes // np.maximum(run, 1)), 1)
    starts = np.concatenate(([0], np.cumsum(parts)))
    return Pieces(parameters, zookeeper, consumers, np.stack((strategies, changes), axis=1), cost, run, starts)


NO_STRATEGY = -1
"""Stands for the present ownership among strategies, in `share_keys`."""


class Batch:
    """Rows and shares as they come. `share_keys` has group, strategy and number of members of each run of shares."""

    def __init__(self, parameters: PreviewParameters) -> None:
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
        rows = joined(self._rows)
        return {
            "rows": rows if self._parameters.detail else without_lesser_deaths(rows),
            "share_keys": np.array(self._keys, dtype=np.int64).reshape(-1, 3),
            "share_partitions": np.concatenate(self._partitions),
            "share_lag": np.concatenate(self._lags),
        }


def kernel(units: Sequence[int], arrays: Arrays, parameters: PreviewParameters) -> Arrays:
    """What comes of these units."""
    work, batch = pieces(arrays, parameters), Batch(parameters)
    for piece in map(work.piece, units):
        _play(piece, StagedGroup(arrays, piece.group), parameters, batch)
    return batch.arrays()


def _play(piece: Piece, staged: StagedGroup, parameters: PreviewParameters, batch: Batch) -> None:
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


def _written(change: GroupChange) -> int:
    if change == NOTHING:
        return REBALANCED
    return JOINED if change.joins else change.leaves


Row = Sequence[int]
ShareKey = tuple[int, int]


def combined(batches: Sequence[Arrays], arrays: Arrays, parameters: PreviewParameters) -> PreviewResult:
    """The result of all batches, in whatever order they come."""
    rows = joined([batch["rows"].astype(np.int64, copy=False) for batch in batches])
    worst = without_lesser_deaths(rows)
    deaths: dict[ShareKey, list[Row]] = {}
    for row in rows[in_order(rows)].tolist() if parameters.detail else ():
        if row[Column.CHANGE] >= 0:
            deaths.setdefault((row[Column.GROUP], row[Column.STRATEGY]), []).append(row)
    told = _InWords(parameters, arrays, deaths, dict(_shares(batches)))
    in_groups = groupby(worst[in_order(worst)].tolist(), key=lambda row: row[Column.GROUP])
    return PreviewResult(tuple(told.group(number, list(group)) for number, group in in_groups))


class _InWords:
    """Puts rows into words."""

    def __init__(
        self,
        parameters: PreviewParameters,
        arrays: Arrays,
        deaths: Mapping[ShareKey, Sequence[Row]],
        shares: Mapping[ShareKey, tuple[Share, ...]],
    ) -> None:
        self._zookeeper: list[int] = arrays["zookeeper"].tolist()
        self._names = [strategies_for(parameters, zookeeper=kind) for kind in (False, True)]
        self._deaths, self._shares = deaths, shares

    def group(self, number: int, rows: Sequence[Row]) -> GroupPreview:
        names = self._names[self._zookeeper[number]]
        now, *rest = rows  # AT_PRESENT comes before all else
        assert now[Column.CHANGE] == AT_PRESENT
        return GroupPreview(
            group=number,
            now=_figures(now),
            strategies=tuple(
                self._strategy((number, place), names[place], {row[Column.CHANGE]: row for row in of})
                for place, of in groupby(rest, key=lambda row: row[Column.STRATEGY])
            ),
            shares=self._shares.get((number, NO_STRATEGY), ()),
        )

    def _strategy(self, key: ShareKey, name: str, by_change: dict[int, Row]) -> StrategyPreview:
        rebalanced = by_change.pop(REBALANCED)
        if rebalanced[Column.MEMBERS] == UNKNOWN:
            return StrategyPreview(name, None)
        joined = by_change.pop(JOINED, None)
        return StrategyPreview(
            name,
            _figures(rebalanced),
            None if joined is None else _figures(joined),
            next(map(_leave, by_change.values()), None),
            tuple(map(_leave, self._deaths.get(key, ()))),
            self._shares.get(key, ()),
        )


def _figures(row: Row) -> Figures:
    return figures_of(row[Column.MEMBERS :])


def figures_of(numbers: Sequence[int]) -> Figures:
    """A row's numbers from `MEMBERS` on."""
    members, idle, least, most, lag_min, lag_max, *rest = numbers
    if lag_max == UNKNOWN:
        return Figures(members, idle, least, most, None, None, *rest)
    return Figures(members, idle, least, most, lag_min, lag_max, *rest)


def _leave(row: Row) -> Leave:
    return Leave(row[Column.CHANGE], _figures(row), row[Column.HANDED_ON])


def _shares(batches: Sequence[Arrays]) -> Iterator[tuple[ShareKey, tuple[Share, ...]]]:
    for batch in batches:
        partitions, lags, begin = batch["share_partitions"].tolist(), batch["share_lag"].tolist(), 0
        for group, strategy, members in batch["share_keys"].tolist():
            run = slice(begin, begin + members)
            yield (
                (group, strategy),
                tuple(
                    Share(count, None if lag == UNKNOWN else lag)
                    for count, lag in zip(partitions[run], lags[run], strict=True)
                ),
            )
            begin += members


class RebalancePreviews:
    """See `model.analyses.analysis.Analysis`."""

    name = "previews"
    parameters_type = PreviewParameters
    result_type = PreviewResult

    def units(self, arrays: Arrays, parameters: PreviewParameters) -> Sequence[Unit]:
        """Groups, the large ones in pieces."""
        return pieces(arrays, parameters).units()

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: PreviewParameters) -> Arrays:
        return kernel(units, arrays, parameters)

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: PreviewParameters) -> PreviewResult:
        """All groups, as they were staged."""
        return combined(batches, arrays, parameters)


PREVIEWS = RebalancePreviews()
