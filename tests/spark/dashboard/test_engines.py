"""Where analyses are worked out: here at once, on Spark once it serves and is worth it, here again when it is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from model.analyses import JobCancelled
from model.analyses.analysis import Analysis, Arrays, RunInProcess, run_here
from model.analyses.drills.results import DrillParameters
from model.analyses.drills.sweep import DRILLS
from model.analyses.engine_costs import EngineCosts, KeptCosts, SparkCosts, WorkTiming
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.result import PreviewParameters
from spark_tasks.engines import Engines
from spark_tasks.messages import JobFailed, SparkOptions
from spark_tasks.spark_client import COMMAND, IN_PROCESS, Rest
from tests.harness.waiting import eventually_async
from tests.model.drills.clusters import cluster, topic
from tests.spark.drills.arrays import random_arrays
from tests.spark.engine.held_job import HeldJob
from tests.spark.engine.sums import SUMS, SumsInPieces, SumsParameters
from tests.spark.previews.many_groups import many_groups
from tests.spark.running_spark import RunningSpark
from tests.thorough import the_rest_when_asked
from tui.engine.lazy import LazyAnalyses
from tui.engine.messages import THIS_MACHINE
from tui.engine.queries import LabGroupList

ARRAYS = {"values": np.arange(1000)}
EXPECTED = run_here(SUMS, ARRAYS, SumsParameters()).sums
MASTER = "local[2]"


def said(_: str) -> None:
    """Nobody listens."""


def costs(**kinds: tuple[float, float]) -> EngineCosts:
    """What a cost of 1 takes here and on Spark, as it was measured before, by the kind of sums."""
    here = {f"{SUMS.name} {kind}": (WorkTiming(1.0, here_s),) for kind, (here_s, _) in kinds.items()}
    on_spark = {f"{SUMS.name} {kind}": (WorkTiming(1.0, spark_s),) for kind, (_, spark_s) in kinds.items()}
    return EngineCosts(cores=os.cpu_count() or 1, here=here, spark={MASTER: SparkCosts(1.0, 0.1, on_spark)})


def written(folder: Path, known: EngineCosts) -> Path:
    """The file in which that is kept."""
    file = folder / "engines.json"
    file.write_bytes(msgspec.json.encode(known))
    return file


LARGE = costs(large=(100.0, 0.01))
AS_LARGE = SumsParameters(kind="large")


@asynccontextmanager
async def engines_of(
    kept: Path | None = None, *, master: str = MASTER, command: Sequence[str] = COMMAND, **more: Any
) -> AsyncIterator[Engines]:
    """On Spark, which is off yet."""
    options = SparkOptions(build_archive=False)
    engines = Engines(master, lambda: None, kept, options=options, command=command, **more)
    try:
        yield engines
    finally:
        await engines.close()


async def started(engines: Engines) -> None:
    engines.warm_up()
    await eventually_async(lambda: engines.status.state == "ready")


async def test_a_cold_spark_never_delays_a_result(tmp_path: Path) -> None:
    """It starts, and does not come to an end with it."""
    async with engines_of(written(tmp_path, LARGE), command=(sys.executable, "-c", "input()")) as engines:
        found = await engines.run(SUMS, ARRAYS, AS_LARGE, tag="early", told=said)
        assert (found.engine, found.result.sums) == (IN_PROCESS, EXPECTED)
        assert found.where == f"{IN_PROCESS}: Spark had not started"
        assert found.cost.endswith(" s, CPU 0.00 s, 10 tasks")
        assert engines.status.state == "starting"  # for the next one


async def test_each_goes_where_it_is_done_sooner_or_where_it_is_forced_to_and_here_when_spark_is_lost(
    tmp_path: Path, is_gone: Callable[[int], bool]
) -> None:
    kept = written(tmp_path, costs(small=(0.001, 0.0001), large=(10.0, 0.1), lost=(10.0, 0.1)))
    small = SumsParameters(kind="small")
    async with engines_of(kept) as engines:
        await started(engines)
        here = await engines.run(SUMS, ARRAYS, small, tag="small", told=said)
        assert (here.engine, here.why) == (IN_PROCESS, "too little for Spark")
        there = await engines.run(SUMS, ARRAYS, small, tag="forced there", told=said, kind="spark")
        assert (there.engine, there.why, there.tasks) == (f"spark {MASTER}", "as asked", 8)
        large = await engines.run(SUMS, ARRAYS, AS_LARGE, tag="large", told=said)
        assert large.engine == f"spark {MASTER}" and large.cpu_s > 0
        assert large.why == "about 190 s in process, about 1.9 s on Spark"
        forced = await engines.run(SUMS, ARRAYS, AS_LARGE, tag="forced here", told=said, kind="here")
        assert (forced.engine, forced.why) == (IN_PROCESS, "as asked")
        assert here.result.sums == there.result.sums == large.result.sums == forced.result.sums == EXPECTED
        await _ends_with_who_waits(engines, tmp_path / "ended", is_gone)
        await _is_done_here_when_spark_is_lost(engines, tmp_path / "lost")


async def _ends_with_who_waits(engines: Engines, folder: Path, is_gone: Callable[[int], bool]) -> None:
    """And nothing of it is played any more, not what had not begun either."""
    folder.mkdir()
    job, parameters = HeldJob(folder), SumsParameters(folder=str(folder), held=tuple(range(10)))
    task = asyncio.create_task(engines.run(SUMS, ARRAYS, parameters, tag="ended", told=said, kind="spark"))
    workers = (await asyncio.to_thread(job.workers, 2)).values()
    task.cancel()
    with pytest.raises((asyncio.CancelledError, JobCancelled)):
        await task
    await eventually_async(lambda: all(map(is_gone, workers)) and not engines.status.jobs)
    job.let_go()
    again = await engines.run(SUMS, ARRAYS, SumsParameters(), tag="after", told=said, kind="spark")
    assert again.result.sums == EXPECTED
    assert len([*folder.glob("at-*")]) == len(workers)


async def test_work_here_that_nobody_waits_for_ends_with_the_piece_at_hand(tmp_path: Path) -> None:
    """It can't be broken off, but no other unit of its task is begun."""
    job, others = HeldJob(tmp_path), set(threading.enumerate())
    parameters = SumsParameters(slices=300, folder=str(tmp_path), held=tuple(range(300)))
    async with engines_of(master="") as engines:
        task = asyncio.create_task(engines.run(SumsInPieces(0.0), ARRAYS, parameters, tag="ended", told=said))
        await asyncio.to_thread(job.workers, 1)
        (working,) = (one for one in set(threading.enumerate()) - others if one.daemon)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        job.let_go()
        await asyncio.to_thread(working.join)
    assert len([*tmp_path.glob("at-*")]) == 1


