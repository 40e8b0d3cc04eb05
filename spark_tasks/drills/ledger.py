"""Sums of all parts of the work as one, and the counts of any scenario of a grid read off them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spark_tasks.analysis import Arrays
from spark_tasks.drills.fates import METRICS
from spark_tasks.drills.grid import NOBODY, Grid
from spark_tasks.drills.majority import Majority
from spark_tasks.drills.numbering import Column, Numbers, flags, integers
from spark_tasks.drills.sums import Sums, merge

MOST_WORK = 1 << 30
"""So many additions are done to find the most loaded broker of every scenario: every pair of 1,000 brokers."""


class Ledger:
    """What `sums` found, added up."""

    def __init__(self, batches: Sequence[Arrays], grid: Grid) -> None:
        self.grid = grid
        self.before: Numbers = _sum(batches, "before")
        self.majority = Majority(grid.arrays)
        self.leaders_before: Numbers = _sum(batches, "leaders_before")
        self._rest: Numbers = _sum(batches, "rest")
        self._leaders: Numbers = _sum(batches, "leaders")
        height, width = grid.first.count, grid.width
        brokers = len(self._leaders)
        self._first, self._first_gains = _table(batches, "first", height), _gains(batches, "first", height * brokers)
        self._pairs = _by_vector(batches, "pair", height * width)
        self._pair_gains = _gains(batches, "pair", height * width * brokers)
        if grid.second is grid.first:
            self._second, self._second_gains = self._first, self._first_gains
        else:
            self._second, self._second_gains = (
                _table(batches, "second", width),
                _gains(batches, "second", width * brokers),
            )

    def counts(self, start: int, end: int) -> Numbers:
        """int64[METRICS, end - start, width] of the scenarios of these rows of the grid."""
        lived = self._parts(start, end, range(METRICS))
        has_ruler = self.grid.with_ruler(start, end)
        if has_ruler.any() and self._ruler_counts:
            lived += np.where(has_ruler, self._parts(start, end, range(METRICS, 2 * METRICS)), 0)
        if not self.majority.may_be_lost:
            return lived
        dead = self._dying(start, end)
        return np.where(self.majority.lost(dead), self.majority.counts(self.before, dead), lived)

    def lost(self, start: int, end: int) -> Column:
        """bool[end - start, width]: scenarios in which a KRaft quorum loses its majority."""
        if not self.majority.may_be_lost:
            return np.zeros((end - start, self.grid.width), np.bool_)
        return self.majority.lost(self._dying(start, end))

    def _dying(self, start: int, end: int) -> Numbers:
        """int64[4, end - start, width]: what there is by broker, summed over those who die."""
        first, second = self.grid.first, self.grid.second
        dead = np.zeros((4, end - start, self.grid.width), np.int64)
        dead += self.majority.by_group(first.of[:-1], first.count)[:, start:end, None]
        if second is not None:
            dead += self.majority.by_group(second.of[:-1], second.count)[:, None, :]
        return dead

    def leaders(self, row: int, column: int) -> Numbers:
        """Leaders by broker in one scenario; -1: the broker does not live."""
        brokers = len(self._leaders)
        if self.majority.may_be_lost and bool(self.lost(row, row + 1)[0, column]):
            kept = self.leaders_before.copy()
            kept[self._dead] = NOBODY
            kept[self.grid.killed(row, column)] = NOBODY
            return kept
        after = self._leaders.copy()
        scenario = row * self.grid.width + column
        parts = [(self._first_gains, row)]
        if self.grid.second is not None:
            parts += [(self._second_gains, column), (self._pair_gains, scenario)]
        for (keys, counts), place in parts:
            some = slice(*np.searchsorted(keys, [place * brokers, (place + 1) * brokers]).tolist())
            after[keys[some] - place * brokers] += counts[some]
        after[self._dead] = NOBODY
        after[self.grid.killed(row, column)] = NOBODY
        return after

    def most_leaders(self, start: int, end: int) -> Column:
        """int64[end - start, width]: leaders of the broker that has the most; -1 everywhere if it takes too long."""
        brokers, width = len(self._leaders), self.grid.width
        most = np.full((end - start, width), NOBODY, np.int64)
        if self.grid.first.count * width * brokers > MOST_WORK:
            return most
        base = self._leaders.astype(np.int32)
        base[self._dead] = -(1 << 30)
        firsts = _dense(self._first_gains, self.grid.first.count, brokers)
        seconds = np.zeros((1, brokers), np.int32)
        column, broker = np.empty(0, np.int64), np.empty(0, np.int64)
        if self.grid.second is not None:
            seconds = _dense(self._second_gains, width, brokers)
            broker = np.flatnonzero(self.grid.second.of[:-1] >= 0)
            column = self.grid.second.of[broker]
        room = np.empty((width, brokers), np.int32)
        for row in range(start, end):
            here = base + firsts[row]
            here[self.grid.first.of[:-1] == row] = -(1 << 30)
            least = row + 1 if self.grid.kind == "pairs" else 0
            after = np.add(seconds[least:], here, out=room[: width - least])
            keys, counts = self._pair_gains
            low = (row * width + least) * brokers
            some = slice(*np.searchsorted(keys, [low, (row + 1) * width * brokers]).tolist())
            after.ravel()[keys[some] - low] += counts[some].astype(np.int32)
            later = column >= least
            after[column[later] - least, broker[later]] = NOBODY
            most[row - start, least:] = after.max(axis=1, initial=NOBODY)
        return self._most_kept(most, start, end) if self.majority.may_be_lost else most

    def _most_kept(self, most: Numbers, start: int, end: int) -> Numbers:
        """Where the majority is lost, whoever lives leads what it led: broker by broker, the busiest first."""
        open_, (first, second) = self.lost(start, end), (self.grid.first, self.grid.second)
        rows, columns = np.arange(start, end)[:, None], np.arange(self.grid.width)[None, :]
        for broker in np.argsort(-self.leaders_before, kind="stable").tolist():
            if not open_.any():
                break
            if not self._dead[broker]:
                dies = first.of[broker] == rows
                if second is not None:
                    dies = dies | (second.of[broker] == columns)
                here = open_ & ~dies
                most = np.where(here, self.leaders_before[broker], most)
                open_ = open_ & ~here
        return most

    @property
    def _dead(self) -> Column:
        return ~flags(self.grid.arrays, "live")

    @property
    def _ruler_counts(self) -> bool:
        tables = (self._rest[METRICS:], self._first[:, METRICS:], self._second[:, METRICS:])
        return any(table.any() for table in tables) or any(any(vector[METRICS:]) for vector in self._pairs)

    def _parts(self, start: int, end: int, metrics: range) -> Numbers:
        width = self.grid.width
        total = np.empty((len(metrics), end - start, width), np.int64)
        for place, metric in enumerate(metrics):
            first = self._first[start:end, metric] + self._rest[metric]
            total[place] = first[:, None]
            if self.grid.second is not None:
                total[place] += self._second[:, metric][None, :]
        for vector, (keys, counts) in self._pairs.items():
            if any(vector[metrics.start : metrics.stop]):
                some = slice(*np.searchsorted(keys, [start * width, end * width]).tolist())
                for place, metric in enumerate(metrics):
                    if vector[metric]:
                        total[place].ravel()[keys[some] - start * width] += counts[some] * vector[metric]
        return total


def _sum(batches: Sequence[Arrays], name: str) -> Numbers:
    return np.sum([integers(batch, name) for batch in batches], axis=0)


def _by_vector(batches: Sequence[Arrays], name: str, span: int) -> dict[tuple[int, ...], Sums]:
    parts: dict[tuple[int, ...], list[Sums]] = {}
    for batch in batches:
        vectors: list[list[int]] = batch[f"{name}_vectors"].tolist()
        starts = np.searchsorted(batch[f"{name}_which"], np.arange(len(vectors) + 1)).tolist()
        for place, vector in enumerate(vectors):
            some = slice(starts[place], starts[place + 1])
            parts.setdefault(tuple(vector), []).append(
                (integers(batch, f"{name}_key")[some], integers(batch, f"{name}_count")[some])
            )
    return {vector: merge(sums, span) for vector, sums in parts.items()}


def _table(batches: Sequence[Arrays], name: str, span: int) -> Numbers:
    """int64[span, 2 * METRICS]"""
    table = np.zeros((span, 2 * METRICS), np.int64)
    for vector, (keys, counts) in _by_vector(batches, name, span).items():
        table[keys] += counts[:, None] * np.array(vector)
    return table


def _gains(batches: Sequence[Arrays], name: str, span: int) -> Sums:
    return merge(
        [(integers(batch, f"{name}_gain_key"), integers(batch, f"{name}_gain_count")) for batch in batches], span
    )


def _dense(gains: Sums, height: int, brokers: int) -> NDArray[np.int32]:
    table = np.zeros(height * brokers, np.int32)
    table[gains[0]] = gains[1]
    return table.reshape(height, brokers)
