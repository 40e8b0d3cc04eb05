"""The answer from the sums: every scenario's counts are looked at once, block by block; the worst are kept.

Every scenario's counts are looked at once, block by block, and only the worst are kept. A set of brokers is decided on
the partitions that it touches, and no others.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice
from math import comb

import msgspec
import numpy as np

from model.analyses.analysis import Arrays
from model.analyses.drills.fates import (
    METRICS,
    Column,
    Numbers,
    PartitionOutcomes,
    as_it_is,
    changes_of,
    flags,
    integers,
)
from model.analyses.drills.grid import NOBODY, Majority, PairGrid, ScenarioSums
from model.analyses.drills.results import (
    NAMES,
    DrillParameters,
    DrillResult,
    FatalSets,
    HeatMap,
    LossChance,
    ScenarioCounts,
    ScenarioOutcome,
)
from model.analyses.drills.sums import PartitionRows, leaders_of

OFFLINE, UNCLEAN, HURT = (NAMES.index(name) for name in ("newly_offline", "unclean", "hurt"))
UNDER_MIN_ISR, MOVED = NAMES.index("newly_under_min_isr"), NAMES.index("leaders_moved")
MOST, LOST = METRICS, METRICS + 1
"""Rows below the counts: the most loaded broker's leaders, and 1 where a KRaft quorum loses its majority."""
ROWS = METRICS + 2


class Ranking:
    """`listed` scenarios are kept, and of each count the worst one, in whatever order they come."""

    def __init__(self, listed: int) -> None:
        self.scenarios = self.hurting = 0
        self.worst: dict[int, tuple[int, Numbers]] = {}
        """Row of the counts → index and column."""
        self._listed = listed
        self._index = np.empty(0, np.int64)
        self._facts = np.empty((ROWS, 0), np.int64)

    def take(self, index: Numbers, facts: Numbers) -> None:
        """Scenarios, each with an index that names it: int64[ROWS, S], counts and then MOST and LOST."""
        if not len(index):
            return
        self.scenarios += len(index)
        self.hurting += int((facts[[HURT, LOST]] > 0).any(axis=0).sum())
        for row, values in enumerate(facts):
            place = int(values.argmax())
            known, before = self.worst.get(row, (0, None))
            rank = int(values[place]), -int(index[place])
            if rank > ((0, 0) if before is None else (int(before[row]), -known)):
                self.worst[row] = int(index[place]), facts[:, place]
        some = _worst(facts, self._listed)
        index, facts = np.append(self._index, index[some]), np.append(self._facts, facts[:, some], axis=1)
        order = np.argsort(index)  # of what is as bad, the first stays
        best = order[_worst(facts[:, order], self._listed)]
        self._index, self._facts = index[best], facts[:, best]

    def listed(self) -> list[tuple[int, Numbers]]:
        """Index and facts of the worst, the worst first."""
        order = np.lexsort((self._index, -self._facts[MOST], *(-key for key in reversed(_keys(self._facts)))))
        return [(int(self._index[place]), self._facts[:, place]) for place in order]


def _keys(facts: Numbers) -> tuple[Numbers, Numbers]:
    """What is worse is higher: no elections any more, then partitions that lose records, then those that are offline;
    after these, partitions under min ISR, then leaders that move.
    """
    above = int(facts[[UNCLEAN, OFFLINE, UNDER_MIN_ISR, MOVED]].max()) + 1
    first = (facts[LOST] * above + facts[UNCLEAN]) * above + facts[OFFLINE]
    return first, facts[UNDER_MIN_ISR] * above + facts[MOVED]


def _worst(facts: Numbers, count: int) -> Column:
    """The places of the `count` worst, in ascending order."""
    first, second = _keys(facts)
    if len(first) <= count:
        return np.arange(len(first))
    least = np.partition(first, len(first) - count)[len(first) - count]
    sure, ties = np.flatnonzero(first > least), np.flatnonzero(first == least)
    missing = count - len(sure)
    tied = second[ties]
    least = np.partition(tied, len(tied) - missing)[len(tied) - missing]
    above = ties[tied > least]
    level = ties[tied == least][: missing - len(above)]
    return np.sort(np.concatenate([sure, above, level]))


SIDE = 64
"""Rows and columns of the largest table."""


class PairHeat:
    """Takes every pair as it passes by."""

    def __init__(self, grid: PairGrid, racks: tuple[str, ...]) -> None:
        self._grid, self._racks = grid, racks
        self._rack = integers(grid.arrays, "rack")
        self._by_rack = np.zeros((len(racks), len(racks)), np.int64)
        self._worst = np.zeros(grid.width, np.int64)
        """The worst pair of each broker."""

    def take(self, start: int, end: int, hurt: Numbers) -> None:
        """Partitions hurt, of these rows of the grid; 0 where there is no scenario."""
        self._worst = np.maximum(self._worst, hurt.max(axis=0, initial=0))
        self._worst[start:end] = np.maximum(self._worst[start:end], hurt.max(axis=1, initial=0))
        if not len(self._racks) or self._is_small:
            return
        by_column = np.zeros((end - start, len(self._racks)), np.int64)
        for rack in range(len(self._racks)):
            by_column[:, rack] = hurt[:, self._rack == rack].max(axis=1, initial=0)
        named = self._rack[start:end] >= 0
        np.maximum.at(self._by_rack, self._rack[start:end][named], by_column[named])

    def map(self, ledger: ScenarioSums, listed: Iterable[int]) -> HeatMap:
        """By broker while they are few; else by rack; else of `listed`, the brokers that die in the scenarios listed,
        for one half, and of those in the pairs that hurt most for the other.
        """
        if 2 <= len(self._racks) <= SIDE and not self._is_small:
            return HeatMap("rack", self._racks, _rows(np.maximum(self._by_rack, self._by_rack.T)))
        live = np.flatnonzero(self._grid.first.of[:-1] >= 0)
        by_worst_pair: list[int] = live[np.argsort(-self._worst[live], kind="stable")].tolist()
        first = islice(dict.fromkeys(listed), SIDE // 2)
        some = np.array(sorted(islice(dict.fromkeys((*first, *by_worst_pair)), SIDE)), np.int64)
        table = np.zeros((len(some), len(some)), np.int64)
        for place, row in enumerate(some.tolist()):
            counts = np.where(self._grid.allowed(row, row + 1), ledger.counts(row, row + 1)[HURT], 0)
            table[place] = counts[0, some]
        ids = integers(self._grid.arrays, "brokers")[some]
        return HeatMap("broker", tuple(map(str, ids.tolist())), _rows(np.maximum(table, table.T)))

    @property
    def _is_small(self) -> bool:
        return int((self._grid.first.of[:-1] >= 0).sum()) <= SIDE


def _rows(table: Numbers) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, table.tolist()))


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

    def __init__(self, rows: PartitionRows, arrays: Arrays, fates: PartitionOutcomes) -> None:
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


