"""Starts the Spark process, gives it jobs and hears its status. For one event loop; loads nothing of what that does.

The process ends, with Spark and all workers, when this one does, however that happens.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec

from spark_tasks.analysis import Analysis, Arrays, ParametersT_contra, ResultT_co
from spark_tasks.client.spark_process import COMMAND, SparkProcess
from spark_tasks.errors import JobFailed, SparkLost
from spark_tasks.options import SparkOptions
from spark_tasks.status import SparkStatus

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
        return self._process is not None and await self._process.cancel(tag)

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
