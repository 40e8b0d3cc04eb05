"""`kdrill forecast`: random years of a cluster, and what they come to, for people or as a kdrill.forecast/1 object."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from model.analyses.forecast.figures import NOT_MODELLED, in_columns, sentences, signed_in_columns
from model.analyses.forecast.lockstep import MEASURES
from model.analyses.forecast.playing import compared
from model.cluster.texts import listed
from model.drills.setup_znodes import rules_of
from model.drills.voters import is_kraft
from model.planning.request import NewBroker
from spark_tasks.spark_client import Engine
from tui.cli.forecast_made import ForecastOptions, Made, document, make
from tui.cli.options import takes_cluster, takes_engine
from tui.cli.output import json_line, tell
from tui.engine.messages import Opening
from tui.engine.questions import SETTABLE, added_of, setting_of
from tui.engine.text import cells, plain

SAFE, FAILS = 0, 2
MOST_HISTORIES = 10_000_000
MOST_ROWS = 10
WIDTH = 100


class TopicSetting(click.ParamType):
    """`TOPIC:KEY=VALUE`."""

    name = "setting"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str, str]:
        """Raises click.BadParameter."""
        try:
            return setting_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class AddedBroker(click.ParamType):
    """`ID:RACK`."""

    name = "broker"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> NewBroker:
        """Raises click.BadParameter."""
        try:
            broker, rack = added_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return NewBroker(broker, rack or None)


class Limit(click.ParamType):
    """`MEASURE=MIN`."""

    name = "limit"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Raises click.BadParameter."""
        measure, _, text = value.partition("=")
        try:
            minutes = float(text)
        except ValueError:
            minutes = -1.0
        if measure not in MEASURES or not 0 <= minutes < 1e9:
            self.fail(f"{value!r} is not MEASURE=MIN with a MEASURE of {', '.join(MEASURES)}", param, ctx)
        return measure, minutes


@click.command()
@takes_cluster
@click.option("--years", type=click.FloatRange(0.01, 20), default=1.0, show_default=True, help="length of a history")
@click.option(
    "--histories",
    metavar="N",
    type=click.IntRange(1, MOST_HISTORIES),
    default=10_000,
    show_default=True,
    help="how many to play: the interval narrows with the square root",
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="of the random numbers; default: of the cluster itself")
@click.option(
    "--assumptions",
    "assumed",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="kdrill.assumptions/1, TOML or JSON",
)
@click.option(
    "--learn",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="how often and how long brokers were out, from this recording of kdrill record",
)
@click.option(
    "--plan",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="also with this plan, as kdrill plan -o or Kafka's tool wrote it",
)
@click.option(
    "--set",
    "settings",
    metavar="TOPIC:KEY=VALUE",
    type=TopicSetting(),
    multiple=True,
    help=f"also with this setting: {', '.join(SETTABLE)}; TOPIC may have *",
)
@click.option(
    "--add-broker",
    "add",
    metavar="ID[:RACK]",
    type=AddedBroker(),
    multiple=True,
    help="also with this broker, balanced or as --plan",
)
@click.option(
    "--fail-above",
    "limits",
    metavar="MEASURE=MIN",
    type=Limit(),
    multiple=True,
    help=f"exit 2 if a partition of any topic has certainly more minutes a year: {', '.join(MEASURES)}",
)
@click.option(
    "--within",
    metavar="PERCENT",
    type=click.FloatRange(0.1, 100),
    help="stop as soon as the cluster's minutes are known to so many percent",
)
@click.option(
    "--store",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="also write Parquet there: units.parquet and histories.parquet",
)
@click.option("--quick", is_flag=True, help="leave out what helps, and what the answer hangs on")
@click.option("--all", "everything", is_flag=True, help="list every topic, cause and rate")
@click.option("--json", "as_json", is_flag=True, help="one kdrill.forecast/1 object")
@takes_engine
def forecast(
    opening: Opening,
    limits: tuple[tuple[str, float], ...],
    everything: bool,
    as_json: bool,
    engine: Engine,
    **options: Any,
) -> int:
    """Forecast a year of a cluster: minutes without leader and under min ISR, chance of a loss, causes, what helps.

    Random histories of brokers, disks, racks, slow followers and rolling restarts are played by the controller's
    rules, from a start with all replicas in sync. Rates are from the literature, each with its source, unless
    --assumptions says otherwise. Each figure has its 95 % interval, which is of the simulation alone.

    --plan, --set and --add-broker are played beside the cluster as it is, through the same accidents.
    Ctrl-C ends early and keeps what was played. The same seed gives the same figures, wherever they are computed.

    SOURCE is zk://host:port[,host:port...][/chroot], kafka:// or controllers://host:port[,...], a snapshot, a recording
    (DIR or DIR@2026-11-20T12:03:58Z), a KRaft node's __cluster_metadata-0 (DIR, DIR@TIME, DIR@OFFSET) or .checkpoint,
    what kafka-topics --describe printed (a file, or - for standard input), or a cluster's name in the configuration.

    \b
    Example: kdrill forecast noon.json.zst
             kdrill forecast prod-eu1 --histories 100000 --plan plan.json
             kdrill forecast prod-eu1 --set 'orders*:min.insync.replicas=2'
             kdrill forecast prod-eu1 --learn recordings --assumptions ours.toml
             kdrill forecast prod-eu1 --fail-above under_min_isr=60 --json

    Exits 0, or 2 where --fail-above says so.
    """
    made = make(opening, ForecastOptions(**options), engine)
    for warning in made.warnings:
        tell(warning)
    if as_json:
        click.echo(json_line(document(made), opening))
    else:
        for line in lines(made, everything=everything):
            click.echo(line)
    return FAILS if any(_fails(made, *limit) for limit in limits) else SAFE


