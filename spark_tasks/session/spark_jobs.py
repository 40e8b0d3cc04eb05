"""Spark's context, joined to its Java, given our code and warmed; and analyses on it, several at once. Imports pyspark.

A job runs in the thread that asks for it, and is one stage of one RDD: lists of units go out, Arrow batches come back.
Rows never travel. Arrays go to executors elsewhere once, in parts, so that nobody holds all of a file in memory; the
last ones stay there for the next job. Libraries must be installed there; our packages go as one zip.
"""

import fcntl
import os
import signal
import threading
import time
import zipfile
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark import SparkConf, SparkContext, java_gateway

from model.analyses import AnalysisError, JobCancelled
from model.analyses.analysis import Arrays, Scanning, Unit, pack, tasks_for
from spark_tasks import arrow_arrays
from spark_tasks.messages import JobFailed, JobResult, RunJob, SparkLost
from spark_tasks.registry import Batch, KernelTask, failure, find, warm
from spark_tasks.session.java_process import JavaProcess, in_one_line

if TYPE_CHECKING:
    from spark_tasks.session.parquet_jobs import ParquetJobs

PACKAGES = ("model", "spark_tasks")


def write_code(path: Path, packages: Iterable[str] = PACKAGES) -> Path:
    """Write the zip to `path`, from wherever the packages were imported from."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as code:
        for package in packages:
            spec = find_spec(package)
            assert spec is not None
            for folder in map(Path, spec.submodule_search_locations or ()):
                for file in sorted(folder.rglob("*")):
                    if file.is_file() and file.suffix != ".pyc":
                        code.write(file, Path(package) / file.relative_to(folder))
    return path


_java_gateway: Any = java_gateway  # it has no types


def open_context(java: JavaProcess, settings: Mapping[str, str], code: Path | None) -> Any:
    """A SparkContext, whose executors get our code by the zip `code` where that is given. Raises SparkLost."""
    port, secret = java.gateway()
    os.environ.update({"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret})
    try:
        gateway = _java_gateway.launch_gateway()
        conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
        context: Any = SparkContext(conf=conf.setAll(list(settings.items())), gateway=gateway)
        context._accumulatorServer.handle_error = _say_nothing
        if code is not None:
            context.addPyFile(str(write_code(code)))
    except Exception as error:
        reason = java.how_it_ended() if java.has_ended() else _reason(error)
        raise SparkLost(f"Spark can't start on {settings['spark.master']}: {reason}") from error
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    return context


def warm_up(context: Any, java: JavaProcess, timeout_s: float) -> float:
    """Have every core run a task, which starts its worker; the seconds that the same takes once they have started.

    Raises SparkLost, also when no task ran in `timeout_s`.
    """
    overdue = threading.Event()

    def give_up() -> None:
        overdue.set()
        context.cancelAllJobs()

    timer = threading.Timer(timeout_s, give_up)
    timer.daemon = True
    timer.start()
    began_s = 0.0
    try:
        cores = context.defaultParallelism
        for _ in range(2):
            began_s = time.perf_counter()
            context.parallelize(range(cores), cores).mapPartitions(warm).collect()
    except Exception as error:
        if overdue.is_set():
            reason = f"no executor ran a first task within {timeout_s:g} s: has the cluster free workers?"
        else:
            reason = java.how_it_ended() if java.has_ended() else _reason(error)
        raise SparkLost(reason) from error
    finally:
        timer.cancel()
    return time.perf_counter() - began_s


def _reason(error: Exception) -> str:
    return in_one_line(str(error)) or type(error).__name__


def _say_nothing(*_: object) -> None:
    """Of the end of a connection that always ends with Java: a page on standard error otherwise."""


KEPT = 4
PART_BYTES = 64 << 20
"""A part is in memory at a time, here and in each worker; every part costs some milliseconds."""


@dataclass(frozen=True)
class BroadcastFile:
    """A file, as a task knows it: broadcasts of its parts, in order. `number` no other file of the session has."""

    number: int
    parts: tuple[Any, ...]

    def open(self) -> Arrays:
        """In a worker: the file's arrays. Raises AnalysisError when the executor's disk does not take them."""
        from pyspark import SparkFiles  # noqa: PLC0415 - workers here have no use for it

        folder = Path(SparkFiles.getRootDirectory())
        path = folder / f"arrays-{self.number}.arrow"
        try:
            try:
                return arrow_arrays.open(path)
            except FileNotFoundError:
                return self._put_together(folder, path)
        except OSError as error:
            raise AnalysisError(f"an executor can't keep the arrays on its disk: {error.strerror or error}") from error

    def _put_together(self, folder: Path, path: Path) -> Arrays:
        older = sorted(folder.glob("arrays-*.arrow"), key=lambda each: int(each.stem.partition("-")[2]))
        for each in older[: 1 - KEPT]:  # who maps it still has it
            each.unlink(missing_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with part.open("wb") as file:
            for piece in self.parts:
                file.write(_value(piece))
        arrays = arrow_arrays.open(part)
        part.replace(path)
        return arrays


class Broadcasts:
    """By file. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_file: OrderedDict[Path, BroadcastFile] = OrderedDict()
        self._last_number = 0

    def of(self, context: Any, file: Path) -> BroadcastFile:
        """The file's bytes, broadcast. Raises OSError."""
        with self._lock:
            if file not in self._by_file:
                self._last_number += 1
                self._by_file[file] = BroadcastFile(self._last_number, tuple(map(context.broadcast, _parts(file))))
            self._by_file.move_to_end(file)
            while len(self._by_file) > KEPT:
                # Executors forget it; a job that still needs it makes them fetch it again.
                for part in self._by_file.popitem(last=False)[1].parts:
                    part.unpersist()
            return self._by_file[file]


