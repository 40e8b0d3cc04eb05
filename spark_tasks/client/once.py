"""One analysis for a command: in this process, or on a Spark that lives as long as it. Prints nothing."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from spark_tasks import here
from spark_tasks.analysis import Analysis, Arrays, ParametersT_contra, ResultT_co
from spark_tasks.client.spark_client import SparkClient
from spark_tasks.options import SparkOptions
from spark_tasks.status import SparkStatus

IN_PROCESS = "in process"
LOCAL = "local[*]"


class Engine(msgspec.Struct, frozen=True):
    """What a command was told: `auto` is Spark where a master is named or the work is large, this process otherwise."""

    kind: Literal["auto", "here", "spark"] = "auto"
    master: str = ""
    without: tuple[str, ...] = ()
    """Environment variables that Spark's processes do not get."""

    def is_spark(self, is_large: bool) -> bool:
        """Whether Spark is to do work of that size."""
        return self.kind == "spark" or (self.kind == "auto" and (is_large or bool(self.master)))


class Outcome(msgspec.Struct, frozen=True):
    """A result, and where it comes from."""

    result: Any
    engine: str
    """`in process`, or `spark local[2]`."""
    seconds: float
    """For the analysis, without the start of Spark."""


def run_once(
    analysis: Analysis[ParametersT_contra, ResultT_co],
    arrays: Arrays,
    parameters: ParametersT_contra,
    engine: Engine,
    *,
    is_large: bool = False,
    told: Callable[[str], object] | None = None,
) -> Outcome:
    """`told` hears of progress, in a few words. A KeyboardInterrupt cancels the work, and goes on.

    Raises AnalysisError (in this process), JobFailed and SparkLost (on Spark).
    """
    if engine.is_spark(is_large):
        return asyncio.run(_on_spark(analysis, arrays, parameters, engine, told))
    began_s = time.perf_counter()

    def progress(done: int, every: int) -> None:
        if told is not None:
            told(f"{done} of {every} tasks")

    result = here.run(analysis, arrays, parameters, told=None if told is None else progress)
    return Outcome(result, IN_PROCESS, time.perf_counter() - began_s)


async def _on_spark(
    analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, engine: Engine, told: Callable[[str], object] | None
) -> Outcome:
    master = engine.master or LOCAL

    def hear(status: SparkStatus) -> None:
        if told is not None and (text := _in_words(status)):
            told(text)

    client = SparkClient(SparkOptions(master=master, build_archive=False), hear, without=engine.without)
    try:
        await client.start()
        began_s = time.perf_counter()
        result = await client.run(analysis, arrays, parameters, analysis.name)
        return Outcome(result, f"spark {master}", time.perf_counter() - began_s)
    finally:
        await client.close()


def _in_words(status: SparkStatus) -> str:
    if status.state == "starting":
        return f"starting Spark on {status.master}, {status.seconds:.0f} s"
    return ", ".join(f"{job.tasks[0]} of {job.tasks[1]} tasks, {job.seconds:.0f} s" for job in status.jobs)
