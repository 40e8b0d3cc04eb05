"""Starts the Spark process, gives it jobs and arrays, and hears its status. For one event loop; imports no Spark.

The process ends, with Spark and all workers, when this one does, however that happens. Arrays are files for Spark's
workers: a file lives as long as a job reads it; the newest stays for the next job.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from model.analyses import JobCancelled
from model.analyses.analysis import Analysis, Arrays, ParametersT_contra, ResultT_co
from model.hosts.child_process import FAREWELL_S, AskedChild
from model.sandbox.processes import temporary_folder
from spark_tasks.messages import Begin, Cancel, JobFailed, JobResult, RunJob, SparkLost, SparkOptions, SparkStatus


@dataclass
class _File:
    arrays: Arrays
    path: Path
    written: "asyncio.Task[None]"
    readers: int = 0


class ArrayFiles:
    """In one folder, for one event loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[_File] = []
        self._last_number = 0

    @contextlib.asynccontextmanager
    async def of(self, arrays: Arrays) -> AsyncGenerator[Path]:
        """The file of these arrays: the same object has the same file. Raises OSError."""
        file = next((file for file in self._files if file.arrays is arrays), None) or self._new(arrays)
        file.readers += 1
        try:
            await asyncio.shield(file.written)
            yield file.path
        finally:
            file.readers -= 1
            if file.written.done() and file.written.exception() is not None and file in self._files:
                self._files.remove(file)  # the next one may fare better
            self._drop_unread()

    @contextlib.asynccontextmanager
    async def of_batches(self, batches: Sequence[Arrays]) -> AsyncGenerator[Path]:
        """A file of some batches, for one job. Raises OSError."""
        self._last_number += 1
        path = self._folder / f"batches-{self._last_number}"
        try:
            await asyncio.to_thread(_write_batches, path, batches)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _new(self, arrays: Arrays) -> _File:
        self._last_number += 1
        path = self._folder / f"arrays-{self._last_number}.arrow"
        file = _File(arrays, path, asyncio.create_task(asyncio.to_thread(_write, path, arrays)))
        self._files.append(file)
        return file

    def _drop_unread(self) -> None:
        for file in self._files[:-1]:
            if not file.readers:
                self._files.remove(file)
                file.path.unlink(missing_ok=True)


def _write(path: Path, arrays: Arrays) -> None:
    from spark_tasks import arrow_arrays  # noqa: PLC0415 - takes pyarrow, which no status needs

    arrow_arrays.write(path, arrays)


def _write_batches(path: Path, batches: Sequence[Arrays]) -> None:
    from spark_tasks import arrow_arrays  # noqa: PLC0415

    path.write_bytes(arrow_arrays.packed_batches(batches))


COMMAND = (sys.executable, "-P", "-m", "spark_tasks")
"""-P: whatever lies in the current folder is not ours."""


class SparkProcess:
    """Starts with the object. For one event loop."""

    def __init__(
        self,
        options: SparkOptions,
        on_status: Callable[[SparkStatus], None],
        command: Sequence[str],
        without: Collection[str],
    ) -> None:
        self._folder = temporary_folder("kdrill-spark-")
        self.files = ArrayFiles(self.folder)
        self._on_status = on_status
        self._status = SparkStatus(state="starting", master=options.master)
        self._running: set[str] = set()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._child = AskedChild[SparkStatus]("the Spark process", command, SparkStatus, SparkLost, without=without)
        self._child.begin(Begin(options, str(self.folder)))
        self._opening = asyncio.create_task(self._child.open(self._hear, self._end))
        on_status(self._status)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self._folder.path

    @property
    def is_lost(self) -> bool:
        """Whether it is of no more use."""
        return self._child.is_lost

    async def ready(self) -> None:
        """Returns once Spark serves. Raises SparkLost."""
        await asyncio.shield(self._ready)

    async def run(self, run: RunJob) -> JobResult:
        """The result's JSON, or a file of it. Raises JobCancelled, JobFailed, SparkLost."""
        self._running.add(run.tag)
        try:
            became = await self._child.ask(run, JobResult)
        except asyncio.CancelledError:
            self._child.tell(Cancel(run.tag))
            raise
        finally:
            self._running.discard(run.tag)
        if became.cancelled:
            raise JobCancelled(run.tag)
        if became.failed is not None:
            raise JobFailed(became.failed)
        return became

    def has(self, tag: str) -> bool:
        """Whether a job of this tag was asked for and not answered."""
        return tag in self._running

    def cancel(self, tag: str) -> bool:
        """End the job. Whether there is one."""
        if self.has(tag):
            self._child.tell(Cancel(tag))
        return self.has(tag)

    async def close(self, patience_s: float = FAREWELL_S) -> None:
        """End it, by force after so many seconds, and remove its files. Jobs raise SparkLost."""
        await self._opening
        self._fail("Spark was closed")
        await self._child.close("Spark was closed", patience_s)
        await asyncio.to_thread(self._folder.remove)

    def _hear(self, status: SparkStatus) -> None:
        if status.state == "failed":
            self._lose(status)
            return
        self._status = status
        self._on_status(status)
        if status.state in ("ready", "busy") and not self._ready.done():
            self._ready.set_result(None)

    async def _end(self, why: str) -> None:
        await asyncio.to_thread(self._folder.remove)  # as it does itself, unless it was killed
        self._lose(msgspec.structs.replace(self._status, reason=why))

    def _lose(self, status: SparkStatus) -> None:
        if self._status.state != "failed":
            self._status = msgspec.structs.replace(status, state="failed", jobs=())
            self._child.lose(status.reason)
            self._fail(status.reason)
            self._on_status(self._status)

    def _fail(self, why: str) -> None:
        if not self._ready.done():
            self._ready.set_exception(SparkLost(why))
            self._ready.exception()  # looked at, or asyncio complains where nobody waits