def _parts(file: Path) -> Iterator[bytes]:
    with file.open("rb") as source:
        while part := source.read(PART_BYTES):
            yield part


def _value(part: Any) -> bytes:
    """Read anew where it can be: a broadcast keeps its value for as long as its worker lives."""
    path = getattr(part, "_path", None)
    return part.value if path is None else part.load_from_path(path)


def _wanted(units: Sequence[Unit], left: Sequence[int] | None) -> Sequence[Unit]:
    if left is None:
        return units
    wanted = set(left)
    return [unit for unit in units if unit.id in wanted]


def end_players(folder: Path) -> None:
    """Kills those whose ids are there, and lets no more begin, who would not find it. Nothing where it is gone."""
    ended = folder.with_name(f"{folder.name}-ended")
    with suppress(FileNotFoundError):
        folder.rename(ended)
        for player in ended.iterdir():
            if _is_held(player):
                with suppress(ProcessLookupError):
                    os.kill(int(player.name), signal.SIGKILL)
        rmtree(ended, ignore_errors=True)


def _is_held(player: Path) -> bool:
    """Whether the process is still at it. One that was killed leaves its file, and its id may be another's by now."""
    with suppress(FileNotFoundError), player.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


Progress = tuple[tuple[int, int], tuple[int, int]]
"""Stages done and all, tasks done and all."""


