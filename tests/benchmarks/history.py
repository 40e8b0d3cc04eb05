"""Ten million changes of a cluster in ten days: when the first figures are there, all of them, and what they take.

Beside it Spark, which reads the same Parquet itself: its plan leaves out what nobody asks for, and its rows go from
Java to Python.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from model.analyses import analysis
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.results import HistoryParameters, HistoryResult, parameters_of
from tests.benchmarks.figure import Figure
from tests.benchmarks.recorded_changes import Size, write
from tests.spark.running_spark import RunningSpark

SIZE = Size(1_000_000, days=10)
MASTER = "local[2]"


def measure(folder: Path) -> Iterator[Figure]:
    """Spark is started and warm."""
    changes = write(folder, SIZE)
    parameters = msgspec.structs.replace(parameters_of([folder]), drills=False)
    newest = msgspec.structs.replace(parameters, days=parameters.days[-1:])
    first_s, _, _ = _here(newest)
    yield Figure("first figures: the newest day", first_s, note="goal 10 s, of a hundred times as much")
    ours_s, cpu_s, ours = _here(parameters)
    resident_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with RunningSpark(MASTER) as spark:
        spark.run(HISTORY, {}, newest)
        began_s = time.perf_counter()
        theirs = history_of(spark.run(HISTORY, {}, parameters), parameters)
        spark_s = time.perf_counter() - began_s
    assert theirs == ours
    note = f"{cpu_s:.1f} s of CPU, at most {resident_mb:,.0f} MB resident"
    yield Figure(f"history of {changes / 1e6:.1f} million changes", ours_s, f"Spark {MASTER}", spark_s, note=note)


def _here(parameters: HistoryParameters) -> tuple[float, float, HistoryResult]:
    began_s, cpu_began_s = time.perf_counter(), time.process_time()
    result = history_of(analysis.run_here(HISTORY, {}, parameters), parameters)
    return time.perf_counter() - began_s, time.process_time() - cpu_began_s, result