CELLS_AT_ONCE = 1 << 18
"""Scenarios whose counts are in memory at the same time."""


class CopysetLoss(msgspec.Struct, frozen=True):
    """What the copysets say."""

    fatal: FatalSets
    loss: tuple[LossChance, ...]


def answer(batches: Sequence[Arrays], grid: PairGrid, parameters: DrillParameters, lost: CopysetLoss) -> DrillResult:
    """Of a grid of scenarios, from batches of `sums`."""
    ledger, ranking = ScenarioSums(batches, grid), Ranking(parameters.listed)
    heat = PairHeat(grid, parameters.racks) if parameters.kind == "pairs" else None
    step = max(1, CELLS_AT_ONCE // grid.width)
    for start in range(0, grid.first.count, step):
        end = min(start + step, grid.first.count)
        allowed, counts = grid.allowed(start, end), ledger.counts(start, end)
        scenarios = np.flatnonzero(allowed)
        facts = (*counts, ledger.most_leaders(start, end), ledger.lost(start, end))
        ranking.take(scenarios + start * grid.width, np.stack([fact.ravel()[scenarios] for fact in facts]))
        if heat is not None:
            heat.take(start, end, np.where(allowed, counts[HURT], 0))

    def tell(index: int, facts: Numbers, *, detailed: bool = False) -> ScenarioOutcome:
        row, column = divmod(index, grid.width)
        rack = grid.rack(row, column)
        name = None if rack == NOBODY else parameters.racks[rack]
        return _outcome(grid.arrays, grid.killed(row, column), name, facts, ledger.leaders(row, column), detailed)

    dying = (grid.killed(*divmod(index, grid.width)).tolist() for index, _ in ranking.listed())
    drawn = None if heat is None else heat.map(ledger, chain.from_iterable(dying))
    return _result(grid.arrays, parameters, ranking, tell, (ledger.before, ledger.leaders_before), drawn, lost)


def random_answer(
    batches: Sequence[Arrays],
    killed: Numbers,
    subsets: Subsets,
    arrays: Arrays,
    parameters: DrillParameters,
    lost: CopysetLoss,
) -> DrillResult:
    """Of any sets of brokers, from batches of `Subsets.facts`."""
    ranking = Ranking(parameters.listed)
    for batch in batches:
        ranking.take(integers(batch, "index"), integers(batch, "facts"))

    def tell(index: int, facts: Numbers, *, detailed: bool = False) -> ScenarioOutcome:
        leaders = subsets.facts(killed[[index]])[1][0]
        return _outcome(arrays, killed[index], None, facts, leaders, detailed)

    return _result(arrays, parameters, ranking, tell, (subsets.before, subsets.leaders_before), None, lost)


def _result(
    arrays: Arrays,
    parameters: DrillParameters,
    ranking: Ranking,
    tell: Callable[..., ScenarioOutcome],
    before: tuple[Numbers, Numbers],
    heat: HeatMap | None,
    lost: CopysetLoss,
) -> DrillResult:
    listed = ranking.listed()
    names = (*NAMES, "most_leaders", "quorum_lost")
    counts, leaders = before
    return DrillResult(
        scenarios=ranking.scenarios,
        hurting=ranking.hurting,
        before=ScenarioCounts(*counts.tolist()),
        leaders_before=_by_id(arrays, np.where(arrays["live"], leaders, NOBODY)),
        listed=tuple(
            tell(index, facts, detailed=place < parameters.detailed) for place, (index, facts) in enumerate(listed)
        ),
        worst={names[row]: tell(index, facts) for row, (index, facts) in ranking.worst.items()},
        heat=heat,
        fatal=lost.fatal,
        loss=lost.loss,
    )


def _outcome(
    arrays: Arrays, killed: Numbers, rack: str | None, facts: Numbers, leaders: Numbers, detailed: bool
) -> ScenarioOutcome:
    ids = integers(arrays, "brokers")
    on = int(leaders.argmax())
    return ScenarioOutcome(
        kill=tuple(ids[killed].tolist()),
        rack=rack,
        counts=ScenarioCounts(*facts[:METRICS].tolist()),
        most_leaders=int(leaders[on]),
        most_leaders_on=int(ids[on]),
        quorum_lost=bool(facts[LOST]),
        leaders_by_broker=_by_id(arrays, leaders) if detailed else {},
    )


def _by_id(arrays: Arrays, leaders: Numbers) -> dict[int, int]:
    live = np.flatnonzero(leaders != NOBODY)
    return dict(zip(arrays["brokers"][live].tolist(), leaders[live].tolist(), strict=True))