class SparkJobs:
    """All jobs of a session. `job` is a job's name, which no other job ever had."""

    def __init__(self, context: Any, java: JavaProcess, folder: Path, *, is_local: bool, job_s: float) -> None:
        """`folder` is for files; `job_s`: what a job of next to no work takes."""
        self.job_s = job_s
        self._context = context
        self._java = java
        self._folder = folder
        self._is_local = is_local
        self._broadcasts = Broadcasts()
        self._cancelled: set[str] = set()
        self._scanning: dict[str, ParquetJobs] = {}
        self._players: dict[str, Path] = {}

    def run(self, job: str, run: RunJob) -> JobResult:
        """The result as JSON.

        Raises JobCancelled; JobFailed with the reason; SparkLost when the session is of no more use.
        """
        try:
            analysis, file = find(run.analysis), Path(run.arrays)
            arrays = arrow_arrays.open(file)
            values = msgspec.json.decode(run.parameters, type=analysis.parameters_type)
            if isinstance(analysis, Scanning):
                scans = analysis.scans(values, run.left)
                (batches, cpu_s), count = self._scan(job, run, scans), len(scans)
            else:
                tasks = pack(_wanted(analysis.units(arrays, values), run.left), tasks_for(self.cores))
                data = run.arrays if self._is_local else self._broadcasts.of(self._context, file)
                with (
                    TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as folder,
                    self._players_of(job, file.parent / f"players-{job}") as players,
                ):
                    task = KernelTask(run.analysis, run.parameters, data, players, folder if self._is_local else "")
                    (batches, cpu_s), count = self._collect(job, tasks, task) if tasks else ([], 0.0), len(tasks)
            before = arrow_arrays.unpacked_batches(Path(run.done).read_bytes()) if run.done else []
            began_s = time.thread_time()
            result = msgspec.json.encode(analysis.combine([*before, *batches], arrays, values))
            return JobResult(result=result, tasks=count, cpu_s=cpu_s + time.thread_time() - began_s)
        except (JobCancelled, JobFailed, SparkLost):
            raise
        except Exception as error:
            raise self._meaning(job, error, failure(error)) from error

    @property
    def cores(self) -> int:
        """That run tasks."""
        return self._context.defaultParallelism

    def cancel(self, job: str) -> None:
        """End the job's tasks. To be called until `run` is back: what is submitted meanwhile is not ended by it."""
        self._cancelled.add(job)
        if job in self._players:
            end_players(self._players[job])
        self._context.cancelJobsWithTag(job)

    @contextmanager
    def _players_of(self, job: str, folder: Path) -> Generator[str]:
        """The folder of the processes of this machine that are at the job: who still is once it has ended is killed.

        Spark itself looks every 2 s whether a task was cancelled, and what Python does in it goes on until then.
        """
        if not self._is_local:
            yield ""
            return
        folder.mkdir()
        self._players[job] = folder
        try:
            yield str(folder)
        finally:
            end_players(folder)
            del self._players[job]

    def progress(self, job: str) -> Progress:
        """How far the job is. Zeros while its work is still being divided."""
        if (scanning := self._scanning.get(job)) is not None:
            return (0, 1), (scanning.done, scanning.every)
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

    def _collect(self, job: str, tasks: Sequence[Sequence[int]], task: KernelTask) -> tuple[list[Arrays], float]:
        context = self._context
        work = context.parallelize(tasks, len(tasks)).mapPartitions(task)
        self._name(job)
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
        return _well(batches)

    def _scan(self, job: str, run: RunJob, scans: Sequence[Any]) -> tuple[list[Arrays], float]:
        """As `_collect`, of rows that Spark reads itself."""
        from spark_tasks.session.parquet_jobs import ParquetJobs  # noqa: PLC0415 - loads Spark's SQL, which few want

        jobs = ParquetJobs(self._context, lambda: self._name(job), lambda: job in self._cancelled)
        self._scanning[job] = jobs
        try:
            batches = jobs.run(run.analysis, run.parameters, scans)
        except AnalysisError:
            raise
        except Exception as error:
            raise self._meaning(job, error, in_one_line(str(error)) or type(error).__name__) from error
        finally:
            del self._scanning[job]
        if job in self._cancelled:
            raise JobCancelled(job)
        return _well(batches)

    def _name(self, job: str) -> None:
        """What this thread submits belongs to the job."""
        self._context.addJobTag(job)
        self._context.setInterruptOnCancel(True)
        self._context.setLocalProperty("spark.scheduler.pool", job)

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


def _well(batches: Sequence[Batch]) -> tuple[list[Arrays], float]:
    """What kernels returned, and the processor time they took. Raises JobFailed where one failed."""
    if reasons := [told.decode() for well, told, _ in batches if not well]:
        raise JobFailed(reasons[0])
    return [arrow_arrays.taken_over(told) for _, told, _ in batches], sum(cpu_s for _, _, cpu_s in batches)
