"""How commands have long work done: in waves, each of which is there before the next begins.

What came before somebody interrupts stays. What takes no time is not cut.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import click

from model.analyses import AnalysisError
from model.analyses.analysis import Analysis, Arrays, RunInProcess, Wave
from model.analyses.engine_costs import KeptCosts, takes_long, work_of
from spark_tasks.engines import OnProgress, costs_file, engines_of
from spark_tasks.messages import JobFailed, SparkLost
from spark_tasks.spark_client import Engine, EngineResult
from spark_tasks.worker import Waves
from tui.cli.options import compute
from tui.cli.output import progress, tell
from tui.engine.sheets import duration_text

Parts = Callable[[Callable[[], float]], Iterator[Wave]]
"""What the next wave should cost → the waves."""


class Came(NamedTuple):
    """A wave that is done, and what came of it."""

    wave: Wave
    result: Any
    run: Waves
    told: OnProgress

    def tell(self, done: str) -> None:
        """How far all of it is, with how long the rest takes."""
        left = duration_text(round(1_000 * max(self.run.left_s(self.wave.left), 1)))
        self.told(f"{done}, about {left} left")


def played(
    engine: Engine, analysis: Analysis[Any, Any], arrays: Arrays, parts: Parts, *, first: float, apart: bool
) -> Generator[Came]:
    """Wave after wave, as they come; `first` and `apart` as `Waves` has them.

    Raises click.ClickException. A KeyboardInterrupt ends it, and what is at it, at once; so does who wants no more.
    """
    try:
        with ExitStack() as open:
            told = open.enter_context(progress()) or _nobody
            runner = open.enter_context(asyncio.Runner())
            coming = _coming(engine, analysis, arrays, parts, told, first, apart)
            open.callback(lambda: runner.run(coming.aclose()))
            while (came := runner.run(_next(coming))) is not None:
                yield came
    except (AnalysisError, JobFailed, SparkLost) as error:
        raise click.ClickException(str(error)) from None


async def _coming(
    engine: Engine,
    analysis: Analysis[Any, Any],
    arrays: Arrays,
    parts: Parts,
    told: OnProgress,
    first: float,
    apart: bool,
) -> AsyncGenerator[Came]:
    async with engines_of(engine, told, costs_file()) as engines:
        run = Waves(engines, analysis.name, engine.wanted, first=first, apart=apart)
        try:
            async for wave, result in run.over(analysis, arrays, parts(run.budget)):
                yield Came(wave, result, run, told)
        finally:
            await run.close()


async def _next(coming: AsyncGenerator[Came]) -> Came | None:
    return await anext(coming, None)


def _nobody(_: str) -> None:
    """Nobody looks on."""


class Computed(NamedTuple):
    """Parameters and results of all waves that came; how far that is, in a sentence, where somebody interrupted."""

    parts: Sequence[Any]
    results: Sequence[Any]
    outcome: EngineResult
    partial: str = ""


def computed(
    engine: Engine,
    analysis: Analysis[Any, Any],
    arrays: Arrays,
    parameters: Any,
    parts: Parts,
    count: Callable[[Any], int],
    unit: str,
    *,
    first: float,
) -> Computed:
    """All of it, or what came before an interruption: `partial: 3 of 10 groups`, which is told as well. `count` says
    how many such units parameters ask for.

    Raises click.ClickException; KeyboardInterrupt where nothing came.
    """
    try:
        work = work_of(RunInProcess(analysis, arrays, parameters))
    except AnalysisError as error:
        raise click.ClickException(str(error)) from None
    if not takes_long(KeptCosts(costs_file()).costs, work):
        found = compute(engine, analysis, arrays, parameters)
        return Computed([parameters], [found.result], found)
    came: list[Came] = []
    every, done, partial = count(parameters), 0, ""
    try:
        for one in played(engine, analysis, arrays, parts, first=first, apart=True):
            came.append(one)
            done += count(one.wave.parameters)
            one.tell(f"{done:,} of {every:,} {unit}")
    except KeyboardInterrupt:
        if not came:
            raise
        partial = f"partial: {done:,} of {every:,} {unit}"
        tell(f"interrupted: what follows is {partial}")
    outcome = came[-1].run.so_far(None)
    return Computed([one.wave.parameters for one in came], [one.result for one in came], outcome, partial)
