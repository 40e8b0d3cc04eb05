"""Failure drills over the whole cluster: every pair and every rack of 1,000 brokers, from the arrays to the result.

Spark on `local[2]`, hot, beside the same kernel in this process: a rival that tells what Spark costs and from where
on it wins. The result has the counts and the most loaded broker of every scenario, all copysets, and the chance of a
loss. `spark_large` has 10,000,000 partitions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from model.analyses import analysis
from model.analyses.analysis import Arrays
from model.analyses.drills.results import DrillParameters, DrillResult
from model.analyses.drills.sweep import DRILLS
from model.analyses.image_arrays import MANY
from model.controller.generations import GENERATIONS
from spark_tasks import arrow_arrays
from tests.benchmarks.figure import Figure
from tests.spark.running_spark import RunningSpark

BROKERS, RACKS, REPLICAS = 1_000, 20, 3
SIZES = (10_000, 100_000, 1_000_000)
ROUNDS = 3
ASKED = (
    DrillParameters(kind="pairs", racks=tuple(f"r{rack:02}" for rack in range(RACKS))),
    DrillParameters(kind="racks", racks=tuple(f"r{rack:02}" for rack in range(RACKS))),
    DrillParameters(kind="random", size=3, count=1_000),
)


def measure(folder: Path) -> Iterator[Figure]:
    """The best of three runs each; both engines find the same."""
    with RunningSpark("local[2]") as spark:
        for partitions in SIZES:
            arrays, file = cluster(partitions), folder / f"{partitions}.arrow"
            arrow_arrays.write(file, arrays)
            for parameters in ASKED:
                alone_s, cpu_s, expected = _best(
                    lambda asked=parameters, arrays=arrays: analysis.run_here(DRILLS, arrays, asked)
                )
                spark_s, _, found = _best(lambda asked=parameters, file=file: spark.run(DRILLS, file, asked))
                assert found == expected
                what = f"{found.scenarios:,} {parameters.kind}, {partitions:,} partitions, Spark"
                yield Figure(what, spark_s, "in process", alone_s, note=f"in process {cpu_s:.2f} s of CPU")
            file.unlink()


def cluster(partitions: int, seed: int = 1) -> Arrays:
    """A healthy cluster: three racks for each partition, brokers in them and leaders at random; always the same."""
    dice = np.random.default_rng(seed)
    rack = np.argsort(dice.random((partitions, RACKS), np.float32), axis=1)[:, :REPLICAS]
    replicas = (rack + RACKS * dice.integers(0, BROKERS // RACKS, (partitions, REPLICAS))).astype(np.int32)
    nothing = np.zeros(partitions, np.int64)
    return {
        "brokers": np.arange(BROKERS, dtype=np.int64),
        "live": np.ones(BROKERS, np.bool_),
        "rack": (np.arange(BROKERS) % RACKS).astype(np.int32),
        "controller": np.zeros(1, np.int32),
        "voter": np.zeros(BROKERS, np.bool_),
        "spare": np.array([MANY], np.int32),
        "rules": np.array([len(GENERATIONS) - 1], np.int32),
        "levels": np.empty(0, np.int32),
        "topic": np.zeros(partitions, np.int32),
        "partition": np.arange(partitions, dtype=np.int32),
        "replicas": np.asfortranarray(replicas),
        "strangers": np.empty((partitions, 0), np.int32),
        "elr": np.zeros(partitions, np.int64),
        "isr": np.full(partitions, (1 << REPLICAS) - 1, np.int64),
        "leader": replicas[:, 0].copy(),
        "min_isr": np.full(partitions, 2, np.int32),
        "unclean": np.zeros(partitions, np.bool_),
        "stated": np.ones(partitions, np.bool_),
        "adding": nothing,
        "removing": nothing,
    }


def _best(run: Callable[[], DrillResult]) -> tuple[float, float, DrillResult]:
    """Seconds, seconds of this process's CPU, and the result."""
    return min((_timed(run) for _ in range(ROUNDS)), key=lambda timed: timed[0])


def _timed(run: Callable[[], DrillResult]) -> tuple[float, float, DrillResult]:
    began_s, cpu_began_s = time.perf_counter(), time.process_time()
    result = run()
    return time.perf_counter() - began_s, time.process_time() - cpu_began_s, result
