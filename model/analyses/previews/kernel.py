"""How the work of previews is cut, what a worker does with a piece, and the result from the rows of all batches.

A group is one unit, unless it is so large that cores would wait for it: then it is cut by strategy, and within a
strategy by changes (as it is, who joins, who dies). Units are numbered group by group, so that every worker knows what
a number means without being told.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, cast

import msgspec
import numpy as np

from model.analyses.analysis import Arrays, Unit, Wave, stretches
from model.analyses.previews.alike_groups import (
    DEALS,
    AlikeShares,
    StagedArrays,
    all_dealt,
    are_alike,
    at_present_alike,
    cases_of,
    inhabited,
)
from model.analyses.previews.changed_group import NOTHING, STAYS, GroupChange, StagedGroup, changed
from model.analyses.previews.figures import (
    AT_PRESENT,
    JOINED,
    REBALANCED,
    UNKNOWN,
    FigureColumn,
    MemberShares,
    Table,
    answers,
    at_present,
    in_order,
    joined,
    without_lesser_deaths,
)
from model.analyses.previews.result import (
    AssignmentFigures,
    GroupPreview,
    Leave,
    MemberShare,
    PreviewParameters,
    PreviewResult,
    StrategyPreview,
    strategies_for,
)
from model.consumers.assignors.group import Ints

MOST_SHARES = 64
"""No unit costs more than one part in so many, if it can be helped: so that 16 tasks end together."""

LEAST_PIECE = 100_000
"""Cutting smaller pieces costs more than it evens out: what strategies have in common is then done for each."""

PARTITIONS_EACH, PARTITIONS_EACH_ALIKE = 8_000, 100
"""What a strategy and a change cost beside the partitions, in partitions: 0.2 ms, and 3 µs where groups that are alike
are worked out together."""


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
        """Each piece of the groups that are asked for, with its cost in partitions."""
        strategies, changes = self.questions.T
        each = np.where(self.run, np.minimum(self.run, changes), strategies * changes) * self.cost
        some = slice(self.parameters.first, self.parameters.end)
        groups = np.repeat(np.arange(len(self.run))[some], np.diff(self.starts)[some])
        return [Unit(number, cost) for number, cost in enumerate(each[groups].tolist(), int(self.starts[some.start]))]

    @property
    def costs(self) -> Sequence[float]:
        """Of each group, in partitions."""
        return (self.questions.prod(axis=1) * self.cost).tolist()

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
    cost = np.diff(arrays["partition_starts"]) + np.where(
        are_alike(cast(StagedArrays, arrays)), PARTITIONS_EACH_ALIKE, PARTITIONS_EACH
    )
    whole = strategies * changes * cost
    most = max(int(whole.sum()) // MOST_SHARES, LEAST_PIECE)
    run = np.where(whole > most, np.maximum(most // cost, 1), 0)
    parts = np.where(run, strategies * -(-changes // np.maximum(run, 1)), 1)
    starts = np.concatenate(([0], np.cumsum(parts)))
    return Pieces(parameters, zookeeper, consumers, np.stack((strategies, changes), axis=1), cost, run, starts)


NO_STRATEGY = -1
"""Stands for the present ownership among strategies, in `share_keys`."""


class PreviewBatch:
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

    def add_shares(self, keys: Iterable[tuple[int, int, int]], partitions: Ints, lag: Ints | None) -> None:
        """The shares of members, one run after the other, if they are wanted; no `lag`: none is known."""
        if self._parameters.detail:
            self._keys += keys
            self._partitions.append(partitions.ravel())
            self._lags.append(np.full(partitions.size, UNKNOWN) if lag is None else lag.ravel())

    def arrays(self) -> Arrays:
        rows = joined(self._rows)
        return {
            "rows": rows if self._parameters.detail else without_lesser_deaths(rows),
            "share_keys": np.array(self._keys, dtype=np.int64).reshape(-1, 3),
            "share_partitions": np.concatenate(self._partitions),
            "share_lag": np.concatenate(self._lags),
        }


def kernel(units: Sequence[int], arrays: Arrays, parameters: PreviewParameters) -> Arrays:
    """What comes of these units. Small groups that are alike are worked out together, all others one by one."""
    work, batch = pieces(arrays, parameters), PreviewBatch(parameters)
    staged = cast(StagedArrays, arrays)
    sizes = np.diff(staged["partition_starts"]) + np.diff(staged["member_starts"])
    alike, last = are_alike(staged) & (sizes <= MOST_TOGETHER), inhabited(staged) <= 1
    together: dict[Strategies, list[AlikeCase]] = {}
    for piece in map(work.piece, units):
        changes = piece.changes
        if alike[piece.group] and DEALS.keys() >= set(piece.strategies):
            changes = [change for change in changes if change.leaves != STAYS and last[piece.group]]
            cases = together.setdefault(tuple(piece.strategies), [])
            cases += [(piece.group, change) for change in piece.changes if change not in changes]
        if changes:
            _play(piece._replace(changes=changes), StagedGroup(arrays, piece.group), parameters, batch)
    for strategies, cases in together.items():
        for some in _some_at_a_time(cases, sizes):
            _play_together(some, strategies, staged, parameters, batch)
    return batch.arrays()


Strategies = tuple[str, ...]
AlikeCase = tuple[int, GroupChange]
MOST_TOGETHER = 1 << 16
"""Partitions and members that are worked out at a time: some megabytes, whatever is asked."""


def _some_at_a_time(cases: Sequence[AlikeCase], sizes: Ints) -> Iterator[Sequence[AlikeCase]]:
    ends = np.cumsum(sizes[[group for group, _ in cases]])
    begin = 0
    while begin < len(cases):
        done = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, done + MOST_TOGETHER, side="right")), begin + 1)
        yield cases[begin:end]
        begin = end


def _play_together(
    some: Sequence[AlikeCase],
    strategies: Strategies,
    arrays: StagedArrays,
    parameters: PreviewParameters,
    batch: PreviewBatch,
) -> None:
    groups, changes = np.array([group for group, _ in some], dtype=np.int64), [change for _, change in some]
    everything = strategies_for(parameters, zookeeper=bool(arrays["zookeeper"][groups[0]]))
    places = [everything.index(name) for name in strategies]
    cases = cases_of(arrays, groups, changes)
    written = np.array(list(map(_written, changes)))
    heads = np.stack((groups, 0 * groups, written, cases.handed_on), axis=1).astype(np.int64)
    as_it_is = written == REBALANCED
    members = as_it_is[cases.case_of_member]

    def add(place: int, dealt: AlikeShares) -> None:
        keys = [(group, place, count) for group, count in zip(groups[as_it_is], cases.members[as_it_is], strict=True)]
        batch.add_shares(keys, dealt.partitions[members], dealt.lag[members])

    for place, dealt in zip(places, all_dealt(cases, arrays, strategies), strict=True):
        heads[:, FigureColumn.STRATEGY] = place
        batch.add(heads, dealt.figures)
        add(place, dealt)
    if 0 in places:
        present = at_present_alike(cases)
        heads[:, FigureColumn.STRATEGY : FigureColumn.MEMBERS] = (0, AT_PRESENT, 0)
        batch.add(heads[as_it_is], present.figures[as_it_is])
        add(NO_STRATEGY, present)


def _play(piece: Piece, staged: StagedGroup, parameters: PreviewParameters, batch: PreviewBatch) -> None:
    everything = strategies_for(parameters, zookeeper=staged.is_zookeeper)
    places = [everything.index(name) for name in piece.strategies]

    def add(strategies: Sequence[int], shared: MemberShares) -> None:
        keys = [(piece.group, strategy, shared.partitions.shape[1]) for strategy in strategies]
        batch.add_shares(keys, shared.partitions, shared.lag)

    for change in piece.changes:
        group = changed(staged, change)
        table, answered, shared = answers(group, piece.strategies)
        heads = [(piece.group, place, _written(change), group.handed_on) for place in places]
        batch.add(np.array(heads, dtype=np.int64), table)
        if change == NOTHING:
            add([places[place] for place in answered], shared)
            if 0 in places:
                present, shared = at_present(group)
                batch.add(np.array([(piece.group, 0, AT_PRESENT, 0)], dtype=np.int64), present)
                add([NO_STRATEGY], shared)


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
        if row[FigureColumn.CHANGE] >= 0:
            deaths.setdefault((row[FigureColumn.GROUP], row[FigureColumn.STRATEGY]), []).append(row)
    told = _InWords(parameters, arrays, deaths, dict(_shares(batches)))
    in_groups = groupby(worst[in_order(worst)].tolist(), key=lambda row: row[FigureColumn.GROUP])
    return PreviewResult(tuple(told.group(number, list(group)) for number, group in in_groups))


class _InWords:
    """Puts rows into words."""

    def __init__(
        self,
        parameters: PreviewParameters,
        arrays: Arrays,
        deaths: Mapping[ShareKey, Sequence[Row]],
        shares: Mapping[ShareKey, tuple[MemberShare, ...]],
    ) -> None:
        self._zookeeper: list[int] = arrays["zookeeper"].tolist()
        self._names = [strategies_for(parameters, zookeeper=kind) for kind in (False, True)]
        self._deaths, self._shares = deaths, shares

    def group(self, number: int, rows: Sequence[Row]) -> GroupPreview:
        names = self._names[self._zookeeper[number]]
        now, *rest = rows  # AT_PRESENT comes before all else
        assert now[FigureColumn.CHANGE] == AT_PRESENT
        return GroupPreview(
            group=number,
            now=_figures(now),
            strategies=tuple(
                self._strategy((number, place), names[place], {row[FigureColumn.CHANGE]: row for row in of})
                for place, of in groupby(rest, key=lambda row: row[FigureColumn.STRATEGY])
            ),
            shares=self._shares.get((number, NO_STRATEGY), ()),
        )

    def _strategy(self, key: ShareKey, name: str, by_change: dict[int, Row]) -> StrategyPreview:
        rebalanced = by_change.pop(REBALANCED)
        if rebalanced[FigureColumn.MEMBERS] == UNKNOWN:
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


def _figures(row: Row) -> AssignmentFigures:
    return figures_of(row[FigureColumn.MEMBERS :])


def figures_of(numbers: Sequence[int]) -> AssignmentFigures:
    """A row's numbers from `MEMBERS` on."""
    members, idle, least, most, lag_min, lag_max, *rest = numbers
    if lag_max == UNKNOWN:
        return AssignmentFigures(members, idle, least, most, None, None, *rest)
    return AssignmentFigures(members, idle, least, most, lag_min, lag_max, *rest)


