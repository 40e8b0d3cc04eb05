"""Spark's obvious shape for previews: a row for each partition, and each group's rows to one call of the kernel.

A process of its own, for a Spark session of its own: `python -m tests.benchmarks.previews_by_group FILE PARAMETERS`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path

import msgspec
import numpy as np

from model.analyses.analysis import Arrays
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.result import PreviewParameters
from spark_tasks import arrow_arrays

NOBODY = -1
RUNS = 2
TASKS = 8
Row = tuple[int, int, int, int]
"""Group, number, owner and lag of a partition."""


def by_group(arrays: Arrays, parameters: PreviewParameters) -> float:
    """Seconds of the best of two runs, after a first job."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "arrays.arrow")
        arrow_arrays.write(file, arrays)
        words = [str(file), msgspec.json.encode(parameters).decode()]
        command = [sys.executable, "-m", __name__, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def rows_of(arrays: Arrays) -> list[Row]:
    """A row for every partition."""
    arrays = {name: array.astype(np.int64) for name, array in arrays.items()}
    partitions = np.diff(arrays["partition_starts"])
    group = np.repeat(np.arange(len(partitions)), partitions)
    owner = np.full(len(group), NOBODY, dtype=np.int64)
    members = np.concatenate([np.arange(count) for count in np.diff(arrays["member_starts"])])
    claimed = np.repeat(arrays["partition_starts"][:-1], np.diff(arrays["claim_starts"])) + arrays["claims"]
    owner[claimed] = np.repeat(members, arrays["claim_counts"])
    number = np.arange(len(group)) - np.repeat(arrays["partition_starts"][:-1], partitions)
    columns = (group, number, owner, arrays["lag"])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def alone(arrays: Arrays, group: int, rows: list[Row]) -> Arrays:
    """The arrays of one group, out of its rows in order and of what is the same for all."""
    owner, lag = np.array([row[2:] for row in rows], dtype=np.int64).reshape(-1, 2).T
    ends = {name: arrays[name][group : group + 2].tolist() for name in STARTS}
    only = {name: arrays[name] for name in arrays if name.startswith("topic_")}
    only |= {name: arrays[name][group : group + 1] for name in ("zookeeper", "consumers")}
    for name, parts in STARTS.items():
        begin, end = ends[name]
        only[name] = np.array([0, end - begin])
        only |= {part: arrays[part][begin:end] for part in parts}
    begin, end = ends["subscription_starts"]
    bounds = arrays["subscription_topic_starts"][begin : end + 1]
    only["subscription_topic_starts"] = bounds - bounds[0]
    only["subscription_topics"] = arrays["subscription_topics"][bounds[0] : bounds[-1]]
    claims = np.argsort(owner, kind="stable")[np.count_nonzero(owner == NOBODY) :]
    return only | {"lag": lag, "claims": claims}


STARTS = {
    "group_topic_starts": ("group_topics",),
    "partition_starts": (),
    "subscription_starts": (),
    "member_starts": ("member_subscription", "member_consumer", "member_hashes", "member_ring", "claim_counts"),
    "claim_starts": (),
}


def _main(file: str, written: str) -> None:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - only in the process that is measured

    os.environ["PYSPARK_PYTHON"] = sys.executable
    arrays, parameters = arrow_arrays.open(file), msgspec.json.decode(written, type=PreviewParameters)
    context = SparkContext(conf=SparkConf().setMaster("local[2]").set("spark.ui.enabled", "false"))

    def play(rows: tuple[int, Iterable[Row]]) -> list[list[int]]:
        one = alone(arrow_arrays.open(file), rows[0], sorted(rows[1]))
        units = [unit.id for unit in PREVIEWS.units(one, parameters)]
        return PREVIEWS.kernel(units, one, parameters)["rows"].tolist()

    rows, took, found = rows_of(arrays), list[float](), list[list[int]]()
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        found = context.parallelize(rows, TASKS).groupBy(itemgetter(0), TASKS).flatMap(play).collect()
        took.append(time.perf_counter() - began)
    assert len(found) == len(arrays["zookeeper"]) * (1 + len(parameters.strategies)), len(found)
    print(min(took[1:]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
