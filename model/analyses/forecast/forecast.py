"""The forecast as an analysis: units of 2,000 histories each, and their sums, as they come.

A unit is a fixed range of histories, played in blocks whose sizes the cluster decides and not the machine; sums are
added by number of unit. So the same seed gives the same bytes, whoever plays which unit.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit, Wave
from model.analyses.forecast.clusters import Cluster
from model.analyses.forecast.kernel import Block, Episodes, ForecastLayout, episodes_of, layout_of, play_block
from model.analyses.forecast.lockstep import EVENTS, MEASURES
from model.analyses.forecast.sampling import SPAN, Accidents, Longs, Outages, Place, Times, places_of

UNIT = 2_000
CELLS, LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 19, 500, 16
MOST_HISTORIES = 10_000_000
WORST = 4
"""Histories of a unit that are remembered for each topic, to be looked at."""


class ForecastParameters(msgspec.Struct, frozen=True, kw_only=True):
    """Which histories, and of what. With several variants each history is played for all of them."""

    seed: int
    histories: int
    first: int = 0
    """The number of the first one: a multiple of UNIT."""
    horizon_ms: int
    brokers: int
    topics: int
    variants: tuple[Times, ...]


class ArrayColumn(msgspec.Struct, frozen=True):
    """An array, as it travels."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def array(self) -> Any:
        return np.frombuffer(self.data, self.dtype).reshape(self.shape)


class UnitSums(msgspec.Struct, frozen=True):
    """The sums of units, in the order of their numbers.

    | array | shape | what it says |
    |---|---|---|
    | `unit`, `histories` | int64[U] | the unit's number, and how many it had |
    | `sum`, `largest` | int64[U, V, MEASURES, topics] | partition-ms over all histories, and in the worst one |
    | `squares` | float64, as above | the sum of the squares of histories |
    | `hit` | int64, as above | histories in which it was more than 0 |
    | `causes` | float64[U, V, 2, causes] | partition-ms without leader and under min ISR, by cause; 0 is detection |
    | `apart` | float64, as above | the sum of the squares of what differs from the first variant, by history |
    | `worst` | int64[U, topics + 1, WORST, 2] | of the first variant: its worst histories and their partition-ms, |
    | | | by topic, and last of all topics together; -1 for none |
    | `totals` | int64[H, V, MEASURES + EVENTS] | by history |
    """

    columns: Mapping[str, ArrayColumn]

    def arrays(self) -> dict[str, Any]:
        return {name: column.array() for name, column in self.columns.items()}


def together(tallies: Sequence[UnitSums]) -> UnitSums:
    """Of ranges of units that follow each other, as one."""
    return _tally([tally.arrays() for tally in tallies])


def _tally(batches: Sequence[Mapping[str, Any]]) -> UnitSums:
    """By number of unit, however units were dealt."""
    units = np.concatenate([batch["unit"] for batch in batches])
    order = np.argsort(units, kind="stable")
    found: dict[str, Any] = {}
    for name in batches[0]:
        if name != "totals":
            found[name] = np.concatenate([batch[name] for batch in batches])[order]
    lengths = np.concatenate([batch["histories"] for batch in batches])
    rows = np.concatenate([batch["totals"] for batch in batches])
    starts = np.cumsum(lengths) - lengths
    found["totals"] = np.concatenate([rows[starts[at] : starts[at] + lengths[at]] for at in order.tolist()])
    return UnitSums({name: ArrayColumn(each.dtype.str, each.shape, each.tobytes()) for name, each in found.items()})


def arrays_of_variants(clusters: Sequence[Cluster]) -> Arrays:
    """What every worker needs."""
    return {f"{number}.{name}": each for number, one in enumerate(clusters) for name, each in one.arrays.items()}


class ForecastAnalysis:
    """The analysis. See `analysis.Analysis`."""

    name = "forecast"
    parameters_type = ForecastParameters
    result_type = UnitSums

    def units(self, arrays: Arrays, parameters: ForecastParameters) -> Sequence[Unit]:
        """All the same but for the last; the cost is in histories of one variant."""
        if not 0 < parameters.histories <= MOST_HISTORIES or parameters.first % UNIT:
            raise AnalysisError(f"{parameters.histories:,} histories: write 1 to {MOST_HISTORIES:,}")
        if parameters.horizon_ms >= SPAN >> 2:
            raise AnalysisError("histories of more than 30 years are too long")
        first = parameters.first // UNIT
        return [
            Unit(first + number, float(len(_histories(first + number, parameters)) * len(parameters.variants)))
            for number in range(math.ceil(parameters.histories / UNIT))
        ]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: ForecastParameters) -> Arrays:
        """A row for each unit."""
        places = places_of(parameters.variants, parameters.horizon_ms)
        layouts = [
            layout_of(arrays, number, parameters.brokers, parameters.topics)
            for number in range(len(parameters.variants))
        ]
        rows = [_played(unit, layouts, places, parameters) for unit in units]
        return {
            name: np.concatenate([row[name] for row in rows])
            if name == "totals"
            else np.stack([row[name] for row in rows])
            for name in rows[0]
        }

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: ForecastParameters) -> UnitSums:
        return _tally(batches)


