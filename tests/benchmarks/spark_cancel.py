"""How soon a job on Spark (`local[2]`) is over once it was cancelled: fleets, forecasts, previews, histories.

Over means: whoever waits for it is told, and both cores run the next job, which is a small one. The dashboard's `x` and
Ctrl-C wait for the first alone.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest

from model.analyses import JobCancelled
from model.analyses.analysis import Analysis
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters
from model.analyses.forecast.assumptions import USUAL
from model.analyses.forecast.clusters import broker_ids, cluster_of
from model.analyses.forecast.figures import YEAR_MS
from model.analyses.forecast.forecast import FORECAST, ForecastParameters, arrays_of_variants
from model.analyses.history.history import HISTORY
from model.analyses.history.results import parameters_of
from model.analyses.image_arrays import topics_of
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.kernel import PREVIEWS
from spark_tasks import arrow_arrays
from tests.benchmarks import recorded_changes, spark_fleet
from tests.benchmarks.figure import Figure
from tests.benchmarks.spark_previews import FIVE
from tests.spark.engine.sums import SUMS, SumsParameters
from tests.spark.previews.many_groups import many_groups
from tests.spark.running_spark import DEADLINE_S, RunningSpark

GOAL_S = 0.5
TIMES = 10
SOON_S = (0.2, 1.0)
"""After its first progress; at random: at any moment of a task."""
BUSY = "busy"
SMALL = {"values": np.arange(1000)}


class Long(NamedTuple):
    """A job that nobody waits for."""

    analysis: Analysis[Any, Any]
    arrays: Any
    parameters: Any


def measure(folder: Path) -> Iterator[Figure]:
    """Each kind of job several times."""
    dice = random.Random(1)
    with RunningSpark("local[2]") as spark:
        for name, job in _jobs(folder).items():
            told, free = zip(*(_cancelled(spark, job, f"{name} {turn}", dice) for turn in range(TIMES)), strict=True)
            note = f"median {median(told):.3f} s; cores free after {median(free):.2f} s, at most {max(free):.2f} s"
            yield Figure(f"{name} cancelled, slowest of {TIMES}", max(told), "wanted", GOAL_S, goal=1, note=note)


def _cancelled(spark: RunningSpark, job: Long, tag: str, dice: random.Random) -> tuple[float, float]:
    """Seconds until it was told, and until a small job was done."""
    doomed: Future[Any] = spark.begin(*job, tag)
    while spark.client.status.state != BUSY:
        time.sleep(0.01)
    time.sleep(dice.uniform(*SOON_S))
    began_s = time.perf_counter()
    assert spark.wait_for(spark.client.cancel(tag)), f"{tag} was over before it was cancelled: too small"
    with pytest.raises(JobCancelled):
        doomed.result(DEADLINE_S)
    told_s = time.perf_counter() - began_s
    spark.run(SUMS, SMALL, SumsParameters())
    return told_s, time.perf_counter() - began_s


def _jobs(folder: Path) -> Mapping[str, Long]:
    files = {name: folder / f"{name}.arrow" for name in ("fleet", "forecast", "previews")}
    image = spark_fleet.cluster(12, 2_000)
    arrow_arrays.write(files["fleet"], fleet_arrays(image))
    arrow_arrays.write(files["previews"], stage(many_groups(40_000)).arrays)
    brokers, topics = broker_ids([image]), topics_of(image)
    variant = cluster_of(image, USUAL, brokers, topics)
    arrow_arrays.write(files["forecast"], arrays_of_variants([variant]))
    years = ForecastParameters(
        seed=7, histories=1_000_000, horizon_ms=YEAR_MS, brokers=len(brokers), topics=len(topics),
        variants=(variant.times,),
    )  # fmt: skip
    recorded_changes.write(folder / "days", recorded_changes.Size(1_000_000, days=25))
    days = msgspec.structs.replace(parameters_of([folder / "days"]), drills=False)
    return {
        "fleet": Long(FLEET, files["fleet"], FleetParameters(generators=("random",), count=2_000)),
        "forecast": Long(FORECAST, files["forecast"], years),
        "previews": Long(PREVIEWS, files["previews"], FIVE),
        "history": Long(HISTORY, {}, days),
    }
