"""Runs analyses on Spark, several at once, each in the thread that asks for it; tells how far they are; cancels them.

A job is one stage of one RDD: lists of units go out, Arrow batches come back. Rows never travel.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from spark_tasks import arrow_arrays
from spark_tasks.analysis import Arrays
from spark_tasks.errors import AnalysisError, JobCancelled, JobFailed, SparkLost
from spark_tasks.packing import pack, tasks_for
from spark_tasks.registry import find
from spark_tasks.session.broadcasts import Broadcasts
from spark_tasks.session.complaints import in_one_line
from spark_tasks.session.java_process import JavaProcess
from spark_tasks.session.kernel_task import Batch, KernelTask, failure

Progress = tuple[tuple[int, int], tuple[int, int]]
"""Stages done and all, tasks done and all."""


class SparkJobs:
    """All jobs of a session. `job` is a job's name, which no other job ever had."""

    def __init__(self, context: Any, java: JavaProcess, *, is_local: bool) -> None:
        self._context = context
        self._java = java
        self._is_local = is_local
        self._broadcasts = Broadcasts()
        self._cancelled: set[str] = set()

    def run(self, job: str, analysis_name: str, arrays_file: Path, parameters: bytes) -> bytes:
        """The result as JSON.

        Raises JobCancelled; JobFailed with the reason; SparkLost when the session is of no more use.
        """
        try:
            analysis = find(analysis_name)
            arrays = arrow_arrays.open(arrays_file)
            values = msgspec.json.decode(parameters, type=analysis.parameters_type)
            tasks = pack(analysis.units(arrays, values), tasks_for(self._context.defaultParallelism))
            data = str(arrays_file) if self._is_local else self._broadcasts.of(self._context, arrays_file)
            batches = self._collect(job, tasks, KernelTask(analysis_name, parameters, data)) if tasks else []
            return msgspec.json.encode(analysis.combine(batches, arrays, values))
        except (JobCancelled, JobFailed, SparkLost):
            raise
        except Exception as error:
            raise self._meaning(job, error, failure(error)) from error

    def cancel(self, job: str) -> None:
        """End the job's tasks. To be called until `run` is back: what is submitted meanwhile is not ended by it."""
        self._cancelled.add(job)
        self._context.cancelJobsWithTag(job)

    def progress(self, job: str) -> Progress:
        """How far the job is. Zeros while its work is still being divided."""
        java_tracker, tracker = self._context._jsc.sc().statusTracker(), self._context.statusTracker()
        stages = [
            stage
            for number in java_tracker.getJobIdsForTag(job)
            if (info := tracker.getJobInfo(number)) is not None
            for stage in map(tracker.getStageInfo, info.stageIds)
            if stage is not None
        ]
        done = sum(stage.numCompletedTasks == stage.numTasks for stage in stages)
        tasks = sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
        return (done, len(stages)), tasks

    def _collect(self, job: str, tasks: Sequence[Sequence[int]], task: KernelTask) -> list[Arrays]:
        context = self._context
        work = context.parallelize(tasks, len(tasks)).mapPartitions(task)
        context.addJobTag(job)
        context.setInterruptOnCancel(True)
        context.setLocalProperty("spark.scheduler.pool", job)
        try:
            if job in self._cancelled:
                raise JobCancelled(job)
            batches: list[Batch] = work.collect()
        except JobCancelled:
            raise
        except Exception as error:
            raise self._meaning(job, error, in_one_line(str(error)) or type(error).__name__) from error
        finally:
            with suppress(Exception):  # where Java is gone, this tag is too
                context.removeJobTag(job)
        if reasons := [told.decode() for well, told in batches if not well]:
            raise JobFailed(reasons[0])
        return [arrow_arrays.decode(told) for _, told in batches]

    def _meaning(self, job: str, error: Exception, reason: str) -> Exception:
        if job in self._cancelled:
            return JobCancelled(job)
        if isinstance(error, AnalysisError):
            return JobFailed(reason)
        if self._java.has_ended(0 if hasattr(error, "java_exception") else 1):
            return SparkLost(self._java.how_it_ended())
        with suppress(Exception):
            if self._context._jsc.sc().isStopped():
                return SparkLost(f"Spark's session ended ({reason})")
        return JobFailed(reason)
