"""What the sums of a forecast come to: minutes a year with their intervals, chances of a loss; and what helps.

Minutes are partition-minutes a year: sums over partitions, by topic and by cause. Intervals are of the simulation
alone, for the rates that were assumed. `Pair` compares two variants history by history, which lived through the same
accidents.

Actions and assumptions are such variants of a cluster. Replicas are moved and added here in the roughest way that says
what it would bring, class by class; `kdrill plan` finds the moves themselves.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from model.analyses.forecast.assumptions import Assumptions
from model.analyses.forecast.clusters import Cluster
from model.analyses.forecast.forecast import UnitSums
from model.analyses.forecast.lockstep import EVENTS, MEASURES
from model.analyses.forecast.machine import MOST_REPLICAS
from model.analyses.forecast.sampling import HOUR_MS, Floats, Longs, Times, places_of
from model.analyses.forecast.statistics import (
    Estimate,
    difference_of,
    exact,
    mean_of,
    never_seen,
    quantile,
    share,
    variance_ratio,
)

FORMAT = "kdrill.forecast/1"
YEAR_MS = 8_760 * HOUR_MS
MINUTE_MS = 60_000
QUANTILES = (0.5, 0.95, 0.99)
LOSSES = ("cut", "gone", "acked1", "tail")
LONGEST = 8
"""Mean times down of the cause that lasts longest: longer than nearly any (99.97 % of an exponential law)."""
NOT_MODELLED = (
    "software defects", "operators' mistakes", "overload", "clients", "networks that fail in part",
    "a ZooKeeper ensemble, or controllers apart from brokers, without majority",
)  # fmt: skip


class TopicFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One topic; minutes are the sum over its partitions."""

    name: str
    partitions: int
    measures: dict[str, Estimate]

    def each(self, measure: str) -> Estimate:
        """Of one partition, on average."""
        return scaled(self.measures[measure], 1 / self.partitions)

    @property
    def badness(self) -> tuple[float, ...]:
        """Worst first: by what is certain of a partition, under min ISR, then without leader."""
        return tuple(-self.each(measure).low for measure in ("under_min_isr", "leaderless"))


class CauseFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A component, or `detection`: partition-minutes a year that it is to blame for."""

    name: str
    leaderless: float
    under_min_isr: float


class LossFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Years in which it happened, and how many partitions it struck a year."""

    years_with: Estimate
    exact_low: float
    exact_high: float
    partitions: Estimate


class VariantFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One variant."""

    histories: int
    measures: dict[str, Estimate]
    quantiles: dict[str, dict[str, Estimate]]
    topics: tuple[TopicFigures, ...]
    causes: tuple[CauseFigures, ...]
    loss: dict[str, LossFigures]

    @property
    def detection_share(self) -> float:
        """Of the time without a leader: until the death is noticed and somebody elected."""
        every = sum(cause.leaderless for cause in self.causes)
        found = [cause.leaderless for cause in self.causes if cause.name == "detection"]
        return sum(found) / every if every else 0.0


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Before less after, by measure (minutes a year) and by loss (partitions a year)."""

    difference: dict[str, Estimate]
    variance_ratio: dict[str, float]

    def verdict(self, measure: str) -> int:
        """1: better, -1: worse, 0: no difference found."""
        found = self.difference[measure]
        if found.high is None:
            return 0
        return 1 if found.low > 0 else -1 if found.high < 0 else 0


def scaled(figure: Estimate, by: float) -> Estimate:
    """In another unit; of a difference, with a factor below 0, the other way round."""
    low, high = figure.low * by, None if figure.high is None else figure.high * by
    if by < 0 and high is not None:
        low, high = high, low
    return msgspec.structs.replace(figure, mean=figure.mean * by, low=low, high=high)


