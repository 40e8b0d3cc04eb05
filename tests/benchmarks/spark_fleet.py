"""Fleets, scenarios a second: in one process, on `local[2]`, on one and two workers; and a scenario beside a drill.

A cluster of 12 brokers and 2,000 partitions, every broker alone and with a tenth of the pairs; all play the same
rows. Beside that, what a scenario costs in a fleet and what the same costs as a drill that is set up for itself, as the
drill's screen does; and the same on 60 brokers and 200,000 partitions. KDRILL_BENCHMARK_PARTITIONS: others than 2,000.

A million random scenarios of two brokers and two partitions, by `kdrill drill --fleet random:1000000 --spark-master
local[2] --store`, took 35 minutes at nice 10 on two cores that others used, and 1,000 to 4,000 a second when they did
not. The command took 116 MiB after 100,000 scenarios and 117 MiB from 200,000 to the last.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from model.analyses.analysis import Arrays, run_here
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters, FleetResult, scenarios
from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.topic_image import TopicImage
from model.drills.drill import run
from model.drills.scenario import ruled_by
from spark_tasks import arrow_arrays
from tests.benchmarks import drill
from tests.benchmarks.figure import Figure
from tests.benchmarks.process_memory import MemoryWatch
from tests.spark.running_spark import RunningSpark
from tests.spark.standalone_cluster import StandaloneCluster

ASKED = FleetParameters(generators=("single", "pair"), every=10)
LARGE, LARGE_BROKERS = 200_000, 60
T = TypeVar("T")
A_TOPIC = 100
"""Partitions."""


def measure(folder: Path) -> Iterator[Figure]:
    """One run each, on a Spark that has started and seen the arrays."""
    partitions = int(os.environ.get("KDRILL_BENCHMARK_PARTITIONS", "2000"))
    image = cluster(12, partitions)
    yield _beside_a_drill(image, 12)
    file = folder / "arrays.arrow"
    arrow_arrays.write(file, fleet_arrays(image))
    alone_s, cpu_s, result = _timed(lambda: run_here(FLEET, arrow_arrays.open(file), ASKED))
    count = len(result.rows)
    what = f"{count} scenarios, 12 brokers, {partitions:,} partitions"
    yield Figure(f"{what}, one process", alone_s, note=f"{count / alone_s:.1f} a second; CPU {cpu_s:.1f} s")
    with RunningSpark("local[2]") as spark:
        yield _on(spark, f"{what}, local[2]", file, result, alone_s)
    one_s = 0.0
    for count_of, workers in (("one worker", 1), ("two workers", 2)):
        (folder / f"cluster-{workers}").mkdir()
        with (
            StandaloneCluster(folder / f"cluster-{workers}", workers) as cluster_of,
            RunningSpark(cluster_of.master) as spark,
        ):
            figure = _on(spark, f"{what}, {count_of}", file, result, alone_s)
            yield figure
            one_s = one_s or figure.ours_s
    yield Figure(f"{what}, two workers", figure.ours_s, "one worker", one_s)
    if partitions < LARGE:
        yield _beside_a_drill(cluster(LARGE_BROKERS, LARGE), LARGE_BROKERS)


def cluster(brokers: int, partitions: int) -> ClusterImage:
    """Healthy, RF 3, in three racks; the same every time."""
    dice = np.random.default_rng(1)
    large = drill.cluster()
    topics = [topic for _, topic in zip(range(partitions // A_TOPIC), large.topics.values(), strict=False)]
    placed = [_placed(topic, brokers, dice) for topic in topics]
    return msgspec.structs.replace(
        large,
        brokers={
            number: BrokerImage(number, (f"PLAINTEXT://broker-{number}:9092",), f"r{number % 3}", 10**8 + number, 1)
            for number in range(1, brokers + 1)
        },
        topics={topic.name: topic for topic in placed},
    )


def _placed(topic: TopicImage, brokers: int, dice: np.random.Generator) -> TopicImage:
    first, shift = dice.integers(0, brokers, A_TOPIC), dice.integers(1, brokers // 3, A_TOPIC)
    replicas = np.stack([(first + place * shift) % brokers + 1 for place in range(3)], 1).astype(np.int32)
    return dataclasses.replace(topic, replicas=replicas, isr=replicas.copy(), leader=replicas[:, 0].copy())


def _on(spark: RunningSpark, what: str, file: Path, expected: FleetResult, alone_s: float) -> Figure:
    spark.wait_for(spark.client.start())
    spark.run(FLEET, file, msgspec.structs.replace(ASKED, end=8))
    with MemoryWatch() as watch:
        seconds, _, result = _timed(lambda: spark.run(FLEET, file, ASKED))
    assert result == expected
    note = f"{len(result.rows) / seconds:.1f} a second; CPU {watch.cpu_s:.1f} s; {watch}; load {os.getloadavg()[0]:.0f}"
    return Figure(what, seconds, "one process", alone_s, note=note)


def _beside_a_drill(image: ClusterImage, brokers: int) -> Figure:
    """The controller stays, in both; processor time, as others want the machine too."""
    asked = FleetParameters(generators=("single",), end=16)
    made = scenarios(image, asked)[:16]
    numbers = [number for number, one in enumerate(made) if one.controller not in one.scenario.felled][:6]
    arrays: Arrays = fleet_arrays(image)
    FLEET.kernel(numbers[:1], arrays, asked)
    _, fleet_s, _ = _timed(lambda: FLEET.kernel(numbers, arrays, asked))
    _, drills_s, _ = _timed(
        lambda: [run(ruled_by(image, made[number].controller), made[number].scenario).summary for number in numbers]
    )
    what = f"CPU of a scenario, {brokers} brokers, {image.partition_count:,} partitions"
    return Figure(what, fleet_s / len(numbers), "the same as a drill", drills_s / len(numbers))


def _timed(work: Callable[[], T]) -> tuple[float, float, T]:
    """Seconds, seconds of this process's CPU, and what came of it."""
    began_s, cpu_began_s = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - began_s, time.process_time() - cpu_began_s, result
