"""Random years of a cluster: histories by Spark on `local[2]` and in this process, the same bytes from both.

Twelve brokers with 2,000 partitions, by all usual rates and by crashes and racks alone. How many a second of one core,
its note says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from model.analyses.analysis import run_here
from model.analyses.forecast.assumptions import USUAL
from model.analyses.forecast.clusters import broker_ids, cluster_of
from model.analyses.forecast.figures import YEAR_MS
from model.analyses.forecast.forecast import FORECAST, ForecastParameters, UnitSums, arrays_of_variants
from model.analyses.image_arrays import topics_of
from model.cluster.cluster_image import ClusterImage
from spark_tasks import arrow_arrays
from tests.benchmarks.figure import Figure
from tests.model.drills.clusters import cluster, several
from tests.spark.running_spark import RunningSpark

BROKERS, TOPICS, PARTITIONS, HISTORIES = 12, 100, 20, 40_000
CALM = USUAL.with_rate("disk.afr", 0).with_rate("churn.per_broker_y", 0).with_rate("maintenance.per_y", 0)


def measure(folder: Path) -> Iterator[Figure]:
    """One run each, the first of Spark's after a small one that warms it."""
    image = spread(BROKERS)
    brokers, topics = broker_ids([image]), topics_of(image)
    with RunningSpark("local[2]") as spark:
        for what, assumed in (("crashes and racks", CALM), ("all usual rates", USUAL)):
            variant = cluster_of(image, assumed, brokers, topics)
            arrays, file = arrays_of_variants([variant]), folder / "forecast.arrow"
            arrow_arrays.write(file, arrays)
            asked = ForecastParameters(
                seed=7, histories=HISTORIES, horizon_ms=YEAR_MS, brokers=len(brokers), topics=len(topics),
                variants=(variant.times,),
            )  # fmt: skip
            spark.run(FORECAST, file, ForecastParameters(**{**_fields(asked), "histories": 2_000}))
            began_s = time.perf_counter()
            there: UnitSums = spark.run(FORECAST, file, asked)
            spark_s = time.perf_counter() - began_s
            began_s, cpu_s = time.perf_counter(), time.process_time()
            here = run_here(FORECAST, arrays, asked)
            alone_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
            assert here == there
            note = f"in process {HISTORIES / cpu_s:,.0f} histories a second of CPU"
            yield Figure(f"{HISTORIES:,} years, {what}, Spark", spark_s, "in process", alone_s, note=note)


def _fields(parameters: ForecastParameters) -> dict[str, object]:
    return {name: getattr(parameters, name) for name in parameters.__struct_fields__}


def spread(brokers: int, seed: int = 1) -> ClusterImage:
    """Partitions at random, a replica in each of the three racks; always the same."""
    dice = np.random.default_rng(seed)
    by_rack = [[broker for broker in range(1, brokers + 1) if broker % 3 == rack] for rack in range(3)]

    def replicas() -> tuple[int, ...]:
        return tuple(int(dice.choice(by_rack[rack])) for rack in dice.permutation(3))

    topics = (several(f"t{number}", {each: replicas() for each in range(PARTITIONS)}) for number in range(TOPICS))
    return cluster(range(1, brokers + 1), *(record for records in topics for record in records))