def figures_of(
    tally: UnitSums,
    variant: int,
    topics: Sequence[str],
    partitions: Sequence[int],
    variants: Sequence[Times],
    horizon_ms: int,
) -> VariantFigures:
    """`partitions`: by topic. `variants`: all that were played."""
    arrays = tally.arrays()
    number = int(arrays["histories"].sum())
    scale = 1 / (MINUTE_MS * horizon_ms / YEAR_MS)
    longest = LONGEST * max((one.down_ms + one.more_ms for one in variants[variant].components), default=0.0)
    totals = arrays["totals"][:, variant].astype(np.float64)
    by_measure = {name: totals[:, column] for column, name in enumerate((*MEASURES, *EVENTS))}
    every = sum(partitions)
    return VariantFigures(
        histories=number,
        measures={name: scaled(_of_all(by_measure[name], longest * every), scale) for name in MEASURES},
        quantiles={
            name: {f"{q:g}": scaled(quantile(by_measure[name], q), scale) for q in QUANTILES} for name in MEASURES
        },
        topics=tuple(_topics(arrays, variant, topics, partitions, longest, scale)),
        causes=_causes(arrays["causes"][:, variant].sum(axis=0) / number * scale, variants, horizon_ms),
        loss={name: _loss(by_measure[name], every, horizon_ms) for name in LOSSES},
    )


def _topics(
    arrays: dict[str, Any], variant: int, topics: Sequence[str], partitions: Sequence[int], longest: float, scale: float
) -> Iterator[TopicFigures]:
    number = int(arrays["histories"].sum())
    sums, squares, hit = (arrays[name][:, variant].sum(axis=0) for name in ("sum", "squares", "hit"))
    largest = arrays["largest"][:, variant].max(axis=0)
    for row, name in enumerate(topics):
        measures: dict[str, Estimate] = {}
        for column, measure in enumerate(MEASURES):
            at = (column, row)
            told = (float(sums[at]), float(squares[at]), int(hit[at]), float(largest[at]))
            measures[measure] = scaled(mean_of(*told, number, longest * partitions[row]), scale)
        if partitions[row]:
            yield TopicFigures(name=name, partitions=partitions[row], measures=measures)


def _of_all(values: Floats, longest: float) -> Estimate:
    total, squares = math.fsum(values.tolist()), math.fsum((values * values).tolist())
    return mean_of(total, squares, int(np.count_nonzero(values)), float(values.max(initial=0)), len(values), longest)


def _causes(by_cause: Floats, variants: Sequence[Times], horizon_ms: int) -> tuple[CauseFigures, ...]:
    names = ["detection", *(place.name for place in places_of(variants, horizon_ms))]
    found = [
        CauseFigures(name=name, leaderless=float(by_cause[0, row]), under_min_isr=float(by_cause[1, row]))
        for row, name in enumerate(names)
    ]
    worst = sorted(found, key=lambda cause: (-cause.under_min_isr, -cause.leaderless, cause.name))
    return tuple(cause for cause in worst if cause.leaderless > 0 or cause.under_min_isr > 0)


def _loss(values: Floats, partitions: int, horizon_ms: int) -> LossFigures:
    hit, number = int(np.count_nonzero(values)), len(values)
    low, high = exact(hit, number)
    each = _of_all(values, float(max(1, partitions)) if not hit else 0.0)
    return LossFigures(
        years_with=share(hit, number), exact_low=low, exact_high=high, partitions=scaled(each, YEAR_MS / horizon_ms)
    )


def pair_of(tally: UnitSums, before: int, after: int, horizon_ms: int) -> Pair:
    """By common random numbers: what differs between two histories of the same number."""
    rows = tally.arrays()["totals"].astype(np.float64)
    difference: dict[str, Estimate] = {}
    ratio: dict[str, float] = {}
    for column, name in enumerate((*MEASURES, *EVENTS)):
        one, other = rows[:, before, column], rows[:, after, column]
        scale = YEAR_MS / horizon_ms / (MINUTE_MS if name in MEASURES else 1)
        difference[name] = scaled(difference_of(one - other), scale)
        ratio[name] = variance_ratio(one, other)
    return Pair(difference=difference, variance_ratio=ratio)


