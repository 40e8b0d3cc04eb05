"""Where an analysis is worked out: here at once, and on Spark where that is ready and worth it.

Nobody waits for a cold Spark: work begins here, task by task, and what is left of it goes to Spark once that serves and
would be done much sooner. What work takes is measured as it is done, and kept (`model/analyses/engine_costs.py`). A
Spark that has had nothing to do for a while is given back, and started again when it is worth it.
"""

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from platformdirs import user_state_path

from model.analyses.analysis import Analysis, Arrays, Kernel, RunInProcess
from model.analyses.engine_costs import (
    TASKS_HERE,
    EngineCosts,
    KeptCosts,
    Outlook,
    after_here,
    after_spark,
    after_start,
    outlook,
    tasks_here,
    work_of,
)
from model.hosts.child_process import FAREWELL_S
from spark_tasks.messages import JobFailed, SparkLost, SparkOptions, SparkStatus
from spark_tasks.spark_client import AS_ASKED, COMMAND, IN_PROCESS, LOCAL, Engine, EngineResult, Kind, Rest, SparkClient
from spark_tasks.worker import Worker

FILE = "engines.json"


def costs_file() -> Path:
    """Where this user's machine keeps what work took."""
    return user_state_path("kdrill", appauthor=False) / FILE


OnProgress = Callable[[str], None]
"""Is told in a few words how far the work is."""


@dataclass
class _Run:
    """One question on its way."""

    course: RunInProcess
    kind: Kind
    began_s: float = field(default_factory=time.perf_counter)
    why: str = ""
    """Why it is where it is."""
    lost: str = ""
    """Why Spark can't do it."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    cpu_s: float = 0.0
    """Processor time that it took in this process, or the one beside it."""
    ahead: float = 0.0
    """The cost of what comes after it."""

    def work_on(self, told: OnProgress, ended: Callable[[], bool] | None = None, kernel: Kernel | None = None) -> Any:
        """In this thread. The result; None where it `ended()` before."""
        began_s = time.thread_time()
        result = self.course.work_on(
            told=lambda done, every: told(f"{done} of {every} tasks"), ended=ended, kernel=kernel
        )
        self.cpu_s += time.thread_time() - began_s
        return result

    def kernel_of(self, worker: Worker, loop: asyncio.AbstractEventLoop) -> Kernel:
        """The kernel, as the worker does it; for other threads than the loop's."""

        def play(units: Sequence[int], arrays: Arrays, parameters: Any) -> Arrays:
            played = worker.play(self.course.analysis, arrays, parameters, units)
            batch, cpu_s = asyncio.run_coroutine_threadsafe(played, loop).result()
            self.cpu_s += cpu_s
            return batch

        return play

    def result(self, engine: str, result: Any, tasks: int = 0, cpu_s: float = 0.0) -> EngineResult:
        """`tasks` and `cpu_s` of Spark."""
        course, seconds = self.course, time.perf_counter() - self.began_s
        return EngineResult(result, engine, seconds, self.cpu_s + cpu_s, course.done + tasks, self.lost or self.why)


def _begun(
    analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, kind: Kind, costs: EngineCosts, fewest: int
) -> _Run:
    """Divided into so many tasks at least. Raises AnalysisError."""
    course = RunInProcess(analysis, arrays, parameters, time.perf_counter)
    course.divide(tasks_here(costs, work_of(course), fewest))
    return _Run(course, kind, why="" if kind == "auto" else AS_ASKED)


IDLE_S = 600.0
"""A Spark that has had nothing to do for so long is given back."""
NICE = 10
"""Of Spark on this machine: what people wait for comes first, and an idle machine is its own all the same."""


