"""Jobs on a real standalone cluster of two workers, which get the code from the session."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from model.analyses import JobCancelled, analysis
from spark_tasks.session.spark_jobs import KEPT, PART_BYTES
from tests.harness.waiting import eventually
from tests.spark.engine.held_job import DEADLINE_S, HeldJob, parent_of
from tests.spark.engine.sums import SUMS, SumsParameters
from tests.spark.running_spark import RunningSpark
from tests.spark.standalone_cluster import StandaloneCluster

ARRAYS = {"values": np.arange(1000)}

pytestmark = pytest.mark.thorough  # a master and two workers for what local Spark does, too


def test_the_result_is_the_same_as_here_by_code_from_the_session(cluster_spark: RunningSpark):
    for slices in (0, 1, 100):
        result = cluster_spark.run(SUMS, ARRAYS, SumsParameters(slices=slices))
        assert result.sums == analysis.run_here(SUMS, ARRAYS, SumsParameters(slices=slices)).sums
        assert all("kdrill-code.zip" in place for place in result.code)


def test_arrays_of_several_parts_are_mapped_by_workers_elsewhere(cluster_spark: RunningSpark):
    arrays = {"values": np.arange(PART_BYTES // 8 + 1000)}
    parameters = SumsParameters(slices=8)
    assert cluster_spark.run(SUMS, arrays, parameters).sums == analysis.run_here(SUMS, arrays, parameters).sums


def test_executors_keep_only_the_last_arrays(cluster_spark: RunningSpark, spark_cluster: StandaloneCluster):
    for first in range(KEPT + 2):
        arrays = {"values": np.arange(first, 1000)}
        assert (
            cluster_spark.run(SUMS, arrays, SumsParameters()).sums
            == analysis.run_here(SUMS, arrays, SumsParameters()).sums
        )
    kept = Counter(path.parent for path in spark_cluster.folder.glob("work-*/*/*/arrays-*"))
    assert len(kept) >= 2
    assert max(kept.values()) <= KEPT


def test_an_executor_gets_code_and_arrays_once(cluster_spark: RunningSpark, spark_cluster: StandaloneCluster):
    """However many jobs are about the same arrays, as those of a fleet in waves are."""

    def kept(pattern: str) -> dict[Path, int]:
        found = spark_cluster.folder.glob(f"work-*/*/*/{pattern}")
        return {path: path.stat().st_ino for path in found}

    arrays = {"values": np.arange(100_000)}
    before = kept("arrays-*.arrow")
    cluster_spark.run(SUMS, arrays, SumsParameters(slices=8))
    after_one, code = kept("arrays-*.arrow"), kept("kdrill-code.zip")
    for slices in (8, 16, 32):
        cluster_spark.run(SUMS, arrays, SumsParameters(slices=slices))
    assert kept("arrays-*.arrow") == after_one
    assert kept("kdrill-code.zip") == code
    new = Counter(path.parent for path in after_one.keys() - before.keys())
    assert new and set(new.values()) == {1}
    assert set(Counter(path.parent for path in code).values()) == {1}


def test_both_workers_work(cluster_spark: RunningSpark, tmp_path: Path):
    held = HeldJob(tmp_path)
    parameters = SumsParameters(slices=8, folder=str(tmp_path), held=tuple(range(8)))
    working = cluster_spark.begin(SUMS, ARRAYS, parameters, "spread")
    daemons = {parent_of(pid) for pid in held.workers(2).values()}
    assert len({parent_of(pid) for pid in daemons}) == 2
    held.let_go()
    working.result(DEADLINE_S)


def test_cancelled(cluster_spark: RunningSpark, tmp_path: Path, is_gone):
    parameters = SumsParameters(slices=8, folder=str(tmp_path), held=(0,))
    working = cluster_spark.begin(SUMS, ARRAYS, parameters, "doomed")
    worker = HeldJob(tmp_path).workers()[0]
    assert cluster_spark.wait_for(cluster_spark.client.cancel("doomed"))
    with pytest.raises(JobCancelled, match="doomed"):
        working.result(DEADLINE_S)
    eventually(lambda: is_gone(worker))


def test_an_executor_that_is_killed_in_mid_job(cluster_spark: RunningSpark, tmp_path: Path):
    held = HeldJob(tmp_path)
    parameters = SumsParameters(slices=8, folder=str(tmp_path), held=(0,))
    working = cluster_spark.begin(SUMS, ARRAYS, parameters, "hurt")
    executor = parent_of(parent_of(held.workers()[0]))
    os.kill(executor, signal.SIGKILL)
    held.let_go()
    assert working.result(DEADLINE_S).sums == analysis.run_here(SUMS, ARRAYS, SumsParameters(slices=8)).sums


def test_a_worker_that_is_killed_costs_its_own_tasks_only(tmp_path: Path):
    held = HeldJob(tmp_path / "held")
    held.folder.mkdir()
    parameters = SumsParameters(slices=8, folder=str(held.folder), held=tuple(range(8)))
    for unit in range(1, 8):
        held.let_go(unit)
    with StandaloneCluster(tmp_path) as cluster, RunningSpark(cluster.master) as spark:
        spark.wait_for(spark.client.start())
        working = spark.begin(SUMS, ARRAYS, parameters, "hurt")
        first = held.workers(8)[0]
        eventually(lambda: [job.tasks for job in spark.client.status.jobs] == [(7, 8)])
        executor = parent_of(parent_of(first))
        worker = parent_of(executor)
        assert b"worker.Worker" in Path(f"/proc/{worker}/cmdline").read_bytes()
        for pid in (worker, executor):
            os.kill(pid, signal.SIGKILL)
        held.let_go(0)
        assert working.result(DEADLINE_S).sums == analysis.run_here(SUMS, ARRAYS, SumsParameters(slices=8)).sums
    ran = Counter(file.name.split("-")[1] for file in held.folder.glob("at-*"))
    assert {unit for unit, times in ran.items() if times > 1} <= {"0"}
