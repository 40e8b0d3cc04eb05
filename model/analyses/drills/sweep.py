"""Drills over the whole cluster as an analysis: parts of the partitions, or of the scenarios, are its units.

Not played: what was asked of the controller and is not begun, and reassignments that could be completed at once.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays, Unit
from model.analyses.drills.answer import ROWS, Lost, Subsets, answer, random_answer, random_subsets
from model.analyses.drills.fates import Fates, Numbers, flags, integers
from model.analyses.drills.grid import NOBODY, Grid
from model.analyses.drills.loss import chances_of, copysets, fatal_sets
from model.analyses.drills.results import DrillParameters, DrillResult
from model.analyses.drills.sums import rows_of, rules_in, sums
from model.analyses.errors import AnalysisError

ROWS_PER_UNIT = 1 << 16
MOST_UNITS = 16


class Drills:
    """The analysis."""

    name = "drills"
    parameters_type = DrillParameters
    result_type = DrillResult

    def units(self, arrays: Arrays, parameters: DrillParameters) -> Sequence[Unit]:
        """Parts of the partitions (of the scenarios, where they are random), and one for all copysets."""
        check(arrays, parameters)
        parts, rows = _parts(arrays, parameters), len(arrays["leader"])
        looks = 1.0
        if parameters.kind == "random":  # at all partitions once, and at those of each that fails
            looks += parameters.size * parameters.count / int(flags(arrays, "live").sum())
        return [*(Unit(part, rows * looks / parts) for part in range(parts)), Unit(parts, rows / 2)]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: DrillParameters) -> Arrays:
        """`sums` or `facts` of the parts, and JSON of what is lost."""
        parts = _parts(arrays, parameters)
        some = [unit for unit in units if unit < parts]
        part = _random if parameters.kind == "random" else _sums
        found: dict[str, NDArray[np.generic]] = {}
        if some:
            found.update(part(some, arrays, parameters))
        if parts in units:
            found["lost"] = np.frombuffer(msgspec.json.encode(_lost(arrays, parameters)), np.uint8)
        return found

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: DrillParameters) -> DrillResult:
        """Every scenario's counts are looked at here; only sums of partitions came so far."""
        (lost,) = (msgspec.json.decode(batch["lost"].tobytes(), type=Lost) for batch in batches if "lost" in batch)
        some = [batch for batch in batches if "before" in batch]
        if parameters.kind != "random":
            return answer(some, Grid(arrays, parameters.kind), parameters, lost)
        return random_answer(some, *_subsets(arrays, parameters), arrays, parameters, lost)


DRILLS = Drills()


def check(arrays: Arrays, parameters: DrillParameters) -> None:
    """Raises AnalysisError for scenarios that leave nobody, or where there are none."""
    live = int(flags(arrays, "live").sum())
    racks = np.unique(integers(arrays, "rack")[flags(arrays, "live")])
    racks = racks[racks >= 0]
    least = {"pairs": 3, "random": parameters.size + 1}.get(parameters.kind, 2)
    if live < least:
        raise AnalysisError(
            f"{live} live broker{'s' * (live != 1)}: too few, for somebody has to outlive every scenario"
        )
    if "racks" in parameters.kind and len(racks) < 2:
        raise AnalysisError("the live brokers name fewer than two racks: there is no rack to lose")
    if parameters.kind == "random" and (parameters.size < 1 or parameters.count < 1):
        raise AnalysisError("random scenarios need a size and a number of at least 1")


def _parts(arrays: Arrays, parameters: DrillParameters) -> int:
    if parameters.kind == "random":
        return max(1, min(MOST_UNITS, parameters.count // 64))
    return max(1, min(MOST_UNITS, len(arrays["leader"]) // ROWS_PER_UNIT))


def _bounds(part: int, parts: int, length: int) -> tuple[int, int]:
    return part * length // parts, (part + 1) * length // parts


def _fates(arrays: Arrays) -> Fates:
    return Fates(rules_in(arrays), ruled=int(arrays["controller"][0]) != NOBODY)


def _sums(some: Sequence[int], arrays: Arrays, parameters: DrillParameters) -> Arrays:
    parts, length = _parts(arrays, parameters), len(arrays["leader"])
    grid = Grid(arrays, parameters.kind)
    rows = rows_of(arrays, [_bounds(part, parts, length) for part in some], unclean=parameters.unclean)
    return sums(rows, _fates(arrays), len(arrays["brokers"]), grid.first, grid.second)


def _subsets(arrays: Arrays, parameters: DrillParameters) -> tuple[Numbers, Subsets]:
    live = np.flatnonzero(arrays["live"])
    killed = live[random_subsets(len(live), parameters.size, parameters.count, parameters.seed)]
    rows = rows_of(arrays, [(0, len(arrays["leader"]))], unclean=parameters.unclean, merged=True)
    return killed, Subsets(rows, arrays, _fates(arrays))


def _random(some: Sequence[int], arrays: Arrays, parameters: DrillParameters) -> Arrays:
    killed, subsets = _subsets(arrays, parameters)
    parts, step = _parts(arrays, parameters), subsets.per_chunk(parameters.size)
    index: list[Numbers] = []
    facts: list[Numbers] = []
    for start, end in (_bounds(part, parts, len(killed)) for part in some):
        for first in range(start, end, step):
            index.append(np.arange(first, min(first + step, end)))
            facts.append(subsets.facts(killed[index[-1]])[0])
    return {
        "before": subsets.before,
        "index": np.concatenate([np.empty(0, np.int64), *index]),
        "facts": np.concatenate([np.empty((ROWS, 0), np.int64), *facts], axis=1),
    }


def _lost(arrays: Arrays, parameters: DrillParameters) -> Lost:
    sets, partitions = copysets(arrays)
    fatal = fatal_sets(arrays, sets, partitions, parameters.listed)
    return Lost(fatal, chances_of(arrays, sets, partitions, parameters.failure_rate))