class Engines:
    """Used on one event loop. Without a master everything runs here."""

    def __init__(
        self,
        master: str,
        news: Callable[[], object],
        kept: Path | None = None,
        *,
        options: SparkOptions | None = None,
        command: Sequence[str] = COMMAND,
        without: Sequence[str] = (),
        idle_s: float = IDLE_S,
    ) -> None:
        """Starts nothing yet. `news` is called when Spark stands otherwise; `kept`: the file of what work took;
        `without`: environment variables that Spark's processes do not get."""
        self._news = news
        self._kept = KeptCosts(kept)
        self._master = master
        told = msgspec.structs.replace(options or SparkOptions(), master=master)
        self._spark = SparkClient(told, self._hear, command, without=without) if master else None
        self._start: asyncio.Task[None] | None = None
        self._end: asyncio.Task[None] | None = None
        """Spark is being given back, or was."""
        self._idle_s = idle_s
        self._idle: asyncio.TimerHandle | None = None
        self._jobs = 0
        self._loop = asyncio.get_running_loop()

    @property
    def status(self) -> SparkStatus:
        """How Spark stands; `off` where there is none."""
        return self._spark.status if self._spark else SparkStatus()

    @property
    def status_line(self) -> str:
        """How Spark stands, one line; empty where nobody wants it."""
        status = self.status
        match status.state:
            case "off":
                return f"Spark {status.master} was idle, starts again when worth it" if self._end is not None else ""
            case "starting":
                return f"Spark {status.master} starting, {status.seconds:.0f} s"
            case "failed":
                return f"no Spark: {status.reason}"
            case state:
                return f"Spark {status.master} {state}, started in {status.seconds:.1f} s"

    def warm_up(self) -> None:
        """Begins to start Spark where it is off; how that goes is in `status`."""
        if self._spark is not None and self._start is None:
            self._start = asyncio.create_task(self._started(self._spark))

    async def run(
        self,
        analysis: Analysis[Any, Any],
        arrays: Arrays,
        parameters: Any,
        *,
        tag: str,
        told: OnProgress,
        kind: Kind = "auto",
        ahead: float | None = None,
        worker: Worker | None = None,
    ) -> EngineResult:
        """The result, and what it took. Raises JobCancelled, JobFailed, AnalysisError; SparkLost where Spark is a must.

        Ending the task that waits ends the work. `ahead`: it is a part, and what comes after it costs so much; then it
        shows no progress by itself. `worker`: does it in place of a thread here, and is to be closed by who waits.
        """
        costs, fewest = self._kept.costs, TASKS_HERE if ahead is None else 1
        run = await _in_thread(lambda: _begun(analysis, arrays, parameters, kind, costs, fewest))
        run.ahead = ahead or 0.0
        if kind == "spark":
            if self._spark is None:
                raise JobFailed("there is no Spark here: --spark-master names one")
            self.warm_up()
            await self._spark.start()
            run.began_s = time.perf_counter()
            return await self._on_spark(self._spark, run, tag, told)
        while True:
            if self._spark is not None and self._is_for_spark(run):
                try:
                    return await self._on_spark(self._spark, run, tag, told)
                except SparkLost as lost:
                    run.lost = f"Spark is lost ({lost})"
                    told(f"{run.lost}; working it out here")
            found = await self._here(run, told, worker)
            if found is not None:
                return found

    def progress(self, tag: str) -> str:
        """How far Spark is with a job, a few words; empty where it has none of that tag."""
        job = next((job for job in self.status.jobs if job.tag == tag), None)
        return "" if job is None else f"on Spark: {job.tasks[0]} of {job.tasks[1]} tasks, {job.seconds:.0f} s"

    async def close(self, patience_s: float = FAREWELL_S) -> None:
        """Ends Spark: in order, or by force after so many seconds."""
        if self._idle is not None:
            self._idle.cancel()
        if self._start is not None:
            self._start.cancel()
        if self._end is not None:
            await self._end
        if self._spark is not None:
            await self._spark.close(patience_s)

    def _outlook(self, run: _Run, done: float = 0.0, spent_s: float = 0.0, ahead: float = 0.0) -> Outlook:
        """Of what is left, and comes after it, once work of the cost `done` took `spent_s` here."""
        left = work_of(run.course)
        left = left._replace(cost=left.cost + ahead)
        so_far_s = spent_s * left.cost / done if done > 0 else None
        return outlook(self._kept.costs, left, self._master, self.status.cores or os.cpu_count() or 1, so_far_s)

    def _is_for_spark(self, run: _Run, done: float = 0.0, spent_s: float = 0.0) -> bool:
        """Whether Spark is to do what is left; begins to start one that is going to be worth it. In any thread."""
        if run.kind != "auto" or run.lost or self._spark is None:
            return False
        seen, state = self._outlook(run, done, spent_s), self.status.state
        if state == "off" and self._start is None and self._outlook(run, done, spent_s, run.ahead).is_worth_a_start:
            self._loop.call_soon_threadsafe(self.warm_up)
        if state not in ("ready", "busy") or not seen.is_for_spark:
            return False
        run.why = seen.in_words
        return True

    async def _here(self, run: _Run, told: OnProgress, worker: Worker | None) -> EngineResult | None:
        """None: what is left is for Spark."""
        run.why = run.why or self._why_here(run)
        kernel = None
        if worker is not None:
            await worker.ready()
            kernel = run.kernel_of(worker, self._loop)
        began_s, work = time.perf_counter(), work_of(run.course)

        def is_over() -> bool:
            done = work.cost - run.course.cost_left
            return run.cancelled.is_set() or self._is_for_spark(run, done, time.perf_counter() - began_s)

        def work_on() -> Any:
            result = run.work_on(told, is_over, kernel)
            done = work._replace(cost=work.cost - run.course.cost_left)
            if not run.cancelled.is_set() and done.cost:
                self._kept.change(lambda costs: after_here(costs, done, time.perf_counter() - began_s))
            return result

        try:
            result = await _in_thread(work_on)
        except asyncio.CancelledError:
            run.cancelled.set()
            raise
        return None if run.course.left else run.result(IN_PROCESS, result)

    def _why_here(self, run: _Run) -> str:
        if self._spark is None:
            return "Spark is off"
        if self.status.state == "failed":
            return f"no Spark ({self.status.reason})"
        seen, all = self._outlook(run), self._outlook(run, ahead=run.ahead)
        is_late = all.is_for_spark and self.status.state in ("off", "starting")
        return "Spark had not started" if is_late else seen.in_words

    async def _on_spark(self, spark: SparkClient, run: _Run, tag: str, told: OnProgress) -> EngineResult:
        """What is left. Raises JobCancelled, JobFailed, SparkLost."""
        course, began_s = run.course, time.perf_counter()
        rest = Rest(tuple(unit for task in course.left for unit in task), course.batches) if course.batches else None
        told("on Spark")
        self._jobs += 1
        try:
            ran = await spark.ran(course.analysis, course.arrays, course.parameters, tag, rest)
        finally:
            self._jobs -= 1
            self._wait_for_work()
        seconds, work = time.perf_counter() - began_s, work_of(course)
        await _in_thread(lambda: self._kept.change(lambda costs: after_spark(costs, work, seconds, self._master)))
        engine = f"{IN_PROCESS}, then spark {self._master}" if course.batches else f"spark {self._master}"
        return run.result(engine, ran.result, ran.tasks, ran.cpu_s)

    # Spark itself

    async def _started(self, spark: SparkClient) -> None:
        if self._end is not None:
            await self._end
        with suppress(SparkLost):  # the status says why
            await spark.start()
            status = spark.status
            self._end = None
            await _in_thread(
                lambda: self._kept.change(lambda costs: after_start(costs, self._master, status.seconds, status.job_s))
            )
        self._news()

    def _hear(self, status: SparkStatus) -> None:
        if status.state == "ready" and self._idle is None:
            self._wait_for_work()
        self._news()

    def _wait_for_work(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(self._idle_s, self._give_back)

    def _give_back(self) -> None:
        self._idle = None
        if self._spark is not None and not self._jobs and self.status.state == "ready":
            self._start = None
            self._end = asyncio.create_task(self._spark.close())


T = TypeVar("T")


async def _in_thread(work: Callable[[], T]) -> T:
    """As asyncio.to_thread, but nobody waits for the thread: neither who is cancelled nor the end of the program."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[T] = loop.create_future()

    def tell(set_it: Callable[[Any], None], what: Any) -> None:
        if not found.done():
            set_it(what)

    def run() -> None:
        try:
            told, what = found.set_result, work()
        except Exception as error:
            told, what = found.set_exception, error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, told, what)

    threading.Thread(target=run, daemon=True).start()
    return await found


def run_once(
    analysis: Analysis[Any, Any],
    arrays: Arrays,
    parameters: Any,
    engine: Engine,
    *,
    told: OnProgress | None = None,
    kept: Path | None = None,
) -> EngineResult:
    """For a command. `told` hears of progress, in a few words. A KeyboardInterrupt cancels the work, and goes on.

    Raises AnalysisError; JobFailed and SparkLost where it has to be on Spark.
    """
    tell: OnProgress = told or (lambda _: None)
    known, kind = KeptCosts(kept), engine.wanted
    run = _begun(analysis, arrays, parameters, kind, known.costs, TASKS_HERE)
    work = work_of(run.course)
    seen = outlook(known.costs, work, engine.master or LOCAL, os.cpu_count() or 1)
    if kind == "spark" or (kind == "auto" and seen.is_worth_a_start):
        return asyncio.run(_beside_spark(analysis, arrays, parameters, engine, tell, kept))
    run.why = run.why or seen.in_words
    done = run.result(IN_PROCESS, run.work_on(tell))
    known.change(lambda before: after_here(before, work, done.seconds))
    return done


async def _beside_spark(
    analysis: Analysis[Any, Any], arrays: Arrays, parameters: Any, engine: Engine, told: OnProgress, kept: Path | None
) -> EngineResult:
    async with engines_of(engine, told, kept) as engines:
        return await engines.run(analysis, arrays, parameters, tag=analysis.name, told=told, kind=engine.wanted)


HURRY_S = 0.2
"""Whoever was interrupted does not wait for Spark to end in order."""


@asynccontextmanager
async def engines_of(engine: Engine, told: OnProgress, kept: Path | None) -> AsyncGenerator[Engines]:
    """As a command wants them, ended afterwards. `told` hears of Spark, in a few words."""

    def hear() -> None:
        if engine.wanted == "spark" or engines.status.jobs:
            told(_in_words(engines.status))

    options = SparkOptions(build_archive=False, nice=NICE)
    engines = Engines(engine.master or LOCAL, hear, kept, options=options, without=engine.without)
    patience_s = HURRY_S
    try:
        yield engines
        patience_s = FAREWELL_S
    finally:
        await engines.close(patience_s)


def _in_words(status: SparkStatus) -> str:
    if status.state == "starting":
        return f"starting Spark on {status.master}, {status.seconds:.0f} s"
    return ", ".join(f"{job.tasks[0]} of {job.tasks[1]} tasks, {job.seconds:.0f} s" for job in status.jobs)
