"""Drills over the whole cluster as an analysis, and which brokers hold all in-sync replicas of a partition.

Parts of the partitions, or of the scenarios, are its units. Not played: what was asked of the controller and is not
begun, and reassignments that could be completed at once.

How probable it is that such brokers die together for good: A. Cidon et al., Copysets: Reducing the Frequency of Data
Loss in Cloud Storage (USENIX ATC 2013): data is lost if all members of a copyset die. Brokers fail at random; racks
that fail as a whole are another drill. An eligible leader replica (KIP-966) that lives counts as in sync: it has every
record that was acknowledged.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb, exp, prod

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit
from model.analyses.drills.answer import ROWS, CopysetLoss, Subsets, answer, random_answer, random_subsets
from model.analyses.drills.fates import Column, Numbers, PartitionOutcomes, flags, integers, numbered
from model.analyses.drills.grid import NOBODY, PairGrid
from model.analyses.drills.results import DrillParameters, DrillResult, FatalSet, FatalSets, LossChance
from model.analyses.drills.sums import rows_of, rules_in, sums

Ints = NDArray[np.int32]

AT_ONCE = 1 << 18
"""Rows, where all of them would take too much memory."""


def copysets(arrays: Arrays) -> tuple[Ints, Numbers]:
    """Distinct sets of live in-sync replicas of led partitions, and how many partitions each holds.

    Places in `brokers`, int32[C, W], ascending, padded at the end with B. Copysets as in Cidon et al. (2013).
    """
    nobody, width = len(arrays["live"]), arrays["replicas"].shape[1]
    if (nobody + 1) ** width >= 1 << 63:
        held = _held(arrays, 0, len(arrays["leader"]))
        numbers, row = numbered([*held.T])
        return held[row], np.bincount(numbers, minlength=len(row))
    # Of each set only its key is kept, and only so many rows are looked at in one go.
    narrow = (nobody + 1) ** width < 1 << 31
    keys: Column = np.empty(len(arrays["leader"]), np.int32 if narrow else np.int64)
    count = 0
    for start in range(0, len(keys), AT_ONCE):
        some = _keys(_held(arrays, start, start + AT_ONCE), nobody + 1)
        keys[count : count + len(some)] = some
        count += len(some)
    keys = keys[:count]
    keys.sort()
    places = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[:count])
    partitions, keys = np.diff(places, append=count), keys[places]
    sets = np.empty((len(keys), width), np.int32)
    for place in reversed(range(width)):
        keys, sets[:, place] = np.divmod(keys, nobody + 1)
    return sets, partitions


def _held(arrays: Arrays, start: int, end: int) -> Ints:
    """Of the rows from `start` to before `end`, the sets of those that have one."""
    live, nobody = np.append(flags(arrays, "live"), False), len(arrays["live"])
    some = {name: arrays[name][start:end] for name in ("replicas", "isr", "elr", "leader")}
    replicas, safe = some["replicas"].astype(np.int32, copy=False), integers(some, "isr") | integers(some, "elr")
    held = np.empty(replicas.shape, np.int32)
    for place in range(replicas.shape[1]):
        member = replicas[:, place]
        held[:, place] = np.where((safe >> place & 1 == 1) & live[member], member, nobody)
    held.sort(axis=1)
    return held[live[integers(some, "leader")] & (held[:, 0] < nobody)]


def sizes_of(sets: Ints, nobody: int) -> Numbers:
    """How many brokers each set has."""
    return (sets < nobody).sum(axis=1)


def fatal_sets(arrays: Arrays, sets: Ints, partitions: Numbers, listed: int) -> FatalSets:
    """The minimal ones of these copysets; `listed` of them by name."""
    brokers, ids = len(arrays["brokers"]), integers(arrays, "brokers")
    sizes = sizes_of(sets, brokers)
    smaller: dict[int, Ints] = {}
    counts: dict[int, int] = {}
    named: list[FatalSet] = []
    for size in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == size)
        for known, others in smaller.items():
            some = some[~_contains(sets[some, :size], others[:, :known], brokers)]
        if not len(some):
            continue
        smaller[size], counts[size] = sets[some], len(some)
        worst = some[np.argsort(-partitions[some], kind="stable")[: listed - len(named)]]
        named += (FatalSet(tuple(ids[sets[one, :size]].tolist()), int(partitions[one])) for one in worst)
    return FatalSets(counts, tuple(named))


def _contains(sets: Ints, smaller: Ints, brokers: int) -> Column:
    """bool[C]: whether a set contains one of the smaller ones. Both are ascending, without padding."""
    found = np.zeros(len(sets), np.bool_)
    wanted = _keys(smaller, brokers)
    width: int = smaller.shape[1]
    for places in combinations(range(sets.shape[1]), width):
        found |= np.isin(_keys(sets[:, list(places)], brokers), wanted)
    return found


def _keys(sets: Ints, brokers: int) -> Column:
    """One value that is the same for the same sets."""
    if brokers ** sets.shape[1] >= 1 << 63:
        return np.array([row.tobytes() for row in np.ascontiguousarray(sets)], object)
    key = np.zeros(len(sets), np.int64)
    for column in sets.T:
        key = key * brokers + column
    return key


ENUMERABLE = 16
"""Live brokers whose every subset is looked at."""


def chances_of(arrays: Arrays, sets: Ints, partitions: Numbers, rate: float) -> tuple[LossChance, ...]:
    """If one, two or three brokers die, or as many as `rate` makes of all; and if each dies at `rate`."""
    live = flags(arrays, "live")
    count = int(live.sum())
    sizes = sizes_of(sets, len(live))
    widths: list[int] = np.unique(sizes).tolist()
    fatal = _fatal(live, sets) if count <= ENUMERABLE else None
    found: list[LossChance] = []
    for failed in sorted({1, 2, 3, max(1, round(rate * count))}):
        if failed <= count:
            all_of = {size: prod((failed - k) / (count - k) for k in range(size)) for size in widths}
            found.append(_chance(sizes, partitions, all_of, _exactly(fatal, failed, sizes, count), failed=failed))
    all_of = {size: rate**size for size in widths}
    found.append(_chance(sizes, partitions, all_of, _at(fatal, count, rate), rate=rate))
    return tuple(found)


def _chance(
    sizes: Numbers,
    partitions: Numbers,
    all_of: Mapping[int, float],
    exact: float | None,
    *,
    failed: int | None = None,
    rate: float | None = None,
) -> LossChance:
    """`all_of`: size → the probability that so many given brokers all die."""
    expected_sets = expected_partitions = 0.0
    for size, probability in all_of.items():
        some = sizes == size
        expected_sets += int(some.sum()) * probability
        expected_partitions += int(partitions[some].sum()) * probability
    probability = 1 - exp(-expected_sets) if exact is None else exact
    return LossChance(failed, rate, expected_partitions, expected_sets, probability, exact is not None)


def _fatal(live: NDArray[np.bool_], sets: Ints) -> Numbers:
    """int64[L + 1]: of the subsets of so many live brokers, those that contain a copyset."""
    count = int(live.sum())
    bit = np.append(np.where(live, 1 << (np.cumsum(live) - 1), 0), 0)
    fatal = np.zeros(1 << count, np.bool_)
    fatal[bit[sets].sum(axis=1)] = True
    for place in range(count):
        by_bit = fatal.reshape(-1, 2, 1 << place)
        by_bit[:, 1] |= by_bit[:, 0]
    return np.bincount(np.bitwise_count(np.flatnonzero(fatal)), minlength=count + 1)


def _exactly(fatal: Numbers | None, failed: int, sizes: Numbers, count: int) -> float | None:
    if fatal is not None:
        return int(fatal[failed]) / comb(count, failed)
    if failed > sizes.min(initial=count):
        return None
    return int((sizes == failed).sum()) / comb(count, failed)  # no two sets at the same time


def _at(fatal: Numbers | None, count: int, rate: float) -> float | None:
    if fatal is None:
        return None
    return sum(subsets * rate**size * (1 - rate) ** (count - size) for size, subsets in enumerate(fatal.tolist()))


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
        (lost,) = (
            msgspec.json.decode(batch["lost"].tobytes(), type=CopysetLoss) for batch in batches if "lost" in batch
        )
        some = [batch for batch in batches if "before" in batch]
        if parameters.kind != "random":
            return answer(some, PairGrid(arrays, parameters.kind), parameters, lost)
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


def _fates(arrays: Arrays) -> PartitionOutcomes:
    return PartitionOutcomes(rules_in(arrays), ruled=int(arrays["controller"][0]) != NOBODY)


def _sums(some: Sequence[int], arrays: Arrays, parameters: DrillParameters) -> Arrays:
    parts, length = _parts(arrays, parameters), len(arrays["leader"])
    grid = PairGrid(arrays, parameters.kind)
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


def _lost(arrays: Arrays, parameters: DrillParameters) -> CopysetLoss:
    sets, partitions = copysets(arrays)
    fatal = fatal_sets(arrays, sets, partitions, parameters.listed)
    return CopysetLoss(fatal, chances_of(arrays, sets, partitions, parameters.failure_rate))
