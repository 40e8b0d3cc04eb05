"""Jobs on a real Spark, `local[2]`: results, progress, cancellation, failures, and workers that are killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest

from model.analyses import JobCancelled, analysis
from spark_tasks import arrow_arrays
from spark_tasks.messages import JobFailed, JobStatus
from tests.harness.waiting import eventually
from tests.spark.engine.held_job import DEADLINE_S, HeldJob
from tests.spark.engine.sums import SUMS, SumsParameters
from tests.spark.running_spark import RunningSpark

ARRAYS = {"values": np.arange(1000), "unused": np.zeros((2, 3), bool)}


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldJob]:
    held = HeldJob(tmp_path)
    yield held
    held.let_go()


def status_of(spark: RunningSpark, tag: str) -> JobStatus:
    """Of a job that may not be there."""
    return next((job for job in spark.client.status.jobs if job.tag == tag), JobStatus(tag="", analysis=""))


def held_parameters(held: HeldJob, *units: int, slices: int = 8) -> SumsParameters:
    return SumsParameters(slices=slices, folder=str(held.folder), held=units)


@pytest.mark.parametrize("slices", [0, 1, 100, 50_000])
def test_the_result_is_the_same_as_here(local_spark: RunningSpark, slices: int):
    """The longest of them goes by file."""
    parameters = SumsParameters(slices=slices)
    result = local_spark.run(SUMS, ARRAYS, parameters)
    assert result.sums == analysis.run_here(SUMS, ARRAYS, parameters).sums
    assert not any(".zip" in place for place in result.code)


def test_arrays_may_be_a_file(local_spark: RunningSpark, tmp_path: Path):
    arrow_arrays.write(tmp_path / "arrays", ARRAYS)
    assert local_spark.run(SUMS, tmp_path / "arrays", SumsParameters()).sums[0] == 49500


def test_progress_is_told_task_by_task(local_spark: RunningSpark, held: HeldJob):
    working = local_spark.begin(SUMS, ARRAYS, held_parameters(held, 0), "watched")
    eventually(lambda: status_of(local_spark, "watched").tasks == (7, 8))
    assert local_spark.client.status.state == "busy"
    job = status_of(local_spark, "watched")
    assert job.stages == (0, 1)
    assert job.analysis == SUMS.name
    assert job.seconds > 0
    held.let_go()
    assert working.result(DEADLINE_S).sums[0] == sum(range(0, 1000, 8))
    eventually(lambda: local_spark.client.status.state == "ready")


def test_of_two_jobs_one_is_cancelled(local_spark: RunningSpark, held: HeldJob, tmp_path: Path, is_gone):
    other = HeldJob(tmp_path / "other")
    other.folder.mkdir()
    doomed = local_spark.begin(SUMS, ARRAYS, held_parameters(held, 0), "doomed")
    spared = local_spark.begin(SUMS, ARRAYS, held_parameters(other, 3), "spared")
    worker = held.workers()[0]
    other.workers()
    assert local_spark.wait_for(local_spark.client.cancel("doomed"))
    with pytest.raises(JobCancelled, match="doomed"):
        doomed.result(DEADLINE_S)
    eventually(lambda: is_gone(worker))
    other.let_go()
    assert len(spared.result(DEADLINE_S).sums) == 8
    assert not local_spark.wait_for(local_spark.client.cancel("doomed"))


def test_who_waits_no_more_cancels(local_spark: RunningSpark, held: HeldJob, is_gone):
    working = local_spark.begin(SUMS, ARRAYS, held_parameters(held, 0), "left")
    worker = held.workers()[0]
    working.cancel()
    with pytest.raises(CancelledError):
        working.result(DEADLINE_S)
    eventually(lambda: is_gone(worker))


def test_a_small_job_passes_a_long_one(local_spark: RunningSpark, held: HeldJob):
    """One core stays with the long job; the other one, when it is free, serves the small job before the long one's
    next task, which would keep it."""
    long = local_spark.begin(SUMS, ARRAYS, held_parameters(held, *range(8)), "long")
    first, _ = held.workers(2)
    small = local_spark.begin(SUMS, ARRAYS, SumsParameters(), "small")
    eventually(lambda: status_of(local_spark, "small").tasks == (0, 8))
    held.let_go(first)
    assert len(small.result(DEADLINE_S).sums) == 10
    assert not long.done()
    held.let_go()
    assert len(long.result(DEADLINE_S).sums) == 8


def test_a_worker_that_is_killed_in_mid_job(local_spark: RunningSpark, held: HeldJob):
    working = local_spark.begin(SUMS, ARRAYS, held_parameters(held, 0), "hurt")
    os.kill(held.workers()[0], signal.SIGKILL)
    held.let_go()
    assert working.result(DEADLINE_S).sums == analysis.run_here(SUMS, ARRAYS, SumsParameters(slices=8)).sums


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (SumsParameters(slices=-1), "-1 slices: give 0 or more"),
        (SumsParameters(wrong=3), "unit 3 is wrong"),
        (SumsParameters(broken=3), "a defect in kdrill: ZeroDivisionError: by nothing"),
    ],
)
def test_what_the_analysis_refuses_is_one_line(local_spark: RunningSpark, parameters: SumsParameters, reason: str):
    with pytest.raises(JobFailed) as failure:
        local_spark.run(SUMS, ARRAYS, parameters)
    assert str(failure.value) == reason


def test_a_file_that_is_gone(local_spark: RunningSpark, tmp_path: Path):
    with pytest.raises(JobFailed, match="nowhere"):
        local_spark.run(SUMS, tmp_path / "nowhere", SumsParameters())


def test_a_tag_names_one_job(local_spark: RunningSpark, held: HeldJob):
    working = local_spark.begin(SUMS, ARRAYS, held_parameters(held, 0), "same")
    held.workers()
    with pytest.raises(JobFailed, match="same: a job of this name runs already"):
        local_spark.run(SUMS, ARRAYS, SumsParameters(), "same")
    held.let_go()
    working.result(DEADLINE_S)
