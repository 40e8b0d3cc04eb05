"""The answer from the sums: every scenario's counts are looked at once, block by block, and the worst are kept."""

from collections.abc import Callable, Sequence
from itertools import chain

import msgspec
import numpy as np

from spark_tasks.analysis import Arrays
from spark_tasks.drills.fates import METRICS
from spark_tasks.drills.grid import NOBODY, Grid
from spark_tasks.drills.heat import Heat
from spark_tasks.drills.ledger import Ledger
from spark_tasks.drills.numbering import Numbers, integers
from spark_tasks.drills.ranking import HURT, LOST, Ranking
from spark_tasks.drills.results import (
    NAMES,
    Counts,
    FatalSets,
    HeatMap,
    LossChance,
    Parameters,
    Result,
    ScenarioOutcome,
)
from spark_tasks.drills.subsets import Subsets

CELLS_AT_ONCE = 1 << 18
"""Scenarios whose counts are in memory at the same time."""


class Lost(msgspec.Struct, frozen=True):
    """What the copysets say."""

    fatal: FatalSets
    loss: tuple[LossChance, ...]


def answer(batches: Sequence[Arrays], grid: Grid, parameters: Parameters, lost: Lost) -> Result:
    """Of a grid of scenarios, from batches of `sums`."""
    ledger, ranking = Ledger(batches, grid), Ranking(parameters.listed)
    heat = Heat(grid, parameters.racks) if parameters.kind == "pairs" else None
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
    batches: Sequence[Arrays], killed: Numbers, subsets: Subsets, arrays: Arrays, parameters: Parameters, lost: Lost
) -> Result:
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
    parameters: Parameters,
    ranking: Ranking,
    tell: Callable[..., ScenarioOutcome],
    before: tuple[Numbers, Numbers],
    heat: HeatMap | None,
    lost: Lost,
) -> Result:
    listed = ranking.listed()
    names = (*NAMES, "most_leaders", "quorum_lost")
    counts, leaders = before
    return Result(
        scenarios=ranking.scenarios,
        hurting=ranking.hurting,
        before=Counts(*counts.tolist()),
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
        counts=Counts(*facts[:METRICS].tolist()),
        most_leaders=int(leaders[on]),
        most_leaders_on=int(ids[on]),
        quorum_lost=bool(facts[LOST]),
        leaders_by_broker=_by_id(arrays, leaders) if detailed else {},
    )


def _by_id(arrays: Arrays, leaders: Numbers) -> dict[int, int]:
    live = np.flatnonzero(leaders != NOBODY)
    return dict(zip(arrays["brokers"][live].tolist(), leaders[live].tolist(), strict=True))
