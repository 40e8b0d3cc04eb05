"""A cluster and its variants as they are played beside each other, by whoever plays them: the command, the screen.

What is played is a range of histories of some variants (`parameters`); what comes of it is a Tally, which is told here
as figures, as what helps, and as what the answer hangs on, and written as tables.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses import AnalysisError
from model.analyses.forecast.assumptions import Assumptions
from model.analyses.forecast.clusters import Cluster, broker_ids, cluster_of
from model.analyses.forecast.figures import (
    FORMAT,
    MINUTE_MS,
    YEAR_MS,
    Pair,
    Remedy,
    VariantFigures,
    actions_of,
    figures_of,
    pair_of,
    scaled,
    span,
    swings,
)
from model.analyses.forecast.forecast import UNIT, ForecastParameters, UnitSums, arrays_of_variants
from model.analyses.forecast.given import elections_of
from model.analyses.forecast.kernel import apart, episodes_of, layout_of, play_block
from model.analyses.forecast.lockstep import EVENTS, MEASURES
from model.analyses.forecast.sampling import Accidents, Outages, places_of
from model.analyses.forecast.statistics import Estimate, t_interval
from model.analyses.image_arrays import racks_of, topics_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.whole_file import write_whole
from model.drills.scenario import Act, Deed, written
from model.planning.layout import Sizes


class Swing(msgspec.Struct, frozen=True):
    """Minutes under min ISR a year, at both ends of what is known of a rate."""

    key: str
    low: float
    high: float
    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        return abs(self.at_high - self.at_low)


class RemedyEffect(msgspec.Struct, frozen=True):
    """Something that could be done, what it takes, and what it saves; see `Remedy`."""

    name: str
    price: str
    pair: Pair


class WorstStretch(msgspec.Struct, frozen=True, kw_only=True):
    """The worst stretch of a history, from all in sync to all in sync again; minutes are of all partitions meant."""

    history: int
    start_ms: int
    leaderless_min: float
    under_min_isr_min: float
    brokers: tuple[int, ...]
    """Who was out, in the order in which they went."""
    causes: tuple[str, ...]
    scenario: str
    """The same failures and returns, as `model.drills.scenario.written` writes them."""


MOST_MOMENTS = 12


class Playing:
    """All that plays of one question share. The first image is the cluster as it is."""

    def __init__(
        self,
        images: Sequence[ClusterImage],
        assumed: Assumptions,
        horizon_ms: int,
        sizes: Sizes | None = None,
        seed: int | None = None,
    ) -> None:
        """Without a seed it is the cluster's own. Raises AnalysisError where there is nothing to forecast."""
        self.images, self.assumed, self.sizes, self.horizon_ms = images, assumed, sizes, horizon_ms
        self._elections: dict[int, dict[int, float]] = {}
        """By image, of those above."""
        self.brokers = broker_ids(images)
        self.topics = topics_of(images[0])
        if not self.brokers or not images[0].partition_count:
            raise AnalysisError("there is nothing to forecast: the cluster has no partitions")
        self.seed = _seed(self.cluster(images[0], assumed)) if seed is None else seed

    def cluster(self, image: ClusterImage, assumed: Assumptions) -> Cluster:
        """As it is played. Raises AnalysisError."""
        if assumed.elects_by_fleet:
            if id(image) not in self._elections:
                self._elections[id(image)] = elections_of(image)
            assumed = msgspec.structs.replace(assumed, elect_ms=self._elections[id(image)])
        return cluster_of(image, assumed, self.brokers, self.topics, self.sizes)

    def parameters(self, variants: Sequence[Cluster], first: int, histories: int) -> ForecastParameters:
        """Of so many histories from the first one on."""
        return ForecastParameters(
            seed=self.seed, first=first, histories=histories, horizon_ms=self.horizon_ms, brokers=len(self.brokers),
            topics=len(self.topics), variants=tuple(one.times for one in variants),
        )  # fmt: skip

    def figures(self, tally: UnitSums, variants: Sequence[Cluster], number: int = 0) -> VariantFigures:
        """Of the variant with the number, which is that of its image."""
        topics = self.images[number].topics
        partitions = [len(topics[name]) if name in topics else 0 for name in self.topics]
        return figures_of(tally, number, self.topics, partitions, [one.times for one in variants], self.horizon_ms)

    def actions(self, base: Cluster) -> list[Remedy]:
        """What could be done about the cluster as it is."""
        racks = {name: number for number, name in enumerate(racks_of(self.images[0]))}
        known = self.images[0].brokers
        by_place = [racks.get(known[broker].rack or "", -1) if broker in known else -1 for broker in self.brokers]
        return list(actions_of(base, by_place))

    def helping(self, tally: UnitSums, found: Sequence[Remedy]) -> tuple[RemedyEffect, ...]:
        """Each beside the cluster as it is, which was played first; by what it certainly saves under min ISR."""
        helps = [
            RemedyEffect(one.name, one.price, pair_of(tally, 0, number, self.horizon_ms))
            for number, one in enumerate(found, start=1)
        ]
        return tuple(sorted(helps, key=lambda one: -max(_gains(one.pair))))

    def moments(self, tally: UnitSums, variants: Sequence[Cluster], topic: str = "") -> tuple[WorstStretch, ...]:
        """The worst moments of the worst histories of a topic, or of all together: they are played once more."""
        place = self.topics.index(topic) if topic else len(self.topics)
        worst = tally.arrays()["worst"][:, place].reshape(-1, 2).tolist()
        chosen = sorted((pair for pair in worst if pair[0] >= 0), key=lambda pair: (-pair[1], pair[0]))
        found = [self._moment(history, variants, place) for history, _ in chosen[:MOST_MOMENTS]]
        return tuple(sorted(found, key=lambda one: (-one.leaderless_min - one.under_min_isr_min, one.history)))

    def _moment(self, history: int, variants: Sequence[Cluster], place: int) -> WorstStretch:
        places = places_of([one.times for one in variants], self.horizon_ms)
        accidents = Accidents(places, self.seed, range(history, history + 1), self.horizon_ms)
        stretches = apart(accidents.of(variants[0].times))
        layout = layout_of(arrays_of_variants(variants[:1]), 0, len(self.brokers), len(self.topics))
        count = int(stretches.history[-1]) + 1
        block = play_block(layout, stretches, episodes_of(stretches), count, self.horizon_ms, len(places) + 1)
        sums = block.sums[:2] - np.stack([layout.refusing * 0, layout.refusing * self.horizon_ms])[:, None]
        lost = sums.sum(axis=2) if place == len(self.topics) else sums[:, :, place]
        worst = int(lost.sum(axis=0).argmax())
        out = Outages._make(column[stretches.history == worst] for column in stretches)
        order = np.argsort(out.start, kind="stable").tolist()
        unled, under = (float(lost[measure, worst]) / MINUTE_MS for measure in range(2))
        return WorstStretch(
            history=history, start_ms=int(out.start.min()), leaderless_min=unled, under_min_isr_min=under,
            brokers=tuple(dict.fromkeys(self.brokers[int(out.broker[row])] for row in order)),
            causes=tuple(dict.fromkeys(places[int(out.component[row])].name for row in order)),
            scenario=written(self._acts(out)),
        )  # fmt: skip

    def _acts(self, out: Outages) -> Iterator[Act]:
        """What is slow and lives is left out: a drill has no such thing."""
        done: dict[tuple[int, Deed], list[int]] = {}
        for row in np.flatnonzero(~out.slow).tolist():
            broker = self.brokers[int(out.broker[row])]
            done.setdefault((int(out.start[row]), Deed.STOP if out.clean[row] else Deed.KILL), []).append(broker)
            done.setdefault((int(out.end[row]), Deed.START), []).append(broker)
        last: int | None = None
        for (at, deed), brokers in sorted(done.items()):
            yield Act(deed, tuple(sorted(brokers)), None if last is None else float(at - last))
            last = at

    @property
    def swings_count(self) -> int:
        """How many variants `swung` has."""
        return 2 * sum(1 for _ in swings(self.assumed))

    def swung(self) -> list[Cluster]:
        """The cluster at the low and at the high end of each rate, one at a time."""
        return [self.cluster(self.images[0], each) for _, low, high in swings(self.assumed) for each in (low, high)]

    def swings(self, tally: UnitSums) -> tuple[Swing, ...]:
        """What came of `swung`, the widest first."""
        totals = tally.arrays()["totals"][:, :, 1].mean(axis=0) / 60_000 * YEAR_MS / self.horizon_ms
        found = [
            Swing(key, low[key], high[key], float(totals[2 * row]), float(totals[2 * row + 1]))
            for row, (key, low, high) in enumerate(swings(self.assumed))
        ]
        return tuple(sorted(found, key=lambda swing: -swing.width))


