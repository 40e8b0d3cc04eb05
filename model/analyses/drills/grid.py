"""Which scenarios there are when groups of brokers die, and the counts of each, read off the sums of all parts.

Scenarios are a table of one group by another, or of one column. Those that take a KRaft quorum its majority elect
nobody, whatever else the rules say: what the dead led has no leader then, and all else stays as the metadata has it
(see `model.drills.voters`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays
from model.analyses.drills.fates import METRICS, Column, Numbers, flags, integers
from model.analyses.drills.results import NAMES, Kind, ScenarioCounts
from model.analyses.drills.sums import Groups, Sums, merge

NOBODY = -1


@dataclass(frozen=True, eq=False)
class PairGrid:
    """Rows are groups that die, and so are columns; without any there is one column where nobody else dies."""

    arrays: Arrays
    kind: Kind

    @cached_property
    def first(self) -> Groups:
        return _by_rack(self.arrays) if self.kind == "racks" else _by_broker(self.arrays)

    @cached_property
    def second(self) -> Groups | None:
        match self.kind:
            case "pairs":
                return self.first
            case "brokers-and-racks":
                return _by_rack(self.arrays)
            case _:
                return None

    @property
    def width(self) -> int:
        return self.second.count if self.second else 1

    def allowed(self, start: int, end: int) -> Column:
        """bool[end - start, width]: scenarios of these rows. Each is there once, and somebody outlives it."""
        rows, columns = np.arange(start, end), np.arange(self.width)
        live = int(np.count_nonzero(self.arrays["live"]))
        size = self._sizes(self.first)[rows][:, None]
        allowed = np.broadcast_to((size > 0) & (size < live), (len(rows), self.width)).copy()
        if self.second is not None:
            others = self._sizes(self.second)[None, :]
            allowed &= (others > 0) & (size + others < live)
        if self.kind == "pairs":
            allowed &= columns[None, :] > rows[:, None]
        elif self.second is not None:
            allowed &= self.second.of[rows][:, None] != columns[None, :]
        return allowed

    def with_ruler(self, start: int, end: int) -> Column:
        """bool[end - start, width]: scenarios in which the controller dies."""
        ruler = int(self.arrays["controller"][0])
        dies = np.zeros((end - start, self.width), np.bool_)
        if ruler != NOBODY:
            dies |= (np.arange(start, end) == self.first.of[ruler])[:, None]
            if self.second is not None:
                dies |= (np.arange(self.width) == self.second.of[ruler])[None, :]
        return dies

    def killed(self, row: int, column: int) -> Numbers:
        """The brokers that die in a scenario."""
        dies = self.first.of[:-1] == row
        if self.second is not None:
            dies |= self.second.of[:-1] == column
        return np.flatnonzero(dies)

    def rack(self, row: int, column: int) -> int:
        """The rack that dies as a whole; -1: none."""
        return row if self.kind == "racks" else column if self.kind == "brokers-and-racks" else NOBODY

    def _sizes(self, groups: Groups) -> Numbers:
        members = groups.of[:-1]
        return np.bincount(members[members >= 0], minlength=groups.count)


def _by_broker(arrays: Arrays) -> Groups:
    live = arrays["live"]
    return Groups(np.append(np.where(live, np.arange(len(live)), NOBODY), NOBODY), len(live))


def _by_rack(arrays: Arrays) -> Groups:
    racks = np.where(arrays["live"], arrays["rack"], NOBODY).astype(np.int64)
    return Groups(np.append(racks, NOBODY), int(racks.max(initial=NOBODY)) + 1)


VOTES, LED, STATED, SHORT = range(4)
"""Rows of what there is by broker: whether it votes; the partitions it leads; of these those that are assigned and have
a state, and those under min ISR."""
_ROW = {name: row for row, name in enumerate(NAMES)}


class Majority:
    """Of one cluster. Without a quorum, or with voters enough, no scenario is lost."""

    def __init__(self, arrays: Arrays) -> None:
        self._spare = int(arrays["spare"][0])
        self.may_be_lost = self._spare < int(arrays["voter"].sum())
        self._arrays = arrays

    @cached_property
    def by_broker(self) -> Numbers:
        """int64[4, B]; it takes a look at every partition."""
        return _votes_by_broker(self._arrays)

    def by_group(self, of: Numbers, count: int) -> Numbers:
        """int64[4, count]: the same of groups; `of` is each broker's group, -1 none."""
        some = of >= 0
        sums = [np.bincount(of[some], row[some], count) for row in self.by_broker]
        return np.array(sums).astype(np.int64).reshape(4, count)

    def lost(self, dead: Numbers) -> Column:
        """Whether the majority is, in scenarios: `dead` int64[4, ...] are the sums over those who die."""
        return dead[VOTES] > self._spare

    def counts(self, before: Numbers, dead: Numbers) -> Numbers:
        """int64[METRICS, ...] where it is lost; `before` int64[METRICS]: the counts as they are."""
        found = np.zeros((len(NAMES), *dead.shape[1:]), np.int64)
        was = ScenarioCounts(*before.tolist())
        found[_ROW["offline"]] = was.offline + dead[STATED]
        found[_ROW["under_min_isr"]] = was.under_min_isr - dead[SHORT]
        found[_ROW["under_replicated"]] = was.under_replicated
        found[_ROW["newly_offline"]] = found[_ROW["hurt"]] = dead[LED]
        return found


def _votes_by_broker(arrays: Arrays) -> Numbers:
    leader, brokers = integers(arrays, "leader"), len(arrays["brokers"])
    live = np.append(flags(arrays, "live"), False)  # for -1
    led: Column = live[leader]
    stated: Column = led & flags(arrays, "stated") & (integers(arrays, "replicas") >= 0).any(axis=1)
    short: Column = stated & (np.bitwise_count(integers(arrays, "isr")) < integers(arrays, "min_isr"))
    counts = [np.bincount(leader[some], minlength=brokers) for some in (led, stated, short)]
    return np.array([flags(arrays, "voter"), *counts], np.int64).reshape(4, brokers)


MOST_WORK = 1 << 30
"""So many additions are done to find the most loaded broker of every scenario: every pair of 1,000 brokers."""


class ScenarioSums:
    """What `sums` found, added up."""

    def __init__(self, batches: Sequence[Arrays], grid: PairGrid) -> None:
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
        self._pair_gains = _gains_of_few(batches, "pair", height * width * brokers)
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
            parts += [(self._second_gains, column), *((gains, scenario) for gains in self._pair_gains)]
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
            low = (row * width + least) * brokers
            for keys, counts in self._pair_gains:
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


MOST_APART = 16
"""Parts of millions of pairs are cheaper read one beside the other than made one."""


def _gains_of_few(batches: Sequence[Arrays], name: str, span: int) -> list[Sums]:
    if len(batches) > MOST_APART:
        return [_gains(batches, name, span)]
    return [_gains([batch], name, span) for batch in batches]


def _gains(batches: Sequence[Arrays], name: str, span: int) -> Sums:
    return merge(
        [(integers(batch, f"{name}_gain_key"), integers(batch, f"{name}_gain_count")) for batch in batches], span
    )


def _dense(gains: Sums, height: int, brokers: int) -> NDArray[np.int32]:
    table = np.zeros(height * brokers, np.int32)
    table[gains[0]] = gains[1]
    return table.reshape(height, brokers)
