"""How a question is put to the engines: once, for a command, or in waves, each shown before the next begins.

A wave takes about as long wherever it is done: how much that is, is judged by the waves before it.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from model.analyses.analysis import Analysis, Arrays, Wave
from model.analyses.engine_costs import TASKS_HERE, after_here, outlook, work_of
from model.hosts.child_process import FAREWELL_S
from spark_tasks.engines import Engines, KeptCosts, OnProgress, begun
from spark_tasks.messages import SparkOptions, SparkStatus
from spark_tasks.spark_client import IN_PROCESS, LOCAL, Engine, EngineResult, Kind
from spark_tasks.worker import Worker

WAVE_S = 4.0
"""About how long a wave takes."""
THEN = ", then "


def _nobody(_: str) -> None:
    """Waves tell how far the whole is."""


class Waves:
    """One question on its way. For one event loop; `close` ends its work."""

    def __init__(
        self, engines: Engines, tag: str, kind: Kind, *, first: float, apart: bool = False, wave_s: float = WAVE_S
    ) -> None:
        """`first`: what the first wave costs. `apart`: in this process it would keep others waiting, so that what is
        not done on Spark is done in a process beside it."""
        self._engines, self._tag = engines, tag
        self._kind: Kind = kind
        self._worker = Worker() if apart and kind != "spark" else None
        self._budget, self._wave_s = first, wave_s
        self._began_s, self._done = time.monotonic(), 0.0
        self._total = EngineResult(None, "", 0.0)

    def budget(self) -> float:
        """How much the next wave should cost."""
        return self._budget

    async def over(
        self, analysis: Analysis[Any, Any], arrays: Arrays, parts: Iterator[Wave]
    ) -> AsyncGenerator[tuple[Wave, Any]]:
        """One wave after the other, and what comes of it. Raises what engines raise."""
        while (wave := await asyncio.to_thread(next, parts, None)) is not None:
            yield wave, await self.play(analysis, arrays, wave)

    async def play(self, analysis: Analysis[Any, Any], arrays: Arrays, wave: Wave) -> Any:
        """What comes of one wave."""
        found = await self._engines.run(
            analysis, arrays, wave.parameters, tag=self._tag, told=_nobody, kind=self._kind, ahead=wave.left,
            worker=self._worker,
        )  # fmt: skip
        self._add(found)
        self._done += wave.cost
        speed = wave.cost / max(found.seconds, 1e-3)
        self._budget = min(max(speed * self._wave_s, wave.cost / 2), 2 * wave.cost)
        return found.result

    def left_s(self, left: float) -> float:
        """About how many seconds it takes to do what costs so much."""
        return (time.monotonic() - self._began_s) * left / self._done if self._done else 0.0

    def so_far(self, result: Any) -> EngineResult:
        """With where waves were done, why the last one was, and what all of them took."""
        return msgspec.structs.replace(self._total, result=result)

    def _add(self, found: EngineResult) -> None:
        total = self._total
        engines = dict.fromkeys(filter(None, [*total.engine.split(THEN), *found.engine.split(THEN)]))
        self._total = EngineResult(
            None,
            THEN.join(engines),
            total.seconds + found.seconds,
            total.cpu_s + found.cpu_s,
            total.tasks + found.tasks,
            found.why,
        )

    async def close(self) -> None:
        """What is under way is ended at once."""
        if self._worker is not None:
            await self._worker.close()


def run_once(
    analysis: Analysis[Any, Any],
    arrays: Arrays,
    parameters: Any,
    engine: Engine,
    *,
    told: OnProgress | None = None,
    kept: Path | None = None,
) -> EngineResult:
    """For a command. `told` hears of progress, in a few words. A KeyboardInterrupt cancels the work, and goes on.

    Raises AnalysisError; JobFailed and SparkLost where it has to be on Spark.
    """
    tell: OnProgress = told or (lambda _: None)
    known, kind = KeptCosts(kept), engine.wanted
    run = begun(analysis, arrays, parameters, kind, known.costs, TASKS_HERE)
    work = work_of(run.course)
    seen = outlook(known.costs, work, engine.master or LOCAL, os.cpu_count() or 1)
    if kind == "spark" or (kind == "auto" and seen.is_worth_a_start):
        return asyncio.run(_beside_spark(analysis, arrays, parameters, engine, tell, kept))
    run.why = run.why or seen.in_words
    done = run.result(IN_PROCESS, run.work_on(tell))
    known.change(lambda before: after_here(before, work, done.seconds))
    return done


async def _beside_spark(
    analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, engine: Engine, told: OnProgress, kept: Path | None
) -> EngineResult:
    async with engines_of(engine, told, kept) as engines:
        return await engines.run(analysis, arrays, parameters, tag=analysis.name, told=told, kind=engine.wanted)


HURRY_S = 0.2
"""Whoever was interrupted does not wait for Spark to end in order."""


@asynccontextmanager
async def engines_of(engine: Engine, told: OnProgress, kept: Path | None) -> AsyncGenerator[Engines]:
    """As a command wants them, ended afterwards. `told` hears of Spark, in a few words."""

    def hear() -> None:
        if engine.wanted == "spark" or engines.status.jobs:
            told(_in_words(engines.status))

    options = SparkOptions(build_archive=False)
    engines = Engines(engine.master or LOCAL, hear, kept, options=options, without=engine.without)
    patience_s = HURRY_S
    try:
        yield engines
        patience_s = FAREWELL_S
    finally:
        await engines.close(patience_s)


def _in_words(status: SparkStatus) -> str:
    if status.state == "starting":
        return f"starting Spark on {status.master}, {status.seconds:.0f} s"
    return ", ".join(f"{job.tasks[0]} of {job.tasks[1]} tasks, {job.seconds:.0f} s" for job in status.jobs)