def _leave(row: Row) -> Leave:
    return Leave(row[FigureColumn.CHANGE], _figures(row), row[FigureColumn.HANDED_ON])


def _shares(batches: Sequence[Arrays]) -> Iterator[tuple[ShareKey, tuple[MemberShare, ...]]]:
    for batch in batches:
        partitions, lags, begin = batch["share_partitions"].tolist(), batch["share_lag"].tolist(), 0
        for group, strategy, members in batch["share_keys"].tolist():
            run = slice(begin, begin + members)
            yield (
                (group, strategy),
                tuple(
                    MemberShare(count, None if lag == UNKNOWN else lag)
                    for count, lag in zip(partitions[run], lags[run], strict=True)
                ),
            )
            begin += members


class RebalancePreviews:
    """See `model.analyses.analysis.Analysis`."""

    name = "previews"
    piece_s = 0.1
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
FIRST_PARTITIONS = 5_000_000.0
"""What the first wave costs: somebody waits for it."""


def waves(arrays: Arrays, parameters: PreviewParameters, most: Callable[[], float]) -> Iterator[Wave]:
    """Whole groups, as many as cost `most()`."""
    for some, cost, left in stretches(pieces(arrays, parameters).costs, most):
        yield Wave(msgspec.structs.replace(parameters, first=some.start, end=some.stop), cost, left)
