"""Work in waves, each shown before the next begins, and the process that plays them where this one is to answer others.

A wave takes about as long wherever it is done: how much that is, is judged by the waves before it.

Numpy lets other threads go on; the controller's rules, played in Python, do not. The process takes one task after
another, as a worker of Spark does, and is killed when nobody wants it any more, which is how work in it is cancelled:
`python -m spark_tasks.worker`. Arrays go there as a file. It takes less processor time than the dashboard where both
want it.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from model.analyses.analysis import Analysis, Arrays, Wave
from model.hosts.child_process import AskedChild, Garbled, ParentProcess, output_for_messages
from model.hosts.process import crash_line, tell_no_values
from model.sandbox.processes import temporary_folder
from spark_tasks.messages import JobFailed, JobResult, RunJob, SparkStatus
from spark_tasks.spark_client import ArrayFiles, EngineResult, Kind

if TYPE_CHECKING:
    from spark_tasks.engines import Engines

COMMAND = (sys.executable, "-P", "-m", "spark_tasks.worker")
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

    async def ready(self) -> None:
        """Returns once it takes tasks. Raises JobFailed with the reason when it is gone."""
        if not self._is_open:
            self._is_open = True
            self._child.begin("")
            await self._child.open(_nothing, _its_end)
        await self._child.ask(RunJob(tag="", analysis="", arrays="", parameters=b"", left=()), JobResult)

    async def play(
        self, analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, units: Sequence[int]
    ) -> tuple[Arrays, float]:
        """What the kernel makes of these units, and its seconds of processor time; once it is ready.

        Raises JobFailed with the reason, also when the process is gone.
        """
        async with self._files.of(arrays) as file:
            asked = msgspec.json.encode(parameters)
            run = RunJob(tag="", analysis=analysis.name, arrays=str(file), parameters=asked, left=tuple(units))
            became = await self._child.ask(run, JobResult)
        if became.failed is not None:
            raise JobFailed(became.failed)
        from spark_tasks import arrow_arrays  # noqa: PLC0415 - takes pyarrow, which no status needs

        return await asyncio.to_thread(arrow_arrays.decode, became.result), became.cpu_s

    async def close(self) -> None:
        """Kills it at once."""
        await self._child.close("it was stopped", 0.0)
        await asyncio.to_thread(self._folder.remove)


def _nothing(_: object) -> None:
    """It has no news."""


async def _its_end(_: object) -> None:
    """Those are told who wait."""


WAVE_S = 4.0
"""About how long a wave takes."""
THEN = ", then "


def _nobody(_: str) -> None:
    """Waves tell how far the whole is."""


class Waves:
    """One question on its way. For one event loop; `close` ends its work."""

    def __init__(
        self, engines: "Engines", tag: str, kind: Kind, *, first: float, apart: bool = False, wave_s: float = WAVE_S
    ) -> None:
        """`first`: what the first wave costs. `apart`: in this process it would keep others waiting, so that what is
        not done on Spark is done in a process beside it."""
        self._engines, self._tag = engines, tag
        self._kind: Kind = kind
        self._worker = Worker() if apart and kind != "spark" else None
        self._budget, self._wave_s = first, wave_s
        self._began_s, self._done = time.monotonic(), 0.0
        self._total = EngineResult(None, "", 0.0)

    def budget(self) -> float:
        """How much the next wave should cost."""
        return self._budget

    async def over(
        self, analysis: Analysis[Any, Any], arrays: Arrays, parts: Iterator[Wave]
    ) -> AsyncGenerator[tuple[Wave, Any]]:
        """One wave after the other, and what comes of it. Raises what engines raise."""
        while (wave := await asyncio.to_thread(next, parts, None)) is not None:
            yield wave, await self.play(analysis, arrays, wave)

    async def play(self, analysis: Analysis[Any, Any], arrays: Arrays, wave: Wave) -> Any:
        """What comes of one wave."""
        found = await self._engines.run(
            analysis, arrays, wave.parameters, tag=self._tag, told=_nobody, kind=self._kind, ahead=wave.left,
            worker=self._worker,
        )  # fmt: skip
        self._add(found)
        self._done += wave.cost
        speed = wave.cost / max(found.seconds, 1e-3)
        self._budget = min(max(speed * self._wave_s, wave.cost / 2), 2 * wave.cost)
        return found.result

    def left_s(self, left: float) -> float:
        """About how many seconds it takes to do what costs so much."""
        return (time.monotonic() - self._began_s) * left / self._done if self._done else 0.0

    def so_far(self, result: Any) -> EngineResult:
        """With where waves were done, why the last one was, and what all of them took."""
        return msgspec.structs.replace(self._total, result=result)

    def _add(self, found: EngineResult) -> None:
        total = self._total
        engines = dict.fromkeys(filter(None, [*total.engine.split(THEN), *found.engine.split(THEN)]))
        self._total = EngineResult(
            None,
            THEN.join(engines),
            total.seconds + found.seconds,
            total.cpu_s + found.cpu_s,
            total.tasks + found.tasks,
            found.why,
        )

    async def close(self) -> None:
        """What is under way is ended at once."""
        if self._worker is not None:
            await self._worker.close()


# The process


def main() -> None:
    """Runs the process."""
    tell_no_values()
    output = output_for_messages()
    with suppress(Garbled):
        asyncio.new_event_loop().run_until_complete(_serve(output))
    os._exit(0)  # work that nobody waits for any more must not keep us


async def _serve(output: Any) -> None:
    os.nice(NICE)
    owner, turn = await ParentProcess.of(output), asyncio.Lock()

    async def answer(run: RunJob) -> JobResult:
        async with turn:
            return await asyncio.to_thread(_played, run)

    if await owner.first(str) is not None:
        await owner.answer_all(RunJob, answer, crash_line)


def _played(run: RunJob) -> JobResult:
    from spark_tasks.registry import KernelTask  # noqa: PLC0415 - takes pyarrow, which the owner need not load

    if not run.left:
        return JobResult()
    ((is_well, told, cpu_s),) = KernelTask(run.analysis, run.parameters, run.arrays)([run.left])
    return JobResult(result=told, cpu_s=cpu_s) if is_well else JobResult(failed=told.decode())


if __name__ == "__main__":
    main()
