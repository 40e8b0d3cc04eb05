"""A fleet for the screens: in a process of its own, in waves, until it is whole, stopped, or that process is gone."""

from __future__ import annotations

import asyncio
import os
import re
import signal

import msgspec
import pytest

from model.analyses.analysis import run_here
from model.analyses.fleets.fleet import FLEET, fleet_arrays
from model.analyses.fleets.scenarios import FleetParameters
from spark_tasks.messages import JobFailed
from spark_tasks.worker import Worker
from tests.harness.waiting import eventually_async
from tests.model.planning.clusters import cluster
from tui.engine.analyses.service import AnalysisService
from tui.engine.analyses.work import fleet_of
from tui.engine.analysis import STOPPED, AnalysisAnswer
from tui.engine.questions import SweepQuestion

IMAGE = cluster({"orders": [(1, 2, 3), (2, 3, 4), (3, 4, 1)], "audit": [(1,)]}, {1: "a", 2: "b", 3: "c", 4: "a"})
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
