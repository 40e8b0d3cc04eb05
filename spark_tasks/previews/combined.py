"""From the rows of all batches to the result."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from spark_tasks.analysis import Arrays
from spark_tasks.previews.kernel import NO_STRATEGY
from spark_tasks.previews.parameters import Parameters, strategies_for
from spark_tasks.previews.result import Figures, GroupPreview, Leave, Result, Share, StrategyPreview
from spark_tasks.previews.rows import (
    AT_PRESENT,
    JOINED,
    REBALANCED,
    UNKNOWN,
    Column,
    in_order,
    joined,
    without_lesser_deaths,
)

Row = Sequence[int]
ShareKey = tuple[int, int]


def combined(batches: Sequence[Arrays], arrays: Arrays, parameters: Parameters) -> Result:
    """The result of all batches, in whatever order they come."""
    rows = joined([batch["rows"].astype(np.int64, copy=False) for batch in batches])
    worst = without_lesser_deaths(rows)
    deaths: dict[ShareKey, list[Row]] = {}
    for row in rows[in_order(rows)].tolist() if parameters.detail else ():
        if row[Column.CHANGE] >= 0:
            deaths.setdefault((row[Column.GROUP], row[Column.STRATEGY]), []).append(row)
    told = _Told(parameters, arrays, deaths, dict(_shares(batches)))
    in_groups = groupby(worst[in_order(worst)].tolist(), key=lambda row: row[Column.GROUP])
    return Result(tuple(told.group(number, list(group)) for number, group in in_groups))


class _Told:
    """Puts rows into words."""

    def __init__(
        self,
        parameters: Parameters,
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
