"""`--engine` and `--spark-master`, and running an analysis as they say, with progress on a terminal."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from spark_tasks.errors import AnalysisError, JobFailed, SparkLost

if TYPE_CHECKING:
    from spark_tasks.analysis import Analysis, Arrays
    from spark_tasks.client.once import Engine, Outcome
    from tui.data.opening import Opening

Command = Callable[..., Any]
ERASE_LINE = "\r\x1b[K"


def takes_engine(command: Command) -> Command:
    """Where the work is done, which the command gets as `engine`."""

    @click.option(
        "--engine",
        "kind",
        type=click.Choice(["auto", "here", "spark"]),
        default="auto",
        help="where to compute: this process, Spark, or (auto) Spark if a master is given or the work is large",
    )
    @click.option(
        "--spark-master",
        "master",
        metavar="URL",
        default="",
        help="local[2], spark://host:7077, yarn or k8s://https://host:port; local[*] if none is given",
    )
    @wraps(command)
    def with_engine(kind: Any, master: str, **others: Any) -> Any:
        if kind == "here" and master:
            raise click.UsageError("--engine here and --spark-master exclude each other")
        from spark_tasks.client.once import Engine  # noqa: PLC0415 - takes numpy, which no help needs

        opening: Opening | None = others.get("opening")
        without = opening.login.variables if opening is not None else ()
        return command(engine=Engine(kind, master, without), **others)

    return with_engine


def compute(
    engine: "Engine", analysis: "Analysis[Any, Any]", arrays: "Arrays", parameters: Any, *, is_large: bool = False
) -> "Outcome":
    """The result and where it comes from. Raises click.ClickException: one line that says why there is none."""
    from spark_tasks.client.once import run_once  # noqa: PLC0415

    watched = sys.stderr.isatty()
    try:
        return run_once(analysis, arrays, parameters, engine, is_large=is_large, told=_tell if watched else None)
    except (AnalysisError, JobFailed, SparkLost) as error:
        raise click.ClickException(str(error)) from None
    finally:
        if watched:
            click.echo(ERASE_LINE, nl=False, err=True)


def _tell(progress: str) -> None:
    click.echo(f"{ERASE_LINE}{progress}", nl=False, err=True)
