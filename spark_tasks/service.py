"""Spark in a process of its own: its session, and orders, jobs and status. It does not know what analyses mean.

The session blocks, and so each job runs in a thread of its own, with its progress. The class archive for the next start
is built in another process, which ends with this one: a local session runs once there, and Java writes what it loaded.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import msgspec

from model.analyses import JobCancelled
from model.hosts.child_process import Garbled, ParentProcess
from model.hosts.process import crash_line
from model.sandbox.java import Java, find_java, pyspark_jars_folder
from model.sandbox.processes import GuardedFolder, SandboxError, temporary_folder
from spark_tasks.messages import (
    Begin,
    Cancel,
    JobFailed,
    JobResult,
    JobStatus,
    RunJob,
    SparkLost,
    SparkOptions,
    SparkStatus,
)
from spark_tasks.session import java_process
from spark_tasks.session.java_process import JavaProcess, class_archive, environment_of, settings_of

if TYPE_CHECKING:
    from spark_tasks.session.spark_jobs import SparkJobs


BUILDER = (sys.executable, "-P", "-m", "spark_tasks", "--build-archive")
"""-P: whatever lies in the current folder is not ours."""
BUILD_AFTER_S = 5.0
"""It takes half a minute of CPU, which whoever waits for a first result needs more."""


class ArchiveBuilding:
    """Nothing, until `begin_later`. For one event loop."""

    def __init__(self, options: SparkOptions) -> None:
        self._options = options
        self._timer: asyncio.TimerHandle | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def begin_later(self) -> None:
        """Where the options want an archive and there is none. Raises SandboxError when Java is gone."""
        if self._options.build_archive and not class_archive(find_java(), self._options).is_built():
            self._timer = asyncio.get_running_loop().call_later(BUILD_AFTER_S, self._begin)

    def close(self) -> None:
        """Stop building."""
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            self._process.communicate()

    def _begin(self) -> None:
        self._process = subprocess.Popen(
            BUILDER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0
        )
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(self._options) + b"\n")


MOST_AT_ONCE = 8
"""More of them wait."""
AGAIN_EVERY_S, TIMES = 0.05, 7
"""How often a job is cancelled, and at most how many times: who cancelled it is told within half a second."""


@dataclass
class _Job:
    name: str
    run: RunJob
    began_s: float
    cancelled: asyncio.Event
    submitted: bool = False


class JobRunner:
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

    async def run(self, number: int, run: RunJob) -> JobResult:
        """The result. Raises JobCancelled, JobFailed, SparkLost."""
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

    async def _work(self, job: _Job) -> JobResult:
        spark = await asyncio.shield(self._spark)
        job.submitted = True
        return await asyncio.get_running_loop().run_in_executor(self._threads, spark.run, job.name, job.run)

    async def _end(self, job: _Job, work: "asyncio.Task[JobResult]") -> None:
        """Until its tasks have ended. What it does after them or before can't be stopped, and is not waited for."""
        for _ in range(TIMES):
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


class SparkSession:
    """One session, from `start` to `stop`: the one place that knows in which order things are started. For threads."""

    def __init__(self, options: SparkOptions, folder: GuardedFolder, archive_to_write: Path | None = None) -> None:
        """Touches nothing yet. `folder` is for its files. `archive_to_write` is where Java puts the classes it loaded
        when it ends; without it an archive that is there is used."""
        self._options = options
        self._folder = folder
        self._archive_to_write = archive_to_write
        self._java: JavaProcess | None = None
        self._stopping = threading.Event()

    def start(self) -> "SparkJobs":
        """What runs jobs, once workers have run a first task. Raises SparkLost: one line that says why not."""
        java_process.check(self._options.master)
        try:
            java, spark = find_java(), pyspark_jars_folder().parent
            settings = settings_of(self._options, self._folder.path, self._archive_flags(java))
        except SandboxError as error:
            raise SparkLost(str(error)) from error
        environment = environment_of(self._options, self._java_home(java), spark)
        os.environ.update({name: environment[name] for name in ("PYSPARK_PYTHON", "SPARK_HOME")})
        process = self._java = JavaProcess(spark, settings, environment, self._folder)
        if self._stopping.is_set():
            process.close(0)
        # What takes a second to import is imported while Java starts.
        from spark_tasks.session.spark_jobs import (  # noqa: PLC0415
            SparkJobs,
            open_context,
            warm_up,
        )

        is_local = java_process.is_local(self._options.master)
        context = open_context(process, settings, None if is_local else self._folder.path / "kdrill-code.zip")
        job_s = warm_up(context, process, self._options.start_timeout_s)
        return SparkJobs(context, process, self._folder.path, is_local=is_local, job_s=job_s)

    def pids(self) -> tuple[int, ...]:
        """Of this process and of Java."""
        return (os.getpid(), *([self._java.pid] if self._java is not None else []))

    def wait(self) -> str:
        """Wait until Java ends, and say how. After `start`."""
        assert self._java is not None
        return self._java.wait()

    def stop(self, timeout_s: float = 5.0) -> bool:
        """End Spark and its workers. Whether it ended in order."""
        self._stopping.set()
        return self._java is None or self._java.close(timeout_s)

    def _java_home(self, java: Java) -> Path:
        """Spark's script wants a folder, while any program may be named as `java`."""
        home = self._folder.path / "java"
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "java").symlink_to(java.program.absolute())
        return home

    def _archive_flags(self, java: Java) -> list[str]:
        if self._archive_to_write is not None:
            return [f"-XX:ArchiveClassesAtExit={self._archive_to_write}"]
        return class_archive(java, self._options).flags()