def plain_values(value: Any) -> Any:
    """For JSON: structs as objects, and null for what is no finite number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, msgspec.Struct):
        return {name: plain_values(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, dict):
        return {str(key): plain_values(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list | tuple):
        return [plain_values(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def sentences(figures: VariantFigures, detect_s: float) -> list[str]:
    """What a forecast says first: of the worst topic, and of losses."""
    found: list[str] = []
    if figures.topics:
        worst = min(figures.topics, key=lambda topic: (topic.badness, topic.name))
        unled = worst.each("leaderless")
        found.append(
            f"In a year like the assumed one, a partition of {worst.name} is without leader {span(unled)} min; over "
            f"all topics {figures.detection_share:.0%} of that is the {detect_s:g} s until a death is noticed, and "
            "elections."
        )
        found.append(f"It is under min ISR, so that acks=all is refused, {span(worst.each('under_min_isr'))} min.")
    worst_loss = max((figures.loss[name].years_with for name in ("cut", "gone", "tail")), key=lambda one: one.mean)
    number, what = figures.histories, "Loss of acknowledged records"
    if not worst_loss.events:
        found.append(
            f"{what} was seen in none of {number:,}: below {never_seen(number):.2g} a year, if the rates hold."
        )
    else:
        low, high = worst_loss.low, 1.0 if worst_loss.high is None else worst_loss.high
        found.append(f"{what} was seen in {worst_loss.events:,} of {number:,} years ({low:.2%} to {high:.2%}).")
    return found


def span(figure: Estimate) -> str:
    """`12.4 (95 %: 9.1 to 17.0)`, to the digit that the interval allows."""
    if figure.high is None or not math.isfinite(figure.low):
        return f"{figure.mean:.3g} (no interval yet)"
    if not figure.mean and not figure.low:
        return f"none seen (below {figure.high:.2g})"
    digits = digits_of(figure)
    return f"{figure.mean:,.{digits}f} (95 %: {figure.low:,.{digits}f} to {figure.high:,.{digits}f})"


def in_columns(figure: Estimate) -> tuple[str, str]:
    """The mean, and its interval: `12.4` and `9.1 to 17.0`."""
    digits = digits_of(figure)
    high = "?" if figure.high is None else f"{figure.high:,.{digits}f}"
    mean = f"{figure.mean:,.{digits}f}" if figure.mean else f"< {figure.high or 0:.2g}"
    return mean, f"{figure.low:,.{digits}f} to {high}"


def signed_in_columns(figure: Estimate) -> tuple[str, str]:
    """The same of a difference, which may be 0 or below."""
    if figure.high is None:
        return f"{figure.mean:,.3g}", "?"
    digits = digits_of(figure)
    return f"{figure.mean:,.{digits}f}", f"{figure.low:,.{digits}f} to {figure.high:,.{digits}f}"


def digits_of(figure: Estimate) -> int:
    """Decimal places that the half-width of the interval leaves meaningful."""
    half = ((figure.high or 0.0) - figure.low) / 2
    return min(6, max(0, -math.floor(math.log10(half)) if half > 0 else 2))


HISTORIES = 2_000
"""Of each variant."""


class Remedy(NamedTuple):
    """Something that could be done, and what it takes."""

    name: str
    price: str
    cluster: Cluster


def actions_of(cluster: Cluster, racks: Sequence[int]) -> Iterator[Remedy]:
    """Those that change anything. `racks`: by place of brokers, below 0 for none."""
    times, arrays = cluster.times, cluster.arrays
    quicker = msgspec.structs.replace(times, detect_ms=times.detect_ms * 2 // 3)
    yield Remedy(
        "failures detected 1/3 sooner", f"after {quicker.detect_ms / 1000:g} s; long pauses look like failures",
        Cluster(arrays=arrays, times=quicker),
    )  # fmt: skip
    rejoin = msgspec.structs.replace(
        times, rejoin_ppm=times.rejoin_ppm // 2, rejoin_ms=times.rejoin_ms // 2,
        refill_ms=tuple(ms // 2 for ms in times.refill_ms),
    )  # fmt: skip
    yield Remedy(
        "catching up twice as fast", "more fetchers or a higher throttle", Cluster(arrays=arrays, times=rejoin)
    )
    careful = tuple(msgspec.structs.replace(one, waits=True, polite=True) for one in times.restarts)
    if careful != times.restarts:
        changed = msgspec.structs.replace(times, restarts=careful)
        yield Remedy("restarts that wait for the ISR", "rolling takes longer", Cluster(arrays=arrays, times=changed))
    yield from _on_classes(cluster, np.array(racks, np.int64))


def _on_classes(cluster: Cluster, racks: Longs) -> Iterator[Remedy]:
    arrays, times = cluster.arrays, cluster.times
    replicas = arrays["replicas"].astype(np.int64)
    size = (replicas >= 0).sum(axis=1)
    weight = np.bincount(arrays["class"], arrays["count"], len(replicas))

    def made(**changes: np.ndarray) -> Cluster:
        return Cluster(arrays={**arrays, **changes}, times=times)

    spread, moved = _spread(replicas, racks, weight)
    if moved:
        yield Remedy(
            "replicas spread over racks", f"{moved:,} replicas to move", made(replicas=spread.astype(np.int32))
        )
    added, number = _one_more(replicas, racks, weight)
    if number:
        yield Remedy("one replica more", f"{number:,} replicas to add", made(replicas=added.astype(np.int32)))
    least = arrays["min_isr"]
    if ((least > 1) & (least <= size)).any():
        fewer = np.maximum(1, np.where(least <= size, least - 1, least)).astype(np.int32)
        yield Remedy("min ISR one lower", "acknowledged records on fewer copies", made(min_isr=fewer))
    if (least < size).any():
        more = np.minimum(size, least + 1).astype(np.int32)
        yield Remedy("min ISR one higher", "acknowledged records on more copies", made(min_isr=more))
    if not arrays["unclean"].all():
        yield Remedy("unclean elections", "loses acknowledged records", made(unclean=np.ones(len(replicas), np.bool_)))


def _spread(replicas: Longs, racks: Longs, weight: np.ndarray) -> tuple[Longs, int]:
    """The last replica in a rack that another one has goes to a rack without one, if there is one."""
    after, moved = replicas.copy(), 0
    if not len(racks) or (racks < 0).any():
        return after, 0
    load = np.bincount(replicas[replicas >= 0], minlength=len(racks)).astype(np.float64)
    for row in range(len(after)):
        own = after[row][after[row] >= 0]
        for position in range(len(own) - 1, 0, -1):
            taken = set(racks[np.delete(own, position)].tolist())
            free = [place for place in range(len(racks)) if int(racks[place]) not in taken]
            if int(racks[own[position]]) in taken and free:
                own[position] = min(free, key=lambda place: (load[place], place))
                load[own[position]] += 1
                moved += int(weight[row])
        after[row, : len(own)] = own
    return after, moved


def _one_more(replicas: Longs, racks: Longs, weight: np.ndarray) -> tuple[Longs, int]:
    """In a rack without one if there is one; on the broker with fewest."""
    after = np.pad(replicas, ((0, 0), (0, 1)), constant_values=-1)
    load = np.bincount(replicas[replicas >= 0], minlength=len(racks)).astype(np.float64)
    added = 0
    for row in range(len(after)):
        own = replicas[row][replicas[row] >= 0]
        free = sorted(set(range(len(racks))) - set(own.tolist()))
        if not free or len(own) >= MOST_REPLICAS:
            continue
        taken = set(racks[own].tolist())
        best = min(free, key=lambda place: (int(racks[place]) in taken, load[place], place))
        after[row, len(own)] = best
        load[best] += 1
        added += int(weight[row])
    return after, added


def swings(assumed: Assumptions) -> Iterator[tuple[str, Assumptions, Assumptions]]:
    """Rates one at a time, at the low and at the high end of what is known of them."""
    for key, rate in assumed.rates.items():
        if rate.low < rate.high and not (key == "power.lost_share" or key.startswith(("zone.", "power.", "host."))):
            yield key, assumed.with_rate(key, rate.low), assumed.with_rate(key, rate.high)