async def _is_done_here_when_spark_is_lost(engines: Engines, folder: Path) -> None:
    folder.mkdir()
    job, parameters = HeldJob(folder), SumsParameters(folder=str(folder), held=(1,), kind="lost")
    task = asyncio.create_task(engines.run(SUMS, ARRAYS, parameters, tag="held", told=said))
    await asyncio.to_thread(job.workers, 1)
    await eventually_async(lambda: "of" in engines.progress("held"))
    for pid in engines.status.pids:
        os.kill(pid, signal.SIGKILL)
    job.let_go()
    found = await task
    assert (found.engine, found.result.sums) == (IN_PROCESS, EXPECTED)
    assert found.why.startswith("Spark is lost (")
    await eventually_async(lambda: engines.status.state == "failed")
    assert engines.status.reason
    assert (await engines.run(SUMS, ARRAYS, AS_LARGE, tag="late", told=said)).engine == IN_PROCESS


async def test_work_that_is_under_way_goes_to_spark_once_that_serves_and_what_it_took_is_kept(tmp_path: Path) -> None:
    """No unit is worked out twice."""
    kept = written(tmp_path, LARGE)
    held = HeldJob(tmp_path / "held")
    held.folder.mkdir()
    parameters = SumsParameters(folder=str(held.folder), held=tuple(range(10)), kind="large")
    async with engines_of(kept) as engines:
        work = asyncio.create_task(engines.run(SUMS, ARRAYS, parameters, tag="moves", told=said))
        await asyncio.to_thread(held.workers, 1)  # the first task is under way, and Spark is started for the rest
        await eventually_async(lambda: engines.status.state == "ready")
        held.let_go()
        found = await work
        started_s = engines.status.seconds
    assert (found.engine, found.result.sums) == (f"in process, then spark {MASTER}", EXPECTED)
    ran = [int(file.name.split("-")[1]) for file in held.folder.glob("at-*")]
    assert sorted(ran) == list(range(10))
    known = KeptCosts(kept).costs
    assert known.spark[MASTER].start_s == pytest.approx((1.0 + started_s) / 2)
    assert len(known.spark[MASTER].timings[f"{SUMS.name} large"]) == 2
    assert known.here[f"{SUMS.name} large"][-1].seconds < started_s + found.seconds