FORECAST = ForecastAnalysis()


def _histories(unit: int, parameters: ForecastParameters) -> range:
    return range(unit * UNIT, min((unit + 1) * UNIT, parameters.first + parameters.histories))


def _block_size(parameters: ForecastParameters) -> int:
    fits = CELLS // max(1, parameters.topics)
    return max(SMALLEST_BLOCK, min(LARGEST_BLOCK, fits, (1 << 20) // max(1, parameters.brokers)))


def _played(
    unit: int, layouts: Sequence[ForecastLayout], places: Sequence[Place], parameters: ForecastParameters
) -> dict[str, Any]:
    histories = _histories(unit, parameters)
    variants, topics = len(layouts), parameters.topics
    shape = (variants, len(MEASURES), topics)
    sums, largest, hit = (np.zeros(shape, np.int64) for _ in range(3))
    squares, apart = np.zeros(shape), np.zeros(shape)
    worst = np.full((topics + 1, WORST, 2), (-1, 0))
    causes = np.zeros((variants, 2, len(places) + 1))
    totals = np.zeros((len(histories), variants, len(MEASURES) + len(EVENTS)), np.int64)
    size = _block_size(parameters)
    for start in range(0, len(histories), size):
        ids = histories[start : start + size]
        before: Any = 0.0
        for variant, block in enumerate(_blocks(ids, layouts, places, parameters)):
            sums[variant] += block.sums.sum(axis=1)
            floats = block.sums.astype(np.float64)
            if variant:
                apart[variant] += ((floats - before) ** 2).sum(axis=1)
            else:
                before, worst = floats, _worst(worst, ids, block)
            squares[variant] += (floats * floats).sum(axis=1)
            hit[variant] += (block.sums > 0).sum(axis=1)
            largest[variant] = np.maximum(largest[variant], block.sums.max(axis=1))
            causes[variant] += block.causes
            rows = totals[start : start + len(ids), variant]
            rows[:, : len(MEASURES)] = block.sums.sum(axis=2).T
            rows[:, len(MEASURES) :] = block.events
    return {
        "unit": np.int64(unit), "histories": np.int64(len(histories)), "sum": sums, "squares": squares, "hit": hit,
        "largest": largest, "causes": causes, "totals": totals,
        "apart": apart, "worst": worst,
    }  # fmt: skip


def _worst(known: Longs, ids: range, block: Block) -> Longs:
    """The worst histories so far, and those of another block: by what acks=all and consumers together wait."""
    lost = block.sums[0] + block.sums[1]
    lost = np.concatenate([lost, lost.sum(axis=1, keepdims=True)], axis=1).T
    history = np.broadcast_to(np.array(ids), lost.shape)
    found = np.stack([np.where(lost > 0, history, -1), lost], axis=2)
    every = np.concatenate([known, found], axis=1)
    kept = np.argpartition(-every[..., 1], WORST - 1, axis=1)[:, :WORST]
    return np.take_along_axis(every, kept[..., None], axis=1)


def _blocks(
    ids: range, layouts: Sequence[ForecastLayout], places: Sequence[Place], parameters: ForecastParameters
) -> Iterable[Block]:
    """The same numbers for each variant."""
    accidents = Accidents(places, parameters.seed, ids, parameters.horizon_ms)
    lived: dict[Times, tuple[Outages, Episodes]] = {}
    for layout, times in zip(layouts, parameters.variants, strict=True):
        if times not in lived:
            outages = accidents.of(times)
            lived[times] = outages, episodes_of(outages)
        yield play_block(layout, *lived[times], len(ids), parameters.horizon_ms, len(places) + 1)


PILOT = 200


def waves(histories: int) -> Iterator[tuple[int, int]]:
    """First history and number: a quick look, then whole units, half as many again each time.

    The first wave is played again within the second. What is shown is of waves and not of what has come by some time:
    else units that are quick would count for more.
    """
    if histories > PILOT:
        yield 0, PILOT
    done, size = 0, 1
    while done < histories:
        count = min(size * UNIT, histories - done)
        yield done, count
        done += count
        size = max(size + 1, done // UNIT // 2)


def parts(
    histories: int, variants: int, parameters: Callable[[int, int], ForecastParameters], more: float = 0.0
) -> Iterator[Wave]:
    """The waves of so many variants, by what their parameters are; `more` is what comes after them."""
    for first, count in waves(histories):
        left = (histories - first - count) * variants + more
        yield Wave(parameters(first, count), float(count * variants), left)


def is_look(part: ForecastParameters, histories: int) -> bool:
    """Whether it is the quick look, which is played again within the next wave."""
    return part.histories < min(histories, UNIT) and not part.first
