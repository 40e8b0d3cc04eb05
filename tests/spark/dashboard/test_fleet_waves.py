"""A fleet for the screens: in a process of its own, in waves, until it is whole, stopped, or that process is gone."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

from model.analyses.analysis import run_here
from model.analyses.engine_costs import EngineCosts, SparkCosts, WorkTiming
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters
from spark_tasks.messages import JobFailed
from spark_tasks.worker import Worker
from tests.harness.waiting import eventually_async
from tests.model.planning.clusters import cluster
from tui.engine.analysis_service import AnalysisService
from tui.engine.analysis_work import fleet_of
from tui.engine.jobs import STOPPED, AnalysisAnswer
from tui.engine.questions import SweepQuestion

IMAGE = cluster({"orders": [(1, 2, 3), (2, 3, 4), (3, 4, 1)] * 40, "audit": [(1,)]}, {1: "a", 2: "b", 3: "c", 4: "a"})
"""With partitions enough that not all is played at once."""
ASKED = SweepQuestion(fleet="all")


def service() -> AnalysisService:
    return AnalysisService(lambda: IMAGE, lambda: None)


async def partly(analyses: AnalysisService) -> AnalysisAnswer:
    """The first rows."""
    await eventually_async(lambda: (found := analyses.look(ASKED).result) is not None and len(found.rows) > 0)
    return analyses.look(ASKED)


async def test_it_grows_and_says_how_long_the_rest_takes() -> None:
    analyses = service()
    so_far = await partly(analyses)
    assert so_far.is_partial and 0 < len(so_far.result.rows) < so_far.result.scenarios
    assert re.fullmatch(r"[\d,]+ of [\d,]+ played, about [\d.,]+ (s|min|h) left; esc stops it", so_far.note)
    await eventually_async(lambda: not analyses.look(ASKED).is_partial)
    whole = analyses.look(ASKED)
    assert (whole.note, whole.where) == ("", "in process: Spark is off")
    assert re.fullmatch(r"[\d.]+ s, CPU [\d.]+ s, [\d,]+ tasks", whole.cost) and "CPU 0.00" not in whole.cost
    assert whole.result == run_here(FLEET, fleet_arrays(IMAGE), fleet_of(ASKED, IMAGE))
    assert whole.result.rows[: len(so_far.result.rows)] == so_far.result.rows
    await analyses.close()


async def test_what_was_played_stays_when_it_is_stopped() -> None:
    analyses = service()
    await partly(analyses)
    stopped = msgspec.structs.replace(ASKED, stopped=True)
    look = analyses.look(stopped)
    assert look.note == STOPPED and 0 < len(look.result.rows) < look.result.scenarios
    await eventually_async(lambda: not analyses.under_way)
    assert analyses.look(stopped).result is look.result
    await analyses.close()


async def ready(analyses: AnalysisService) -> list[int]:
    """Once Spark serves: its process, and Java's."""
    others = children_of(os.getpid())
    analyses.warm_up()
    await eventually_async(lambda: " ready" in analyses.spark)
    (spark,) = (pid for pid, command in children_of(os.getpid()).items() - others.items() if "spark_tasks" in command)
    return [spark, *children_of(spark)]


def children_of(pid: int) -> dict[int, str]:
    """With their commands."""
    found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return {
        int(pid): command for pid, _, command in (line.strip().partition(" ") for line in found.stdout.splitlines())
    }


async def answered(analyses: AnalysisService, question: SweepQuestion) -> AnalysisAnswer:
    await eventually_async(lambda: not analyses.look(question).note)
    return analyses.look(question)


@pytest.mark.thorough  # Spark starts for it alone
async def test_the_same_is_played_on_spark_and_here_again_once_that_is_killed(tmp_path: Path) -> None:
    known = EngineCosts(
        cores=os.cpu_count() or 1,
        here={"fleet": (WorkTiming(1.0, 100.0),)},
        spark={"local[2]": SparkCosts(1.0, 0.1, {"fleet": (WorkTiming(1.0, 0.01),)})},
    )
    (tmp_path / "engines.json").write_bytes(msgspec.json.encode(known))
    pairs, doomed = SweepQuestion(fleet="pair", engine="spark"), SweepQuestion(fleet="random")
    pids: list[int] = []
    seen: list[AnalysisAnswer] = []

    def kill_in_the_midst() -> None:
        if pids and (look := analyses.look(doomed)).is_partial and look.result.rows:
            seen.append(look)
            while pids:
                os.kill(pids.pop(), signal.SIGKILL)

    analyses = AnalysisService(lambda: IMAGE, kill_in_the_midst, "local[2]", tmp_path / "engines.json")
    alive = await ready(analyses)
    there = await answered(analyses, pairs)
    assert there.where == "spark local[2]: as asked" and re.fullmatch(r".* s, CPU .* s, \d+ tasks", there.cost)
    assert there.result == run_here(FLEET, fleet_arrays(IMAGE), fleet_of(pairs, IMAGE))
    pids += alive
    there_and_here = await answered(analyses, doomed)
    assert seen[0].where.startswith("spark local[2]: ") and len(seen[0].result.rows) < seen[0].result.scenarios
    assert re.match(r"spark local\[2\], then in process: (no Spark|Spark is lost) \(", there_and_here.where)
    assert there_and_here.result == run_here(FLEET, fleet_arrays(IMAGE), fleet_of(doomed, IMAGE))
    await analyses.close()


async def test_where_it_is_played_can_be_forced() -> None:
    analyses = service()
    here = await answered(analyses, SweepQuestion(fleet="rolling", engine="here"))
    assert here.where == "in process: as asked" and here.result.rows
    forced = SweepQuestion(fleet="rolling", engine="spark")
    await eventually_async(lambda: "there is no Spark here: --spark-master names one" in analyses.look(forced).note)
    await analyses.close()


async def test_where_nobody_lives_the_reason_is_told() -> None:
    analyses = AnalysisService(lambda: cluster({"orders": [(1, 2, 3)]}, {}), lambda: None)
    await eventually_async(lambda: "too few brokers live" in analyses.look(ASKED).note)
    await analyses.close()


async def test_whoever_waits_hears_that_the_process_is_gone() -> None:
    worker = Worker()
    await worker.ready()
    asked = FleetParameters(generators=("pair",))
    waiting = asyncio.create_task(worker.play(FLEET, fleet_arrays(IMAGE), asked, range(18)))
    await asyncio.sleep(0)
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(JobFailed, match="killed by SIGKILL"):
        await waiting
    await worker.close()


async def test_closing_it_ends_what_it_is_at() -> None:
    worker = Worker()
    arrays = fleet_arrays(IMAGE)
    await worker.ready()
    asked = FleetParameters(generators=("random",), count=10**6)
    assert len((await worker.play(FLEET, arrays, asked, [0]))[0]["rows"])
    waiting = asyncio.create_task(worker.play(FLEET, arrays, asked, range(1_000)))
    await asyncio.sleep(0)
    waiting.cancel()
    await worker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)
