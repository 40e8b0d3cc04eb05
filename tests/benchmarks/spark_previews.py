"""Rebalance previews of thousands of groups by five strategies: in this process, on Spark, in Spark's obvious shape.

The rival hands every group's rows to the same kernel by `groupBy` on an RDD (`applyInArrow` takes pandas). Its arrays
are those that ours start from; staging them out of an image is measured by itself. Spark runs already, and has seen
a job.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from model.analyses import analysis
from model.analyses.analysis import Arrays
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.result import CLASSIC_STRATEGIES, PreviewParameters
from spark_tasks import arrow_arrays
from tests.benchmarks.figure import Figure
from tests.benchmarks.previews_by_group import by_group
from tests.benchmarks.process_memory import MemoryWatch
from tests.spark.previews.many_groups import many_groups
from tests.spark.running_spark import RunningSpark

RUNS = 3
FIVE = PreviewParameters(CLASSIC_STRATEGIES[:5])
MEASURED: tuple[tuple[int, int, float, bool], ...] = (
    (2_000, 0, 0.74, True),
    (2_000, 1_000_000, 4.8, True),
    (20_000, 0, 4.7, False),
)
"""Groups, partitions of a large one among them, goal in seconds on Spark, and whether the rival is waited for."""


def measure(folder: Path) -> Iterable[Figure]:
    """The best of three runs each."""
    with RunningSpark("local[2]") as spark:
        for groups, big, goal_s, with_rival in MEASURED:
            image = many_groups(groups, big=big)
            staging_s, staged = _best(lambda image=image: stage(image), 1)
            what = f"{groups:,} groups" + (f" and one of {big:,} partitions" if big else "")
            note = f"goal {goal_s:g} s; {len(staged.arrays['lag']):,} partitions, staged in {staging_s:.2f} s"
            file = folder / f"{groups}-{big}.arrow"
            yield _compared(f"{what}, 5 strategies", spark, staged.arrays, file, note)
            if with_rival:
                yield _beside_rival(what, spark, staged.arrays, file)
        yield _one_group(spark)


def _compared(what: str, spark: RunningSpark, arrays: Arrays, file: Path, note: str) -> Figure:
    arrow_arrays.write(file, arrays)
    with MemoryWatch() as watch:
        spark.run(PREVIEWS, file, FIVE)
    cpu_s = time.process_time()
    here_s, result = _best(lambda: analysis.run_here(PREVIEWS, arrays, FIVE))
    cpu_s = (time.process_time() - cpu_s) / RUNS
    spark_s, on_spark = _best(lambda: spark.run(PREVIEWS, file, FIVE))
    assert on_spark == result
    note = f"{note}; CPU {watch.cpu_s:.1f} s, in process {cpu_s:.1f} s; {watch}"
    return Figure(f"{what}, Spark", spark_s, "in process", here_s, note=note)


def _beside_rival(what: str, spark: RunningSpark, arrays: Arrays, file: Path) -> Figure:
    ours_s, _ = _best(lambda: spark.run(PREVIEWS, file, FIVE), 1)
    rival_s = by_group(arrays, FIVE)
    return Figure(f"{what}, Spark", ours_s, "groupBy on an RDD", rival_s)


def _one_group(spark: RunningSpark) -> Figure:
    """What a key press asks: everything about one group of 300 partitions and 20 consumers."""
    image = many_groups(200)
    largest = max(image.classic_groups.values(), key=lambda group: (len(group.members), len(group.owners)))
    asked = msgspec.structs.replace(FIVE, each_leaves=True, join=2, detail=True)
    seconds, result = _best(lambda: analysis.run_here(PREVIEWS, stage(image, [largest.name]).arrays, asked))
    spark_s, on_spark = _best(lambda: spark.run(PREVIEWS, stage(image, [largest.name]).arrays, asked))
    assert on_spark == result
    shape = f"{len(largest.owners)} partitions, {len(largest.members)} consumers"
    return Figure(f"one group, each consumer dies, {shape}", seconds, "on Spark", spark_s, note="goal 1 s")


def _best(work: Callable[[], Any], runs: int = RUNS) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(runs):
        began = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - began)
    return best, result