def topic_pairs(tally: UnitSums, topics: Sequence[str], horizon_ms: int) -> dict[str, Pair]:
    """By topic, the first variant less the second, over the same accidents."""
    arrays = tally.arrays()
    number = int(arrays["histories"].sum())
    sums, squares = arrays["sum"].sum(axis=0), arrays["apart"][:, 1].sum(axis=0)
    scale = YEAR_MS / horizon_ms / MINUTE_MS
    found: dict[str, Pair] = {}
    for row, name in enumerate(topics):
        difference: dict[str, Estimate] = {}
        for column, measure in enumerate(MEASURES):
            total = float(sums[0, column, row] - sums[1, column, row])
            low, high = t_interval(total, float(squares[column, row]), number)
            figure = Estimate(mean=total / number, low=low, high=high if number > 1 else None, kind="t")
            difference[measure] = scaled(figure, scale)
        found[name] = Pair(difference=difference, variance_ratio={})
    return found


def compared(pair: Pair, change: str) -> Iterator[str]:
    """What a change brings, in sentences."""
    for measure, what in (("leaderless", "without leader"), ("under_min_isr", "under min ISR")):
        found, verdict = pair.difference[measure], pair.verdict(measure)
        if verdict:
            size, less = (found, "fewer") if verdict > 0 else (scaled(found, -1), "more")
            told = f"{span(size)} partition-minutes a year {less} {what}"
            yield (f"With {change}: {told}, paired over the same years.")
            continue
        most = max(abs(found.low), abs(found.high or 0.0))
        limit = f"no difference found {what}; if there is one, it is below {most:,.3g} min"
        yield (f"With {change}: {limit if most else f'not a minute more or less {what}'}.")