LONGEST_DUMP_S = 120.0


def build_archive(options: SparkOptions) -> bool:
    """Whether the archive is there now. Raises SandboxError when there is no Java."""
    local = msgspec.structs.replace(options, master="local[2]")
    return class_archive(find_java(), options).build(lambda file: _train(local, file))


def _train(options: SparkOptions, file: Path) -> None:
    folder = temporary_folder("kdrill-spark-")
    session = SparkSession(options, folder, archive_to_write=file)
    try:
        session.start().progress("none")
        if not session.stop(LONGEST_DUMP_S):
            raise SparkLost("Java did not write the class archive in time")
    finally:
        session.stop(0)
        folder.remove()


LONGEST_ANSWER_BYTES = 1 << 18
"""Longer results go by file."""
LOOK_EVERY_S = 0.2


def serve(output: BinaryIO) -> None:
    """One session, from the first message to the end of the input, SIGTERM, or the end of Spark.

    Threads that still wait for what was lost may go on: the process is to be ended without them.
    """
    asyncio.new_event_loop().run_until_complete(_serve(output))


async def _serve(output: BinaryIO) -> None:
    owner = await ParentProcess.of(output)
    try:
        begin = await owner.first(Begin)
    except Garbled as error:
        owner.tell(SparkStatus(state="failed", reason=f"this is no beginning: {error}"))
    else:
        if begin is not None:
            os.nice(begin.options.nice)  # Java and local workers inherit it
            service = SparkService(begin, owner)
            work = asyncio.create_task(service.run())
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
            with suppress(asyncio.CancelledError):
                await work
            await service.close()
    await owner.flush()


class SparkService:
    """One session and its jobs."""

    def __init__(self, begin: Begin, owner: ParentProcess) -> None:
        self._options = begin.options
        self._folder = GuardedFolder(Path(begin.folder))
        self._owner = owner
        self._session = SparkSession(begin.options, self._folder)
        self._jobs = JobRunner()
        self._status = SparkStatus()
        self._began_s = time.monotonic()
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._archive = ArchiveBuilding(begin.options)
        self._last_number = 0

    async def run(self) -> None:
        """Take orders until they end, or Spark does."""
        self._owner.spawn(self._open())
        self._owner.spawn(self._look())
        kinds = cast("type[RunJob | Cancel]", RunJob | Cancel)
        listening = asyncio.create_task(self._owner.answer_all(kinds, self._answer, self._why_not))
        await asyncio.wait([listening, self._lost], return_when=asyncio.FIRST_COMPLETED)
        listening.cancel()
        if self._lost.done():
            self._tell_status(state="failed", reason=self._lost.result(), jobs=())

    async def close(self) -> None:
        """End Spark, and remove the files."""
        await self._owner.cancel()
        self._archive.close()
        await asyncio.to_thread(self._session.stop)
        self._folder.remove()

    async def _open(self) -> None:
        self._tell_status(state="starting", master=self._options.master)
        try:
            spark = await asyncio.to_thread(self._session.start)
        except SparkLost as error:
            self._lose(str(error))
        except Exception as error:
            self._lose(crash_line(error))
        else:
            self._jobs.begin(spark)
            took = {"seconds": self._age_s(), "job_s": spark.job_s, "cores": spark.cores}
            self._tell_status(state=self._busy(), pids=self._session.pids(), **took)
            self._archive.begin_later()
            self._lose(await asyncio.to_thread(self._session.wait))

    async def _answer(self, order: RunJob | Cancel) -> JobResult | None:
        if isinstance(order, Cancel):
            self._jobs.cancel(order.tag)
            return None
        self._last_number += 1
        number = self._last_number
        try:
            result = await self._jobs.run(number, order)
        except JobCancelled:
            return JobResult(cancelled=True)
        except JobFailed as error:
            return JobResult(failed=str(error))
        except SparkLost as error:
            self._lose(str(error))
            raise
        if len(result.result) <= LONGEST_ANSWER_BYTES:
            return result
        file = self._folder.path / f"result-{number}.json"
        file.write_bytes(result.result)
        return msgspec.structs.replace(result, result=b"", result_file=str(file))

    def _why_not(self, error: Exception) -> str:
        return self._lost.result() if isinstance(error, SparkLost) else crash_line(error)

    async def _look(self) -> None:
        while True:
            if self._status.state == "starting":
                self._tell_status(seconds=self._age_s(), pids=self._session.pids(), jobs=await self._jobs.look())
            elif self._status.state != "failed":
                jobs = await self._jobs.look()
                self._tell_status(state=self._busy(), jobs=jobs)
            await asyncio.sleep(LOOK_EVERY_S)

    def _busy(self) -> str:
        return "busy" if self._jobs else "ready"

    def _age_s(self) -> float:
        return time.monotonic() - self._began_s

    def _lose(self, reason: str) -> None:
        if not self._lost.done():
            self._lost.set_result(reason)

    def _tell_status(self, **changes: Any) -> None:
        status = msgspec.structs.replace(self._status, **changes)
        if status != self._status:
            self._status = status
            self._owner.tell(status)
