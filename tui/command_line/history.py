"""`kdrill history`: what recordings tell of days and months of clusters."""

import json
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from model.cluster.words import counted
from model.recordings.errors import RecordingError
from model.recordings.times import parse_time
from spark_tasks.client.once import Engine, Outcome
from spark_tasks.history.analysis import HISTORY
from spark_tasks.history.results import FORMAT, HistoryParameters
from spark_tasks.history.selection import FOREVER_MS, parameters_of
from tui.command_line.durations import Duration
from tui.command_line.engine_options import compute, takes_engine
from tui.command_line.history_text import lines

LARGE_BYTES = 100_000_000
"""From here on Spark's start is won back on two cores, by estimate: some 20 s of work in one process."""

Command = Callable[..., Any]


class Time(click.ParamType):
    """A day or a time in ISO 8601, UTC where no offset is given → ms since epoch."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Raises click.BadParameter."""
        try:
            return parse_time(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time: write 2026-11-20 or 2026-11-20T12:03:58Z", param, ctx)


def takes_period(command: Command) -> Command:
    """`--from`, `--to`, `--last`, which the command gets as `period`: from the first to before the second, ms."""

    @click.option("--from", "from_ms", type=Time(), help="from this time on, 2026-11-20 or 2026-11-20T12:03:58Z")
    @click.option("--to", "to_ms", type=Time(), default=None, help="until before this time")
    @click.option("--last", "last_s", type=Duration(), help="from so long ago: 24h, 30d")
    @wraps(command)
    def with_period(from_ms: int | None, to_ms: int | None, last_s: float | None, **others: Any) -> Any:
        if last_s is not None and from_ms is not None:
            raise click.UsageError("--from and --last exclude each other")
        if last_s is not None:
            from_ms = time.time_ns() // 1_000_000 - round(last_s * 1000)
        period = (from_ms or 0, FOREVER_MS if to_ms is None else to_ms)
        if period[0] >= period[1]:
            raise click.UsageError("--from is not before --to")
        return command(period=period, **others)

    return with_period


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path))
@click.option("--cluster", "clusters", multiple=True, help="only this cluster; may be repeated")
@takes_period
@click.option("--no-drill", is_flag=True, help="play no drill on the worst moment")
@click.option("--all", "everything", is_flag=True, help="every topic, broker, group and outage that is known")
@click.option("--json", "as_json", is_flag=True, help="one kdrill.history/1 object")
@takes_engine
def history(
    folders: tuple[Path, ...],
    clusters: tuple[str, ...],
    period: tuple[int, int],
    no_drill: bool,
    everything: bool,
    as_json: bool,
    engine: Engine,
) -> int:
    """What happened in recorded clusters: leader flaps, ISR churn, rebalance storms, time without a leader, the worst
    moment and what a drill says of it.

    DIR is what kdrill record wrote. Times are UTC. With --spark-master the workers read the files: DIR has to be where
    they can see it.

    \b
    Example: kdrill history recordings --last 30d
             kdrill history recordings --cluster prod-eu1 --from 2026-11-01 --to 2026-12-01 --json
    """
    try:
        parameters = parameters_of([folder.absolute() for folder in folders], clusters, *period)
    except RecordingError as error:
        raise click.ClickException(str(error)) from None
    parameters = msgspec.structs.replace(parameters, drills=not no_drill)
    is_large = sum(day.size_bytes for day in parameters.days) > LARGE_BYTES
    outcome = compute(engine, HISTORY, {}, parameters, is_large=is_large)
    if not outcome.result.clusters:
        raise click.ClickException(f"{', '.join(map(str, folders))}: nothing is recorded of that time")
    if as_json:
        _print_json(folders, parameters, outcome)
    else:
        _print_text(parameters, outcome, everything)
    return 0


def _print_json(folders: tuple[Path, ...], parameters: HistoryParameters, outcome: Outcome) -> None:
    provenance = {
        "source": [str(folder) for folder in folders],
        "from_ms": parameters.from_ms,
        "to_ms": None if parameters.to_ms == FOREVER_MS else parameters.to_ms,
        "engine": outcome.engine,
        "seconds": round(outcome.seconds, 3),
    }
    # In ASCII: names come from znodes, and the line may be read on a terminal.
    document = {"format": FORMAT, **msgspec.to_builtins(outcome.result), "provenance": provenance}
    click.echo(json.dumps(document, separators=(",", ":")))


def _print_text(parameters: HistoryParameters, outcome: Outcome, everything: bool) -> None:
    for line in lines(outcome.result, everything=everything):
        click.echo(line)
    size = sum(day.size_bytes for day in parameters.days) / 1e6
    days = counted(len(parameters.days), "cluster-day")
    click.echo(f"\n{days}, {size:,.1f} MB, read in {outcome.seconds:,.1f} s, {outcome.engine}")
