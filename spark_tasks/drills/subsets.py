"""Any sets of brokers: each is decided on the partitions that it touches, and no others."""

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np

from spark_tasks.analysis import Arrays
from spark_tasks.drills.fates import METRICS, Fates, as_it_is, changes_of
from spark_tasks.drills.majority import Majority
from spark_tasks.drills.numbering import Column, Numbers, flags
from spark_tasks.drills.partition_rows import PartitionRows
from spark_tasks.drills.sums import leaders_of

AT_ONCE = 1 << 20
"""So many partitions of so many scenarios are decided in one go."""


def random_subsets(live: int, size: int, count: int, seed: int) -> Numbers:
    """int64[count, size]: different sets of live brokers, by place among them, all equally likely; all, if so few."""
    if comb(live, size) <= count:
        return np.array([*combinations(range(live), size)], np.int64)
    dice = np.random.default_rng(seed)
    found = _drawn(live, size, count, dice)
    while len(found) < count:
        found = np.unique(np.concatenate([found, _drawn(live, size, count, dice)]), axis=0)
    return found[np.sort(dice.permutation(len(found))[:count])]


def _drawn(live: int, size: int, count: int, dice: np.random.Generator) -> Numbers:
    """Some different ones, at most `count`."""
    picks = np.empty((count, 0), np.int64)
    for taken in range(size):
        pick = dice.integers(0, live - taken, count)
        for place in range(taken):
            pick += pick >= picks[:, place]
        picks = np.sort(np.column_stack([picks, pick]), axis=1)
    return np.unique(picks, axis=0)


class Subsets:
    """Partitions by broker, so that those a scenario touches are found at once."""

    def __init__(self, rows: PartitionRows, arrays: Arrays, fates: Fates) -> None:
        self._rows, self._fates = rows, fates
        self._live, self._ruler = flags(arrays, "live"), int(arrays["controller"][0])
        self._majority = Majority(arrays)
        brokers = len(self._live)
        members = np.concatenate(rows.members)
        small = members.astype(np.uint16) if brokers < 1 << 16 else members  # -1 goes last
        self._order: Numbers = np.argsort(small, kind="stable")
        self._starts: Numbers = np.append(0, np.cumsum(np.bincount(members[members >= 0], minlength=brokers)))
        still, rest = (changes_of(rows.kinds, rows.kind, [], play) for play in (as_it_is, fates.at_rest))
        self.before, self.leaders_before = still.total(rows.weight)[:METRICS], leaders_of(rows, still, brokers)
        self._rest, self._leaders = rest.total(rows.weight), leaders_of(rows, rest, brokers)

    def facts(self, killed: Numbers) -> tuple[Numbers, Numbers]:
        """Of scenarios int64[S, K]: int64[ROWS, S] for a ranking, and the leaders by broker int64[S, B]."""
        scenarios, brokers = len(killed), len(self._live)
        dies = np.zeros((scenarios, brokers + 1), np.bool_)
        dies[np.arange(scenarios)[:, None], killed] = True
        counts = np.tile(self._rest, (scenarios, 1))
        leaders = np.tile(self._leaders, (scenarios, 1))
        for scenario, row, dead in self._touched(killed, dies):
            changes = changes_of(self._rows.kinds, self._rows.kind[row], [dead], self._fates.one)
            weight = None if self._rows.weight is None else self._rows.weight[row]
            key = scenario * len(changes.changes) + changes.case
            cases = np.bincount(key, weight, scenarios * len(changes.changes)).astype(np.int64)
            counts += cases.reshape(scenarios, -1) @ changes.vectors()
            for place, members in enumerate(self._rows.members):
                some = changes.rows(lambda change, place=place: change.gained == place)
                if some is not None:
                    to = scenario[some] * brokers + members[row[some]]
                    gained = np.bincount(to, None if weight is None else weight[some], scenarios * brokers)
                    leaders += gained.astype(np.int64).reshape(scenarios, brokers)
        leaders[dies[:, :-1] | ~self._live] = -1
        total = counts[:, :METRICS]
        if self._ruler >= 0:
            total = total + counts[:, METRICS:] * dies[:, [self._ruler]]
        found, lost = total.T, np.zeros(scenarios, np.bool_)
        if self._majority.may_be_lost:
            dead = self._majority.by_broker[:, killed].sum(axis=2)
            lost = self._majority.lost(dead)
            found = np.where(lost, self._majority.counts(self.before, dead), found)
            kept = np.where(dies[:, :-1] | ~self._live, -1, self.leaders_before)
            leaders = np.where(lost[:, None], kept, leaders)
        return np.concatenate([found, leaders.max(axis=1)[None, :], lost[None, :].astype(np.int64)]), leaders

    def _touched(self, killed: Numbers, dies: Column) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        """Scenario, row and dead members of each row that a scenario touches, each once."""
        lengths: Numbers = np.diff(self._starts)[killed]
        if not lengths.sum():
            return
        starts: Numbers = self._starts[killed]
        ends = np.cumsum(lengths.ravel())
        skipped: Numbers = starts.ravel() - (ends - lengths.ravel())
        places: Numbers = np.repeat(skipped, lengths.ravel()) + np.arange(int(ends[-1]))
        scenario = np.repeat(np.arange(len(killed)), lengths.sum(axis=1))
        seat, row = np.divmod(self._order[places], len(self._rows))
        dead = np.zeros(len(row), np.int64)
        for place, members in enumerate(self._rows.members):
            dead |= dies[scenario, members[row]].astype(np.int64) << place
        once = dead & -dead == 1 << seat  # a row is there for each of its dead members
        yield scenario[once], row[once], dead[once]

    def per_chunk(self, size: int) -> int:
        """How many scenarios of a size are decided in one go."""
        rows = max(1, int(size * len(self._order) / max(1, int(self._live.sum()))))
        return max(1, min(AT_ONCE // rows, AT_ONCE // len(self._live)))