def _fails(made: Made, measure: str, minutes: float) -> bool:
    return any(topic.each(measure).low > minutes for topic in made.figures.topics)


def lines(made: Made, *, everything: bool = False) -> Iterator[str]:
    """The forecast as text."""
    figures, years = made.figures, made.horizon_ms / 365 / 86_400_000
    whole = "" if made.complete else f", interrupted: {made.asked:,} were asked for"
    whole = ", enough for the interval that was asked for" if made.stopped and not made.complete else whole
    length = f"{years:g} year{'' if years == 1 else 's'}"
    played = f"{figures.histories:,} random histories of {length}, seed {made.seed}{whole}"
    yield plain(f"{made.image.provenance.source}: {played}")
    rules = "KRaft's controller" if is_kraft(made.image) else f"Kafka {rules_of(made.image).since} and later"
    elr = ", with eligible leader replicas" if made.cluster.arrays["elr"].any() else ""
    yield f"assumed: rules of {rules}{elr}; all in sync at first; preferred leaders lead again at once"
    yield f"computed {'by ' if made.engine.startswith('spark') else ''}{made.engine} in {made.seconds:,.1f} s"
    yield ""
    for sentence in _told(made):
        yield from wrap(plain(sentence), WIDTH)
    yield from _topics(made, everything)
    yield from _causes(made, everything)
    yield from _helps(made)
    yield from _swings(made, everything)
    yield from _rates(made, everything)


def _told(made: Made) -> Iterator[str]:
    """In sentences."""
    yield from sentences(made.figures, made.cluster.times.detect_ms / 1000)
    if made.pair is not None:
        yield from compared(made.pair, made.change)
    rates = made.assumed.rates
    usual = sum(not rate.given for rate in rates.values())
    yield f"{usual} of {len(rates)} rates are defaults, not yours{_moves_most(made)}."
    yield f"Not modelled: {listed(NOT_MODELLED, 20)}."


def _moves_most(made: Made) -> str:
    if not made.swings or not made.swings[0].width:
        return ""
    most = made.swings[0]
    return (
        f"; {most.key} moves the answer most: {most.at_low:,.4g} to {most.at_high:,.4g} min under min ISR between "
        f"{most.low:g} and {most.high:g}"
    )


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """The first column is a name, the others are right-aligned."""
    every = [heads, *(tuple(map(plain, row)) for row in rows)]
    widths = [max(cells(row[column]) for row in every) for column in range(len(heads))]
    for row in every:
        first, *others = (
            f"{text}{' ' * (width - cells(text))}" if column == 0 else f"{' ' * (width - cells(text))}{text}"
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join((first, *others)).rstrip()


def _topics(made: Made, everything: bool) -> Iterator[str]:
    worst = sorted(made.figures.topics, key=lambda topic: (topic.badness, topic.name))
    shown = worst if everything else worst[:MOST_ROWS]
    yield ""
    yield "worst topics, minutes a partition and year:"
    rows = [
        (
            topic.name,
            f"{topic.partitions:,}",
            *in_columns(topic.each("leaderless")),
            *in_columns(topic.each("under_min_isr")),
        )
        for topic in shown
    ]
    yield from _table(("topic", "partitions", "no leader", "95 %", "under min ISR", "95 %"), rows)
    if len(worst) > len(shown):
        yield f"… {len(worst) - len(shown):,} more, none of them worse: --all lists them"


def _causes(made: Made, everything: bool) -> Iterator[str]:
    causes = made.figures.causes
    yield ""
    yield "causes, partition-minutes a year:"
    rows = [
        (cause.name, f"{cause.leaderless:,.4g}", f"{cause.under_min_isr:,.4g}")
        for cause in (causes if everything else causes[:MOST_ROWS])
    ]
    yield from _table(("cause", "no leader", "under min ISR"), rows)


def _helps(made: Made) -> Iterator[str]:
    if not made.actions:
        return
    yield ""
    yield "what helps, partition-minutes a year fewer (below 0: more), and partitions cut a year fewer:"
    rows: list[tuple[str, ...]] = []
    for action in made.actions:
        unled, under, cut = (action.pair.difference[name] for name in ("leaderless", "under_min_isr", "cut"))
        rows.append(
            (action.name, *signed_in_columns(unled), *signed_in_columns(under), f"{cut.mean:.2g}", action.price)
        )
    yield from _table(("action", "no leader", "95 %", "under min ISR", "95 %", "cut", "price"), rows)


def _swings(made: Made, everything: bool) -> Iterator[str]:
    if not made.swings:
        return
    yield ""
    yield "what the answer hangs on: partition-minutes under min ISR a year at both ends of each rate"
    shown = made.swings if everything else made.swings[:MOST_ROWS]
    rows = [(one.key, f"{one.low:g}", f"{one.high:g}", f"{one.at_low:,.4g}", f"{one.at_high:,.4g}") for one in shown]
    yield from _table(("rate", "low", "high", "at low", "at high"), rows)


def _rates(made: Made, everything: bool) -> Iterator[str]:
    yield ""
    yield "assumed:"
    rates = [rate for rate in made.assumed.rates.values() if everything or rate.given or rate.value]
    width = max(cells(rate.key) for rate in rates)
    for rate in rates:
        yield plain(f"{rate.key:<{width}}  {rate.value:>8g}  {'given: ' if rate.given else ''}{rate.source}")