def test_a_file_that_cannot_be_used_is_as_none(tmp_path: Path) -> None:
    file = written(tmp_path, LARGE)
    assert KeptCosts(file).costs == LARGE
    nothing = EngineCosts(cores=LARGE.cores)
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(LARGE, cores=LARGE.cores + 1)))
    assert KeptCosts(file).costs == nothing
    file.write_text("{")
    assert KeptCosts(file).costs == nothing
    file.unlink()
    file.mkdir()
    kept = KeptCosts(file)
    kept.change(lambda _: LARGE)  # it is known for this run
    assert kept.costs == LARGE and KeptCosts(file).costs == nothing


SIX = cluster(range(1, 7), *topic((1, 2, 3), (1, 2, 3), 1), *topic((4, 5), (4, 5), 4, name="other"))
SAME: tuple[tuple[Analysis[Any, Any], Callable[[], Arrays], Any], ...] = (
    (
        DRILLS,
        partial(random_arrays, 3, partitions=300_000, brokers=12),
        DrillParameters(kind="pairs", racks=("a", "b", "c")),
    ),
    (PREVIEWS, lambda: stage(many_groups(40)).arrays, PreviewParameters(each_leaves=True, join=2, detail=True)),
    (FLEET, partial(fleet_arrays, SIX), FleetParameters(generators=("single",))),
)


@pytest.mark.parametrize(("analysis", "arrays_of", "parameters"), SAME, ids=[each[0].name for each in SAME])
def test_rows_are_the_same_here_on_spark_and_half_and_half(
    local_spark: RunningSpark, analysis: Analysis[Any, Any], arrays_of: Callable[[], Arrays], parameters: Any
) -> None:
    arrays = arrays_of()
    expected = run_here(analysis, arrays, parameters)
    assert local_spark.run(analysis, arrays, parameters) == expected
    course = RunInProcess(analysis, arrays, parameters)
    course.divide(4)
    assert course.work_on(ended=lambda: len(course.batches) == 2) is None
    rest = Rest(tuple(unit for task in course.left for unit in task), course.batches)
    ran = local_spark.wait_for(local_spark.client.ran(analysis, arrays, parameters, "rest", rest))
    assert ran.result == expected
    assert course.work_on() == expected


async def test_an_idle_spark_is_given_back_and_started_again_when_it_is_worth_it(
    tmp_path: Path, is_gone: Callable[[int], bool]
) -> None:
    async with engines_of(written(tmp_path, LARGE), idle_s=0.2) as engines:
        engines.warm_up()
        await eventually_async(lambda: len(engines.status.pids) == 2)
        pids = engines.status.pids
        await eventually_async(lambda: engines.status.state == "off")
        await eventually_async(lambda: all(map(is_gone, pids)))
        assert engines.status_line == f"Spark {MASTER} was idle, starts again when worth it"
        found = await engines.run(SUMS, ARRAYS, AS_LARGE, tag="worth it", told=said)
        assert found.result.sums == EXPECTED
        await eventually_async(lambda: len(engines.status.pids) == 2)
        assert not set(engines.status.pids) & set(pids)


@pytest.mark.parametrize("master", the_rest_when_asked([THIS_MACHINE, MASTER]))
async def test_spark_is_started_before_it_is_worth_it_only_where_a_master_was_named(
    monkeypatch: pytest.MonkeyPatch, master: str
) -> None:
    monkeypatch.setattr("tui.engine.lazy.WARM_UP_AFTER_S", 0.0)
    analyses = LazyAnalyses(lambda: SIX, lambda: None, master, keeps=False)
    analyses.warm_up()
    await analyses.answer("lab.rows.lab_groups", LabGroupList(), 0)
    await eventually_async(lambda: not analyses.under_way)
    await eventually_async(lambda: bool(analyses.spark) == (master == MASTER))
    await analyses.close()


async def test_without_a_master_everything_is_done_here() -> None:
    told: list[str] = []
    async with engines_of(master="") as engines:
        engines.warm_up()
        found = await engines.run(SUMS, ARRAYS, SumsParameters(), tag="one", told=told.append)
        assert (found.engine, found.why, found.result.sums) == (IN_PROCESS, "Spark is off", EXPECTED)
        assert told[0] == "0 of 8 tasks"
        with pytest.raises(JobFailed, match="there is no Spark here: --spark-master names one"):
            await engines.run(SUMS, ARRAYS, SumsParameters(), tag="two", told=said, kind="spark")
