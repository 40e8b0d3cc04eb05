"""A process that works analyses out which would keep this one from answering: `python -m tui.engine.analyses.worker`.

Numpy lets other threads go on; the controller's rules, played in Python, do not. The process takes one piece of work
after another, and is killed when nobody wants it any more, which is how work in it is cancelled. Arrays go there as a
file. It takes less processor time than the dashboard where both want it.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from model.analyses.analysis import Analysis, Arrays, run_here
from model.analyses.errors import AnalysisError
from model.hosts.child_process import AskedChild, Garbled, Owner, output_for_messages
from model.hosts.process import crash_line, tell_no_values
from model.sandbox.processes import temporary_folder
from spark_tasks.messages import JobFailed, JobResult, Run, SparkStatus
from spark_tasks.spark_client import ArrayFiles

COMMAND = (sys.executable, "-P", "-m", "tui.engine.analyses.worker")
"""-P: whatever lies in the current folder is not ours."""
NICE = 5


class Worker:
    """Starts with the object, and loads while its owner goes on. For one event loop; `close` ends it, and its work."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """Raises OSError."""
        self._folder = temporary_folder("kdrill-worker-")
        self._files = ArrayFiles(self._folder.path)
        self._child = AskedChild[SparkStatus]("the process that works it out", command, SparkStatus, JobFailed)
        self._is_open = False

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._child.pid

    async def run(self, analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any) -> Any:
        """The result. Raises JobFailed with the reason, also when the process is gone."""
        if not self._is_open:
            self._is_open = True
            self._child.begin(analysis.name)
            await self._child.open(_nothing, _its_end)
        async with self._files.of(arrays) as file:
            run = Run(tag="", analysis=analysis.name, arrays=str(file), parameters=msgspec.json.encode(parameters))
            became = await self._child.ask(run, JobResult)
        if became.failed is not None:
            raise JobFailed(became.failed)
        return await asyncio.to_thread(msgspec.json.decode, became.result, type=analysis.result_type)

    async def close(self) -> None:
        """Kills it at once."""
        await self._child.close("it was stopped", 0.0)
        await asyncio.to_thread(self._folder.remove)


def _nothing(_: object) -> None:
    """It has no news."""


async def _its_end(_: object) -> None:
    """Those are told who wait."""


def main() -> None:
    """Runs the process."""
    tell_no_values()
    output = output_for_messages()
    with suppress(Garbled):
        asyncio.new_event_loop().run_until_complete(_serve(output))
    os._exit(0)  # work that nobody waits for any more must not keep us


async def _serve(output: Any) -> None:
    os.nice(NICE)
    owner, turn = await Owner.of(output), asyncio.Lock()

    async def answer(run: Run) -> JobResult:
        async with turn:
            return await asyncio.to_thread(_worked_out, run)

    if await owner.first(str) is not None:
        await owner.answer_all(Run, answer, crash_line)


def _worked_out(run: Run) -> JobResult:
    from spark_tasks import arrow_arrays  # noqa: PLC0415 - takes pyarrow, which the owner need not load
    from spark_tasks.registry import find  # noqa: PLC0415

    analysis = find(run.analysis)
    parameters = msgspec.json.decode(run.parameters, type=analysis.parameters_type)
    try:
        return JobResult(result=msgspec.json.encode(run_here(analysis, arrow_arrays.open(run.arrays), parameters)))
    except AnalysisError as error:
        return JobResult(failed=str(error))


if __name__ == "__main__":
    main()
