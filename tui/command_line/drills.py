"""`kdrill drill --each-broker` and its like: all such scenarios, counted by the controller's rules."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from spark_tasks.client.once import Engine
from spark_tasks.drills.analysis import DRILLS
from spark_tasks.drills.document import document_of
from spark_tasks.drills.results import DEFAULT_RATE, Kind, Parameters, Result
from spark_tasks.errors import AnalysisError
from spark_tasks.image_arrays import arrays_of, racks_of
from tui.command_line.drills_text import lines
from tui.command_line.engine_options import compute

Command = Callable[..., Any]

LISTED, LISTED_AS_JSON, MOST_LISTED = 20, 1_000, 1_000_000
MOST_SCENARIOS, MOST_BROKERS = 1_000_000, 10_000
LARGE = 300_000_000
"""Replicas that scenarios touch, from which on Spark is quicker although it has to start first: see the benchmark
`spark_drills`. All pairs touch each replica once; random scenarios those of their brokers, each time anew."""


class Wanted(msgspec.Struct, frozen=True):
    """The options that ask for many scenarios; `kind` None: none does."""

    kind: Kind | None
    size: int
    count: int
    seed: int
    rate: float
    limit: int | None


def takes_scenarios(command: Command) -> Command:
    """Which scenarios, if many, which the command gets as `wanted`."""

    def each(name: str, kind: Kind, text: str) -> Callable[[Command], Command]:
        return click.option(f"--each-{name}", "kinds", flag_value=kind, multiple=True, help=text)

    @each("broker", "brokers", "every live broker dies, one at a time")
    @each("pair", "pairs", "every two live brokers die")
    @each("rack", "racks", "every rack dies")
    @each("broker-and-rack", "brokers-and-racks", "every rack dies, and with it every broker of another rack in turn")
    @click.option("--random", metavar="K:N", help="N random sets of K brokers die")
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="of --random")
    @click.option(
        "--failure-rate",
        metavar="PERCENT",
        type=click.FloatRange(0, 100),
        default=DEFAULT_RATE * 100,
        show_default=True,
        help="how probable it is that a broker dies for good before the loss of another is made good",
    )
    @click.option(
        "--limit",
        metavar="N",
        type=click.IntRange(0, MOST_LISTED),
        help=f"scenarios to list, the worst first  [default: {LISTED}; with --json {LISTED_AS_JSON:,}]",
    )
    @wraps(command)
    def with_scenarios(
        kinds: tuple[Kind, ...], random: str | None, seed: int, failure_rate: float, limit: int | None, **others: Any
    ) -> Any:
        size, count = _random(random)
        kind: list[Kind] = [*kinds, *(["random"] if random is not None else [])]
        if len(kind) > 1:
            raise click.UsageError("--each-... and --random exclude each other: ask for one at a time")
        wanted = Wanted(kind[0] if kind else None, size, count, seed, failure_rate / 100, limit)
        return command(wanted=wanted, **others)

    return with_scenarios


def drilled(image: ClusterImage, wanted: Wanted, engine: Engine, *, unclean: bool, as_json: bool) -> tuple[bool, Any]:
    """Whether a scenario hurts, and what to print: a document or lines. Raises click.ClickException, of one line."""
    limit = wanted.limit if wanted.limit is not None else LISTED_AS_JSON if as_json else LISTED
    assert wanted.kind is not None
    parameters = Parameters(
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
    outcome = compute(engine, DRILLS, arrays, parameters, is_large=_is_large(image, wanted))
    result: Result = outcome.result
    tell = document_of if as_json else lines
    return result.hurting > 0, tell(result, image, parameters, outcome.engine, outcome.seconds)


def _is_large(image: ClusterImage, wanted: Wanted) -> bool:
    replicas = sum(topic.replicas.size for topic in image.topics.values())
    share = 1.0 if wanted.kind != "random" else wanted.size * wanted.count / max(1, len(image.brokers))
    return replicas * share > LARGE


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