OnStatus = Callable[[SparkStatus], object]


class Rest(NamedTuple):
    """Work that was begun elsewhere: the units that are left, and the batches of all others."""

    left: tuple[int, ...]
    batches: Sequence[Arrays]


class Ran(NamedTuple):
    """A result, the tasks that were run for it, and the processor time of the kernels."""

    result: Any
    tasks: int
    cpu_s: float


class SparkClient:
    """One Spark at a time, from the first `start` or `run` to `close`. After a loss it may be started again."""

    def __init__(
        self,
        options: SparkOptions | None = None,
        news: OnStatus | None = None,
        command: Sequence[str] = COMMAND,
        *,
        without: Collection[str] = (),
    ) -> None:
        """Starts nothing yet. `news` is called on the event loop with each new status. `without`: environment variables
        that its processes do not get."""
        self._options = options = options or SparkOptions()
        self.status = SparkStatus(master=options.master)
        """How Spark stood when it last said so."""
        self._news = news
        self._command = command
        self._without = without
        self._process: SparkProcess | None = None

    async def start(self) -> None:
        """Returns when Spark is ready; at once when it is. Raises SparkLost: one line that says why it can't be."""
        await self._running().ready()

    async def run(
        self,
        analysis: Analysis[ParametersT_contra, ResultT_co],
        arrays: Arrays | Path,
        parameters: ParametersT_contra,
        tag: str,
    ) -> ResultT_co:
        """The result, as `ran` has it."""
        return (await self.ran(analysis, arrays, parameters, tag)).result

    async def ran(
        self,
        analysis: Analysis[Any, Any],
        arrays: Arrays | Path,
        parameters: Any,
        tag: str,
        rest: "Rest | None" = None,
    ) -> "Ran":
        """The result; Spark is started where it is not. `arrays` may be a file that `arrow_arrays` wrote.

        The same arrays object is written to a file only once in a row, so keep it. Ending the task that waits here
        cancels the job. `rest`: what was done already is not done again. Raises JobCancelled, JobFailed and SparkLost.
        """
        process = self._running()
        if process.has(tag):
            raise JobFailed(f"{tag}: a job of this name runs already")
        run = RunJob(tag=tag, analysis=analysis.name, arrays="", parameters=msgspec.json.encode(parameters))
        try:
            async with AsyncExitStack() as files:
                if rest is not None:
                    done = await files.enter_async_context(process.files.of_batches(rest.batches))
                    run = msgspec.structs.replace(run, left=rest.left, done=str(done))
                file = arrays if isinstance(arrays, Path) else await files.enter_async_context(process.files.of(arrays))
                became = await process.run(msgspec.structs.replace(run, arrays=str(file)))
        except OSError as error:
            raise JobFailed(f"the arrays can't be written: {error.strerror or error}") from error
        result = await asyncio.to_thread(_decoded, became, analysis.result_type)
        return Ran(result, became.tasks, became.cpu_s)

    async def cancel(self, tag: str) -> bool:
        """End the job: its `run` raises JobCancelled within a second. Whether there is one of this tag."""
        return self._process is not None and self._process.cancel(tag)

    async def close(self, patience_s: float = FAREWELL_S) -> None:
        """End Spark, by force after so many seconds. What still runs raises SparkLost."""
        if self._process is not None:
            process, self._process = self._process, None
            await process.close(patience_s)
        self._hear(SparkStatus(master=self._options.master))

    def _running(self) -> SparkProcess:
        if self._process is None or self._process.is_lost:
            self._process = SparkProcess(self._options, self._hear, self._command, self._without)
        return self._process

    def _hear(self, status: SparkStatus) -> None:
        self.status = status
        if self._news is not None:
            self._news(status)


def _decoded(became: JobResult, result_type: type[Any]) -> Any:
    if became.result_file is None:
        return msgspec.json.decode(became.result, type=result_type)
    file = Path(became.result_file)
    try:
        return msgspec.json.decode(file.read_bytes(), type=result_type)
    except OSError as error:
        raise SparkLost(f"the result is gone: {error.strerror}: {error.filename}") from error
    finally:
        file.unlink(missing_ok=True)


IN_PROCESS = "in process"
LOCAL = "local[*]"
AS_ASKED = "as asked"
Kind = Literal["auto", "here", "spark"]


class Engine(msgspec.Struct, frozen=True):
    """What a command was told: `auto` is Spark where a master is named, or where that is worth it."""

    kind: Kind = "auto"
    master: str = ""
    without: tuple[str, ...] = ()
    """Environment variables that Spark's processes do not get."""

    @property
    def wanted(self) -> Kind:
        """Who names a master means it."""
        return "spark" if self.kind == "auto" and self.master else self.kind


class EngineResult(msgspec.Struct, frozen=True):
    """A result, where it comes from, and what it took."""

    result: Any
    engine: str
    """`in process`, `spark local[2]`, or `in process, then spark local[2]`."""
    seconds: float
    """For the analysis, without a start of Spark that nobody waited for."""
    cpu_s: float = 0.0
    """Of processor time: this thread's here, that of kernels and their sum on Spark."""
    tasks: int = 0
    why: str = ""
    """Why there, in a few words."""

    @property
    def where(self) -> str:
        """Where, and why there."""
        return f"{self.engine}: {self.why}" if self.why else self.engine

    @property
    def cost(self) -> str:
        """What it took."""
        return f"{self.seconds:.2f} s, CPU {self.cpu_s:.2f} s, {self.tasks:,} task{'s' * (self.tasks != 1)}"
