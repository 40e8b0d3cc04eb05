"""`kdrill drill --each-broker` and its like: many scenarios, counted by the controller's rules.

For people: the worst scenarios, the smallest sets of brokers that must not die together, how probable a loss is.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from model.analyses import AnalysisError
from model.analyses.drills.results import (
    DEFAULT_RATE,
    DrillParameters,
    DrillResult,
    HeatMap,
    Kind,
    LossChance,
    ScenarioOutcome,
    document_of,
)
from model.analyses.drills.sweep import DRILLS
from model.analyses.image_arrays import arrays_of, racks_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.texts import brokers, counted, listed
from model.drills.voters import not_forecast, rules_text
from spark_tasks.spark_client import Engine
from tui.cli.options import compute
from tui.engine.text import cells, plain

MOST_FATAL = 10
WIDEST_HEAT = 16
HEADS = ("new offline", "new under min", "unclean", "under-replicated", "leaders moved", "most leaders")


def lines(
    result: DrillResult, image: ClusterImage, parameters: DrillParameters, engine: str, seconds: float
) -> Iterator[str]:
    """The result as text."""
    unclean = ", unclean elections allowed" if parameters.unclean else ""
    if first := not_forecast(image):
        yield first
    yield plain(f"{image.provenance.source}: what if {_who(result, parameters)} failed{unclean}")
    yield f"assumed: {rules_text(image)}; replicas stay out of sync, no broker returns"
    yield f"computed {'by ' if engine.startswith('spark') else ''}{engine} in {seconds:,.2f} s"
    yield ""
    now = result.before
    yield (
        f"now                {now.offline:,} offline, {now.under_min_isr:,} under min ISR, "
        f"{now.under_replicated:,} under-replicated, at most {max(result.leaders_before.values(), default=0):,} "
        "leaders on a broker"
    )
    hurt = _HURT_KRAFT if first else _HURT
    yield f"scenarios          {result.scenarios:,}, of which {result.hurting:,} hurt: {hurt}"
    yield from _worst(result)
    yield from _heat(result.heat)
    yield from _fatal(result)
    yield from _loss(result.loss)


_HURT = "partitions go offline, fall below min.insync.replicas, or lose records"
_HURT_KRAFT = f"{_HURT}, or nothing is elected any more"


def _who(result: DrillResult, parameters: DrillParameters) -> str:
    match parameters.kind:
        case "brokers":
            return f"each of {result.scenarios:,} brokers"
        case "pairs":
            return f"any two brokers ({result.scenarios:,} pairs)"
        case "racks":
            return f"each of {result.scenarios:,} racks"
        case "brokers-and-racks":
            return "each rack and with it any broker of another"
        case "random":
            return f"{result.scenarios:,} random sets of {counted(parameters.size, 'broker')}, seed {parameters.seed},"


def _worst(result: DrillResult) -> Iterator[str]:
    if not result.listed:
        return
    names = [plain(_victims(one)) for one in result.listed]
    width = max(len("who fails"), *map(cells, names))
    yield ""
    yield f"{'who fails':<{width}}  {'  '.join(HEADS)}"
    for one, name in zip(result.listed, names, strict=True):
        counts = one.counts
        numbers = (
            counts.newly_offline, counts.newly_under_min_isr, counts.unclean,
            counts.under_replicated, counts.leaders_moved, one.most_leaders,
        )  # fmt: skip
        row = "  ".join(f"{number:>{len(head)},}" for number, head in zip(numbers, HEADS, strict=True))
        lost = "; QUORUM LOST: nothing is elected" if one.quorum_lost else ""
        yield f"{name}{' ' * (width - cells(name))}  {row} on b{one.most_leaders_on}{lost}"
    if result.scenarios > len(result.listed):
        yield f"… {result.scenarios - len(result.listed):,} more, none of them worse: --limit lists more"


def _victims(one: ScenarioOutcome) -> str:
    if one.rack is None:
        return brokers(one.kill)
    return f"rack {one.rack}: {brokers(one.kill)}"


def _heat(heat: HeatMap | None) -> Iterator[str]:
    if heat is None or len(heat.labels) > WIDEST_HEAT or not any(map(any, heat.hurt)):
        return
    labels = [plain(label) for label in heat.labels]
    width = max(*map(cells, labels), *(len(f"{count:,}") for row in heat.hurt for count in row))
    what = "brokers" if heat.by == "broker" else "racks, the worst pair of brokers of each two"
    yield ""
    yield f"partitions hurt by pairs of {what}:"
    for label, row in zip(["", *labels], [labels, *heat.hurt], strict=True):
        texts = [text if isinstance(text, str) else f"{text:,}" if text else "·" for text in (label, *row)]
        yield "  ".join(" " * (width - cells(text)) + text for text in texts)


def _fatal(result: DrillResult) -> Iterator[str]:
    fatal = result.fatal
    yield ""
    if not fatal.counts:
        yield "minimal fatal sets none: no partition is led"
        return
    sizes = (f"{count:,} of {size}" for size, count in fatal.counts.items())
    yield f"minimal fatal sets {listed(sizes, 6)}: brokers that hold all in-sync replicas of a partition"
    for one in fatal.sets[:MOST_FATAL]:
        yield f"  {brokers(one.kill)}: {counted(one.partitions, 'partition')}"


def _loss(loss: Sequence[LossChance]) -> Iterator[str]:
    yield ""
    yield "chance of losing data if this many brokers, any of them, are lost for good at the same time:"
    for one in loss:
        who = (
            f"each broker with probability {100 * (one.rate or 0):g} %"
            if one.failed is None
            else counted(one.failed, "broker")
        )
        how = "" if one.exact else ", taking the sets for independent"
        yield (f"  {who}: {100 * one.probability:.3g} %{how}; {one.expected_partitions:.3g} partitions on average")


Command = Callable[..., Any]

LISTED, LISTED_AS_JSON, MOST_LISTED = 20, 1_000, 1_000_000
MOST_SCENARIOS, MOST_BROKERS = 1_000_000, 10_000


class WantedScenarios(msgspec.Struct, frozen=True):
    """The options that ask for many scenarios to be counted (`kind`) or played (`fleet`); both None: none does."""

    kind: Kind | None
    size: int
    count: int
    seed: int
    rate: float
    limit: int | None
    fleet: str | None
    store: Path | None = None

    @property
    def is_many(self) -> bool:
        return self.kind is not None or self.fleet is not None


_FLEET = (
    "play every scenario of these kinds in virtual time: single, pair (pair:K: one pair in K), rack, rolling, "
    "random:N; or every"
)


def _takes_fleet(command: Command) -> Command:
    """What is played in time, which the command gets as `fleet`, and where that is kept, as `store`."""

    @click.option("--fleet", metavar="KIND[,KIND...]", help=_FLEET)
    @click.option(
        "--store",
        metavar="FOLDER",
        type=click.Path(path_type=Path, file_okay=False),
        help="keep the fleet's rows there, as Parquet; what is there already is not played again",
    )
    @wraps(command)
    def with_fleet(fleet: str | None, store: Path | None, **others: Any) -> Any:
        if store is not None and fleet is None:
            raise click.UsageError("--store keeps what a fleet plays: give --fleet")
        return command(fleet=fleet, store=store, **others)

    return with_fleet


def takes_scenarios(command: Command) -> Command:
    """Which scenarios, if many, which the command gets as `wanted`."""

    def each(name: str, kind: Kind, text: str) -> Callable[[Command], Command]:
        return click.option(f"--each-{name}", "kinds", flag_value=kind, multiple=True, help=text)

    @each("broker", "brokers", "fail every live broker, one at a time")
    @each("pair", "pairs", "fail every pair of live brokers")
    @each("rack", "racks", "fail every rack")
    @each("broker-and-rack", "brokers-and-racks", "fail every rack together with each broker outside it")
    @click.option("--random", metavar="K:N", help="fail N random sets of K brokers")
    @_takes_fleet
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="seed for random scenarios")
    @click.option(
        "--failure-rate",
        metavar="PERCENT",
        type=click.FloatRange(0, 100),
        default=DEFAULT_RATE * 100,
        show_default=True,
        help="chance (%) that a broker is lost for good while another is being replaced",
    )
    @click.option(
        "--limit",
        metavar="N",
        type=click.IntRange(0, MOST_LISTED),
        help=f"scenarios to list, worst first  [default: {LISTED}; with --json {LISTED_AS_JSON:,}]",
    )
    @wraps(command)
    def with_scenarios(
        kinds: tuple[Kind, ...], random: str | None, seed: int, failure_rate: float, limit: int | None, **others: Any
    ) -> Any:
        fleet, store = others.pop("fleet"), others.pop("store")
        size, count = _random(random)
        kind: list[Kind] = [*kinds, *(["random"] if random is not None else [])]
        if len(kind) + (fleet is not None) > 1:
            raise click.UsageError("--each-..., --random and --fleet exclude each other: ask for one at a time")
        wanted = WantedScenarios(kind[0] if kind else None, size, count, seed, failure_rate / 100, limit, fleet, store)
        return command(wanted=wanted, **others)

    return with_scenarios


def drilled(
    image: ClusterImage, wanted: WantedScenarios, engine: Engine, *, unclean: bool, as_json: bool
) -> tuple[bool, Any]:
    """Whether any scenario hurts, and what to print: a document or lines. Raises click.ClickException."""
    limit = wanted.limit if wanted.limit is not None else LISTED_AS_JSON if as_json else LISTED
    assert wanted.kind is not None
    parameters = DrillParameters(
        kind=wanted.kind,
        racks=racks_of(image),
        size=wanted.size,
        count=wanted.count,
        seed=wanted.seed,
        unclean=unclean,
        listed=limit,
        failure_rate=wanted.rate,
    )
    try:
        arrays = arrays_of(image)
    except AnalysisError as error:
        raise click.ClickException(f"{image.provenance.source}: {error}") from None
    outcome = compute(engine, DRILLS, arrays, parameters)
    result: DrillResult = outcome.result
    tell = document_of if as_json else lines
    return result.hurting > 0, tell(result, image, parameters, outcome.engine, outcome.seconds)


def _random(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 0
    size, colon, count = text.partition(":")
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 8 else 0 for word in (size, count)]
    if not colon or not 1 <= numbers[0] <= MOST_BROKERS or not 1 <= numbers[1] <= MOST_SCENARIOS:
        raise click.UsageError(
            f"--random: {text!r} is not K:N, as in 3:1000 for 1,000 sets of 3 brokers (N at most {MOST_SCENARIOS:,})"
        )
    return numbers[0], numbers[1]
