"""Drills over 10,000,000 partitions, ten large clusters' worth, in bounded memory: `local[2]`, and two workers.

Beside numpy in this process, turn by turn, for others on the machine make both dearer: pages are zeroed and caches are
shared. A Spark's first turn is its dearest, as its workers' memory grows. All find the same.
KDRILL_BENCHMARK_PARTITIONS: others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from model.analyses import analysis
from model.analyses.analysis import Arrays
from model.analyses.drills.results import DrillParameters, DrillResult
from model.analyses.drills.sweep import DRILLS
from spark_tasks import arrow_arrays
from tests.benchmarks.figure import Figure
from tests.benchmarks.process_memory import MemoryWatch
from tests.benchmarks.spark_drills import RACKS, cluster
from tests.spark.running_spark import RunningSpark
from tests.spark.standalone_cluster import StandaloneCluster

PARTITIONS = 10_000_000
TURNS = 3
GOAL = 1 / 1.2
"""Spark may take 1.2 times numpy's processor time."""
AT_ONCE = 1_000_000
"""So many are made at a time: making them takes more memory than having them."""
PER_PARTITION = ("topic", "partition", "replicas", "strangers", "isr", "elr", "leader", "min_isr", "unclean", "stated",
                 "adding", "removing")  # fmt: skip
ASKED = (
    DrillParameters(kind="pairs", racks=tuple(f"r{rack:02}" for rack in range(RACKS))),
    DrillParameters(kind="racks", racks=tuple(f"r{rack:02}" for rack in range(RACKS))),
)


def measure(folder: Path) -> Iterator[Figure]:
    """Some turns of each, on a Spark that has started."""
    partitions = int(os.environ.get("KDRILL_BENCHMARK_PARTITIONS", PARTITIONS))
    file = folder / "arrays.arrow"
    arrow_arrays.write(file, clusters(partitions))
    with RunningSpark("local[2]") as spark:
        yield from _on(spark, "local[2]", file, partitions)
    (folder / "cluster").mkdir()
    with StandaloneCluster(folder / "cluster") as cluster, RunningSpark(cluster.master) as spark:
        yield from _on(spark, "two workers", file, partitions)


def clusters(partitions: int) -> Arrays:
    """As one cluster of so many partitions, each million placed anew."""
    sizes = [min(AT_ONCE, partitions - first) for first in range(0, partitions, AT_ONCE)]
    parts = [cluster(size, seed) for seed, size in enumerate(sizes)]
    return {
        name: np.asfortranarray(np.concatenate([part[name] for part in parts])) if name in PER_PARTITION else array
        for name, array in parts[0].items()
    }


def _on(spark: RunningSpark, where: str, file: Path, partitions: int) -> Iterator[Figure]:
    spark.wait_for(spark.client.start())
    for parameters in ASKED:
        turns = [_turn(spark, file, parameters) for _ in range(TURNS)]
        alone_s, alone_cpu_s, spark_s, spark_cpu_s = (sum(each) / TURNS for each in zip(*turns, strict=True))
        what = f"{parameters.kind}, {partitions:,} partitions, {where}"
        yield Figure(what, spark_s, "numpy in process", alone_s)
        ratios = ", ".join(f"{there / here:.2f}" for _, here, _, there in turns)
        note = f"Spark's is {ratios} times numpy's; load {os.getloadavg()[0]:.0f}"
        yield Figure(f"CPU of {what}", spark_cpu_s, "numpy's CPU", alone_cpu_s, goal=GOAL, note=note)


def _turn(spark: RunningSpark, file: Path, parameters: DrillParameters) -> tuple[float, float, float, float]:
    """Seconds of numpy, and of its processor time; then those of Spark, of all its processes."""
    alone_s, cpu_s, expected = _timed(parameters, file)
    began_s = time.perf_counter()
    with MemoryWatch() as watch:
        found = spark.run(DRILLS, file, parameters)
        seconds = time.perf_counter() - began_s
    assert found == expected
    return alone_s, cpu_s, seconds, watch.cpu_s


def _timed(parameters: DrillParameters, file: Path) -> tuple[float, float, DrillResult]:
    """Seconds, seconds of this process's CPU, and the result."""
    arrays = arrow_arrays.open(file)
    began_s, cpu_began_s = time.perf_counter(), time.process_time()
    result = analysis.run_here(DRILLS, arrays, parameters)
    return time.perf_counter() - began_s, time.process_time() - cpu_began_s, result
