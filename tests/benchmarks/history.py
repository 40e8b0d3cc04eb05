"""Ten million changes of a cluster in ten days, and a hundred million in a month: when the first figures are there, all
of them, and what they take.

Beside the ten days Spark, which reads the same Parquet itself: its plan leaves out what nobody asks for, and its rows
go from Java to Python.
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

SIZE, MONTH = Size(1_000_000, days=10), Size(3_360_000, days=30)
MASTER = "local[2]"


def measure(folder: Path) -> Iterator[Figure]:
    """Spark is started and warm."""
    yield from _beside_spark(folder / "days")
    changes = write(folder / "month", MONTH)
    parameters = msgspec.structs.replace(parameters_of([folder / "month"]), drills=False)
    first_s, first_cpu_s, _ = _here(_newest(parameters))
    yield Figure("first figures of a month: the newest hours", first_s, note=f"goal 10 s; {first_cpu_s:.1f} s of CPU")
    seconds, cpu_s, _ = _here(parameters)
    yield Figure(f"history of {changes / 1e6:.1f} million changes", seconds, note=_cost(cpu_s))


def _beside_spark(folder: Path) -> Iterator[Figure]:
    changes = write(folder, SIZE)
    parameters = msgspec.structs.replace(parameters_of([folder]), drills=False)
    ours_s, cpu_s, ours = _here(parameters)
    note = _cost(cpu_s)
    with RunningSpark(MASTER) as spark:
        spark.run(HISTORY, {}, _newest(parameters))
        began_s = time.perf_counter()
        theirs = history_of(spark.run(HISTORY, {}, parameters), parameters)
        spark_s = time.perf_counter() - began_s
    assert theirs == ours
    yield Figure(f"history of {changes / 1e6:.1f} million changes", ours_s, f"Spark {MASTER}", spark_s, note=note)


def _newest(parameters: HistoryParameters) -> HistoryParameters:
    """The newest day, or what of it is read first where it is large."""
    return msgspec.structs.replace(parameters, days=parameters.days[-1:])


def _cost(cpu_s: float) -> str:
    resident_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{cpu_s:.1f} s of CPU, at most {resident_mb:,.0f} MB resident"


def _here(parameters: HistoryParameters) -> tuple[float, float, HistoryResult]:
    began_s, cpu_began_s = time.perf_counter(), time.process_time()
    result = history_of(analysis.run_here(HISTORY, {}, parameters), parameters)
    return time.perf_counter() - began_s, time.process_time() - cpu_began_s, result
