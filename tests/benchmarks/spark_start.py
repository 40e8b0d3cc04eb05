"""What Spark costs before it works, and for each job: ours beside PySpark as it comes, and beside this process.

A start is measured from a new process to the first result of a Python kernel, with the files in memory: each way is
gone once before it counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import msgspec
import numpy as np

from model.analyses import JobCancelled, analysis
from model.sandbox.processes import GONE, process_state
from spark_tasks import arrow_arrays
from spark_tasks.messages import SparkOptions
from tests.benchmarks.figure import Figure
from tests.spark.engine.held_job import DEADLINE_S, HeldJob
from tests.spark.engine.sums import SUMS, SumsParameters
from tests.spark.running_spark import RunningSpark

MASTER = "local[2]"
ROUNDS = 2
HOT_JOBS = 20

AS_IT_COMES = f"""
import sys
from pyspark.sql import SparkSession
from spark_tasks.registry import KernelTask
task = KernelTask("tests.spark.engine.sums:SUMS", b"{{}}", sys.argv[1])
context = SparkSession.builder.master("{MASTER}").getOrCreate().sparkContext
assert all(well for well, _ in context.parallelize([[unit] for unit in range(8)], 8).mapPartitions(task).collect())
print("done", flush=True)
"""
OURS = """
import asyncio, sys
from pathlib import Path
import msgspec
from spark_tasks.spark_client import SparkClient
from spark_tasks.messages import SparkOptions
from tests.spark.engine.sums import SUMS, SumsParameters
async def main():
    client = SparkClient(msgspec.json.decode(sys.argv[2], type=SparkOptions))
    assert (await client.run(SUMS, Path(sys.argv[1]), SumsParameters(slices=8), "first")).sums
    print("done", flush=True)
    await client.close()
asyncio.run(main())
"""


def measure(folder: Path) -> Iterator[Figure]:
    """The best of two starts each, after one that does not count; the median of twenty jobs."""
    arrays = {"values": np.arange(1000)}
    file = folder / "arrays"
    arrow_arrays.write(file, arrays)
    options = SparkOptions(master=MASTER, archives=str(folder / "archives"), build_archive=False)
    told = msgspec.json.encode(options).decode()
    rival_s = _best_start(AS_IT_COMES, str(file))
    yield Figure("to the first result, no archive", _best_start(OURS, str(file), told), "PySpark as it comes", rival_s)
    build_s = _build_archive(told)
    ours_s = _best_start(OURS, str(file), told)
    note = f"the archive took {build_s:.0f} s to build"
    yield Figure("to the first result, with class archive", ours_s, "PySpark as it comes", rival_s, note=note)
    with RunningSpark(MASTER, archives=str(folder / "archives")) as spark:
        spark.run(SUMS, arrays, SumsParameters())
        hot_s = median(_timed(lambda: spark.run(SUMS, arrays, SumsParameters())) for _ in range(HOT_JOBS))
        here_s = median(_timed(lambda: analysis.run_here(SUMS, arrays, SumsParameters())) for _ in range(HOT_JOBS))
        yield Figure("a hot job of next to no work", hot_s, "in process", here_s)
        yield from _cancelled(spark, folder)


def _best_start(program: str, *arguments: str) -> float:
    _start(program, arguments)
    return min(_start(program, arguments) for _ in range(ROUNDS))


def _start(program: str, arguments: tuple[str, ...]) -> float:
    began_s = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(Path.cwd())},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        return time.perf_counter() - began_s


def _build_archive(options: str) -> float:
    began_s = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "spark_tasks", "--build-archive"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(f"{options}\n".encode())
        process.stdin.flush()
        assert process.wait() == 0
    return time.perf_counter() - began_s


def _timed(work: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


def _cancelled(spark: RunningSpark, folder: Path) -> Iterator[Figure]:
    """From the wish to the news, and to the worker's end."""
    told_s: list[float] = []
    ended_s: list[float] = []
    for number in range(ROUNDS):
        held = HeldJob(folder / f"held-{number}")
        held.folder.mkdir()
        parameters = SumsParameters(folder=str(held.folder), held=(0,))
        working = spark.begin(SUMS, {"values": np.arange(9)}, parameters, "held")
        worker = held.workers()[0]
        began_s = time.perf_counter()
        spark.wait_for(spark.client.cancel("held"))
        try:
            working.result(DEADLINE_S)
        except JobCancelled:
            told_s.append(time.perf_counter() - began_s)
        while process_state(worker) not in (GONE, "Z"):
            time.sleep(0.002)
        ended_s.append(time.perf_counter() - began_s)
    yield Figure("a job is cancelled", median(told_s), note=f"its worker is gone after {median(ended_s):.2f} s")
