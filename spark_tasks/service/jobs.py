"""The jobs that were asked for: each in a thread of its own, each with its progress. For one event loop."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spark_tasks.errors import JobCancelled
from spark_tasks.service.messages import Run
from spark_tasks.status import JobStatus

if TYPE_CHECKING:
    from spark_tasks.session.spark_jobs import SparkJobs

MOST_AT_ONCE = 8
"""More of them wait."""
AGAIN_EVERY_S = 0.05


@dataclass
class _Job:
    name: str
    run: Run
    began_s: float
    cancelled: asyncio.Event
    submitted: bool = False


class Jobs:
    """From `run` to its result."""

    def __init__(self) -> None:
        self._spark: asyncio.Future[SparkJobs] = asyncio.get_running_loop().create_future()
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "job")
        self._jobs: dict[int, _Job] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def begin(self, spark: "SparkJobs") -> None:
        """The session serves: jobs that wait for it begin."""
        self._spark.set_result(spark)

    async def run(self, number: int, run: Run) -> bytes:
        """The result as JSON. Raises JobCancelled, JobFailed, SparkLost."""
        job = _Job(f"kdrill-{number}", run, time.monotonic(), asyncio.Event())
        self._jobs[number] = job
        cancelled = asyncio.create_task(job.cancelled.wait())
        work = asyncio.create_task(self._work(job))
        try:
            await asyncio.wait([work, cancelled], return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await self._end(job, work)
            return work.result()
        finally:
            cancelled.cancel()
            del self._jobs[number]

    def cancel(self, tag: str) -> None:
        """Its `run` raises JobCancelled. Nothing happens when no job has that tag."""
        for job in self._jobs.values():
            if job.run.tag == tag:
                job.cancelled.set()

    async def look(self) -> tuple[JobStatus, ...]:
        """How they all stand."""
        return tuple([await self._status(job) for job in list(self._jobs.values())])

    async def _work(self, job: _Job) -> bytes:
        spark = await asyncio.shield(self._spark)
        job.submitted = True
        run = partial(spark.run, job.name, job.run.analysis, Path(job.run.arrays), bytes(job.run.parameters))
        return await asyncio.get_running_loop().run_in_executor(self._threads, run)

    async def _end(self, job: _Job, work: "asyncio.Task[bytes]") -> None:
        """Until its tasks have ended. What it does after them or before can't be stopped, and is not waited for."""
        for _ in range(10):
            if not job.submitted:
                break
            await asyncio.to_thread(self._spark.result().cancel, job.name)
            await asyncio.wait([work], timeout=AGAIN_EVERY_S)
            if work.done():
                return
        work.cancel()
        raise JobCancelled(job.run.tag)

    async def _status(self, job: _Job) -> JobStatus:
        stages = tasks = (0, 0)
        if job.submitted:
            with suppress(Exception):  # Spark is being lost, which is told elsewhere
                stages, tasks = await asyncio.to_thread(self._spark.result().progress, job.name)
        return JobStatus(
            tag=job.run.tag,
            analysis=job.run.analysis,
            seconds=time.monotonic() - job.began_s,
            stages=stages,
            tasks=tasks,
        )