def _gains(pair: Pair) -> tuple[float, float]:
    return pair.difference["under_min_isr"].low, pair.difference["leaderless"].low


def _seed(cluster: Cluster) -> int:
    """Of the cluster and what is assumed, so that the same question has the same answer."""
    told = sha256(msgspec.json.encode(cluster.times))
    for name in sorted(cluster.arrays):
        told.update(cluster.arrays[name].tobytes())
    return int.from_bytes(told.digest()[:6])


def write_tables(folder: Path, topics: Sequence[str], tally: UnitSums, *, seed: int, horizon_ms: int) -> None:
    """What histories of the first variant, the cluster as it is, came to, as Parquet for other tools; files there are
    replaced. Raises OSError.

    | table | a row is | columns |
    |---|---|---|
    | `units` | a unit, topic and measure | `unit`, its `first` history and number of `histories`, `topic`, `measure`, |
    | | | `sum_ms` (partition-ms), `sum_sq` (of histories), `hit` (histories above 0), `max_ms` (of the worst one) |
    | `histories` | a history | `history`, partition-ms by measure, partitions by event (`cut`, `gone`, …) |
    """
    import pyarrow as pa  # noqa: PLC0415 - takes a while to load, and few want tables
    import pyarrow.parquet as pq  # noqa: PLC0415

    arrow: Any = pa  # whose stubs do not know all of this
    parquet: Any = pq
    about = {"format": FORMAT, "seed": str(seed), "horizon_ms": str(horizon_ms)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in _tables(topics, tally).items():
        texts = {name: arrow.array(each).dictionary_encode() for name, each in columns.items() if each.dtype.hasobject}
        table = arrow.table({**columns, **texts}).replace_schema_metadata(about)
        written = arrow.BufferOutputStream()
        parquet.write_table(table, written, compression="zstd")
        write_whole(folder / f"{name}.parquet", memoryview(written.getvalue()))


def _tables(topics: Sequence[str], tally: UnitSums) -> dict[str, dict[str, NDArray[Any]]]:
    """Columns of both, sorted by unit, topic and measure, and by history."""
    arrays = tally.arrays()
    units, measures = len(arrays["unit"]), len(MEASURES)
    each = len(topics) * measures

    def by_cell(name: str) -> NDArray[Any]:
        return arrays[name][:, 0].transpose(0, 2, 1).reshape(-1)

    rows = arrays["totals"][:, 0]
    names = (*(f"{name}_ms" for name in MEASURES), *EVENTS)
    first = int(arrays["unit"][0]) * UNIT
    return {
        "units": {
            "unit": np.repeat(arrays["unit"], each),
            "first": np.repeat(arrays["unit"] * UNIT, each),
            "histories": np.repeat(arrays["histories"].astype(np.int32), each),
            "topic": np.tile(np.repeat(np.array(topics, object), measures), units),
            "measure": np.tile(np.array(MEASURES, object), units * len(topics)),
            "sum_ms": by_cell("sum"), "sum_sq": by_cell("squares"), "hit": by_cell("hit"), "max_ms": by_cell("largest"),
        },
        "histories": {
            "history": np.arange(first, first + len(rows)),
            **{name: rows[:, column] for column, name in enumerate(names)},
        },
    }  # fmt: skip
