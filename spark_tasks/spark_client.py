"""Starts the Spark process, gives it jobs and arrays, and hears its status. For one event loop; imports no Spark.

The process ends, with Spark and all workers, when this one does, however that happens. Arrays are files for Spark's
workers: a file lives as long as a job reads it; the newest stays for the next job.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from model.analyses.analysis import Analysis, Arrays, ParametersT_contra, ResultT_co, run_here
from model.analyses.errors import JobCancelled
from model.hosts.child_process import AskedChild
from model.sandbox.processes import temporary_folder
from spark_tasks.messages import Begin, Cancel, JobFailed, JobResult, Run, SparkLost, SparkOptions, SparkStatus


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

    async def run(self, tag: str, analysis: str, arrays: Path, parameters: bytes) -> bytes | Path:
        """The result's JSON, or a file of it. Raises JobCancelled, JobFailed, SparkLost."""
        self._running.add(tag)
        try:
            run = Run(tag=tag, analysis=analysis, arrays=str(arrays), parameters=parameters)
            became = await self._child.ask(run, JobResult)
        except asyncio.CancelledError:
            self._child.tell(Cancel(tag))
            raise
        finally:
            self._running.discard(tag)
        if became.cancelled:
            raise JobCancelled(tag)
        if became.failed is not None:
            raise JobFailed(became.failed)
        return Path(became.result_file) if became.result_file is not None else became.result

    def has(self, tag: str) -> bool:
        """Whether a job of this tag was asked for and not answered."""
        return tag in self._running

    def cancel(self, tag: str) -> bool:
        """End the job. Whether there is one."""
        if self.has(tag):
            self._child.tell(Cancel(tag))
        return self.has(tag)

    async def close(self) -> None:
        """End it, and remove its files. Jobs raise SparkLost."""
        await self._opening
        self._fail("Spark was closed")
        await self._child.close("Spark was closed")
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
        """The result; Spark is started where it is not. `arrays` may be a file that `arrow_arrays` wrote.

        The same arrays object is written to a file only once in a row, so keep it. Ending the task that waits here
        cancels the job. Raises JobCancelled, JobFailed and SparkLost.
        """
        process = self._running()
        if process.has(tag):
            raise JobFailed(f"{tag}: a job of this name runs already")
        parameters_json = msgspec.json.encode(parameters)
        try:
            if isinstance(arrays, Path):
                result = await process.run(tag, analysis.name, arrays, parameters_json)
            else:
                async with process.files.of(arrays) as file:
                    result = await process.run(tag, analysis.name, file, parameters_json)
        except OSError as error:
            raise JobFailed(f"the arrays can't be written: {error.strerror or error}") from error
        return await asyncio.to_thread(_decoded, result, analysis.result_type)

    async def cancel(self, tag: str) -> bool:
        """End the job: its `run` raises JobCancelled within a second. Whether there is one of this tag."""
        return self._process is not None and self._process.cancel(tag)

    async def close(self) -> None:
        """End Spark. What still runs raises SparkLost."""
        if self._process is not None:
            process, self._process = self._process, None
            await process.close()
        self._hear(SparkStatus(master=self._options.master))

    def _running(self) -> SparkProcess:
        if self._process is None or self._process.is_lost:
            self._process = SparkProcess(self._options, self._hear, self._command, self._without)
        return self._process

    def _hear(self, status: SparkStatus) -> None:
        self.status = status
        if self._news is not None:
            self._news(status)


def _decoded(result: bytes | Path, result_type: type[Any]) -> Any:
    if isinstance(result, bytes):
        return msgspec.json.decode(result, type=result_type)
    try:
        return msgspec.json.decode(result.read_bytes(), type=result_type)
    except OSError as error:
        raise SparkLost(f"the result is gone: {error.strerror}: {error.filename}") from error
    finally:
        result.unlink(missing_ok=True)


IN_PROCESS = "in process"
LOCAL = "local[*]"


class Engine(msgspec.Struct, frozen=True):
    """What a command was told: `auto` is Spark where a master is named or the work is large, this process otherwise."""

    kind: Literal["auto", "here", "spark"] = "auto"
    master: str = ""
    without: tuple[str, ...] = ()
    """Environment variables that Spark's processes do not get."""

    def is_spark(self, is_large: bool) -> bool:
        """Whether Spark is to do work of that size."""
        return self.kind == "spark" or (self.kind == "auto" and (is_large or bool(self.master)))


class EngineResult(msgspec.Struct, frozen=True):
    """A result, and where it comes from."""

    result: Any
    engine: str
    """`in process`, or `spark local[2]`."""
    seconds: float
    """For the analysis, without the start of Spark."""


def run_once(
    analysis: Analysis[ParametersT_contra, ResultT_co],
    arrays: Arrays,
    parameters: ParametersT_contra,
    engine: Engine,
    *,
    is_large: bool = False,
    told: Callable[[str], object] | None = None,
) -> EngineResult:
    """`told` hears of progress, in a few words. A KeyboardInterrupt cancels the work, and goes on.

    Raises AnalysisError (in this process), JobFailed and SparkLost (on Spark).
    """
    if engine.is_spark(is_large):
        return asyncio.run(_on_spark(analysis, arrays, parameters, engine, told))
    began_s = time.perf_counter()

    def progress(done: int, every: int) -> None:
        if told is not None:
            told(f"{done} of {every} tasks")

    result = run_here(analysis, arrays, parameters, told=None if told is None else progress)
    return EngineResult(result, IN_PROCESS, time.perf_counter() - began_s)


async def _on_spark(
    analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, engine: Engine, told: Callable[[str], object] | None
) -> EngineResult:
    master = engine.master or LOCAL

    def hear(status: SparkStatus) -> None:
        if told is not None and (text := _in_words(status)):
            told(text)

    client = SparkClient(SparkOptions(master=master, build_archive=False), hear, without=engine.without)
    try:
        await client.start()
        began_s = time.perf_counter()
        result = await client.run(analysis, arrays, parameters, analysis.name)
        return EngineResult(result, f"spark {master}", time.perf_counter() - began_s)
    finally:
        await client.close()


def _in_words(status: SparkStatus) -> str:
    if status.state == "starting":
        return f"starting Spark on {status.master}, {status.seconds:.0f} s"
    return ", ".join(f"{job.tasks[0]} of {job.tasks[1]} tasks, {job.seconds:.0f} s" for job in status.jobs)
