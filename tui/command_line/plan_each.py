"""`kdrill plan --each-broker`: what it costs to remove each broker in turn, as a table or a kdrill.plans/1 object."""

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from model.cluster.cluster_image import ClusterImage
from model.planning.request import PlanRequest
from model.planning.sizes import Sizes
from spark_tasks.client.once import Engine, Outcome
from spark_tasks.errors import AnalysisError
from spark_tasks.image_arrays import racks_of
from spark_tasks.plans.analysis import PLANS
from spark_tasks.plans.drill_figures import Worst
from spark_tasks.plans.results import FORMAT, Parameters, Result, WithoutBroker
from spark_tasks.plans.staging import plan_arrays
from tui.command_line.demo import json_line
from tui.command_line.engine_options import compute
from tui.command_line.plan_units import bytes_text
from tui.data.opening import Opening
from tui.text import plain

LARGE = 400_000
"""Partitions times brokers from which Spark is worth its start: about a minute of one core."""


def show(
    image: ClusterImage, sizes: Sizes | None, request: PlanRequest, engine: Engine, opening: Opening, *, as_json: bool
) -> None:
    """Computes and prints. Raises click.ClickException."""
    if request.add or request.replace or request.replication_factor is not None or request.reach == "leaders":
        raise click.UsageError("--each-broker removes brokers: nothing else can be planned with it")
    if request.topics or request.exclude:
        raise click.UsageError("--each-broker is about all topics: --topic and --exclude make no sense with it")
    parameters = Parameters(
        brokers=request.remove,
        racks=racks_of(image),
        reach=request.reach,
        by=request.by,
        tolerance_percent=request.tolerance_percent,
        capacity=request.capacity,
    )
    try:
        arrays = plan_arrays(image, sizes)
    except AnalysisError as error:
        raise click.ClickException(f"{image.provenance.source}: {error}") from None
    work = len(arrays["topic"]) * (len(parameters.brokers) or len(image.brokers))
    outcome = compute(engine, PLANS, arrays, parameters, is_large=work > LARGE)
    if as_json:
        click.echo(json_line(msgspec.to_builtins(_document(image, parameters, outcome), str_keys=True), opening))
        return
    for line in _lines(image, parameters, outcome):
        click.echo(line)


def _document(image: ClusterImage, parameters: Parameters, outcome: Outcome) -> dict[str, Any]:
    seen = image.provenance
    return {
        "format": FORMAT,
        **msgspec.structs.asdict(outcome.result),
        "provenance": {
            "source": seen.source,
            "zxid": seen.zxid,
            "time_ms": seen.time_ms,
            "parameters": parameters,
            "engine": outcome.engine,
            "seconds": round(outcome.seconds, 3),
        },
    }


def _lines(image: ClusterImage, parameters: Parameters, outcome: Outcome) -> Iterator[str]:
    result: Result = outcome.result
    yield plain(f"{image.provenance.source}: each broker removed in turn ({_REACHES[parameters.reach]})")
    yield f"computed {outcome.engine} in {outcome.seconds:.1f} s"
    yield ""
    yield f"{'':<18}{'if it dies':>11}{'to remove it:':>16}{'':>13}{'without it: spread':>20}"
    yield f"{'broker':<8}{'rack':<10}{'hurt':>11}{'copies':>9}{'bytes':>9}{'leaders':>9}{'replicas':>10}{'leaders':>9}"
    for row in result.brokers:
        yield _row(row)
    yield ""
    yield from _drills(result)
    for one in result.impossible:
        yield plain(f"! broker {one.broker}: {one.reason}")
    for row in result.brokers:
        if row.left:
            yield f"! broker {row.broker} keeps {row.left:,} partitions: being reassigned, or without a live leader"


_REACHES = {"balance": "and rebalanced", "forced": "only what it has", "racks": "and racks fixed", "leaders": ""}


def _row(row: WithoutBroker) -> str:
    size = "" if row.bytes is None else bytes_text(row.bytes)
    return (
        f"  b{row.broker:<5}{plain(row.rack or '-', 9)} {row.hurt_by_death:>11,}{row.moves:>9,}{size:>9}"
        f"{row.leader_changes:>9,}{row.replicas_spread:>10,}{row.leaders_spread:>9,}"
    )


def _hurt(worst: Worst | None) -> str:
    return "-" if worst is None else f"{worst.hurt:,}{'!' * worst.quorum_lost}"


def _drills(result: Result) -> Iterator[str]:
    if result.now.not_forecast:
        yield result.now.not_forecast
    yield f"{'worst drill: hurt':<18}{'broker':>9}{'pair':>9}{'rack':>9}{'chance of loss':>18}"
    for name, found in [("now", result.now), *((f"without b{row.broker}", row.drills) for row in result.brokers)]:
        worst = [_hurt(one) for one in (found.broker, found.pair, found.rack)]
        loss = "unknown" if found.loss is None else f"{100 * found.loss:.3g} %"
        yield f"  {name:<16}{worst[0]:>9}{worst[1]:>9}{worst[2]:>9}{loss:>18}"
    if result.now.not_forecast:
        yield "  !: the quorum loses its majority, and nothing is elected any more"
