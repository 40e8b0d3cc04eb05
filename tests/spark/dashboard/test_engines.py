"""The dashboard's engines: small work here, large work on Spark, and here again when Spark is lost."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from model.analyses import analysis
from model.analyses.errors import JobCancelled
from spark_tasks.spark_client import IN_PROCESS
from tests.harness.waiting import eventually_async
from tests.spark.engine.held_job import HeldJob
from tests.spark.engine.sums import SUMS, SumsParameters
from tui.engine.analysis import Engines

ARRAYS = {"values": np.arange(1000)}


async def test_large_work_goes_to_spark_is_cancelled_there_and_done_here_when_spark_is_lost(tmp_path: Path) -> None:
    said: list[str] = []
    news: list[str] = []
    engines = Engines("local[2]", lambda: news.append(engines.status.state))

    def large(parameters: SumsParameters, tag: str):
        return engines.run(SUMS, ARRAYS, parameters, is_large=True, tag=tag, told=said.append)

    try:
        assert engines.status.state == "off"
        assert (await large(SumsParameters(), "early"))[1] == IN_PROCESS  # nobody waits for a start

        engines.warm_up()
        await eventually_async(lambda: engines.status.state == "ready")
        assert news[0] == "starting"
        result, engine = await large(SumsParameters(), "one")
        assert engine == "spark local[2]"
        assert result.sums == analysis.run_here(SUMS, ARRAYS, SumsParameters()).sums

        job = HeldJob(tmp_path)
        task = asyncio.create_task(large(SumsParameters(folder=str(tmp_path), held=(1,)), "held"))
        await asyncio.to_thread(job.workers, 1)
        await eventually_async(lambda: "of" in engines.progress("held"))
        task.cancel()
        with pytest.raises((asyncio.CancelledError, JobCancelled)):
            await task

        for pid in engines.status.pids:
            os.kill(pid, signal.SIGKILL)
        await eventually_async(lambda: engines.status.state == "failed")
        assert engines.status.reason
        assert (await large(SumsParameters(), "late"))[1] == IN_PROCESS
    finally:
        await engines.close()


async def test_without_a_master_everything_is_done_here_and_can_be_ended() -> None:
    engines = Engines("", lambda: None)
    engines.warm_up()
    said: list[str] = []
    result, engine = await engines.run(SUMS, ARRAYS, SumsParameters(), is_large=True, tag="one", told=said.append)
    assert engine == IN_PROCESS and sum(result.sums) == ARRAYS["values"].sum()
    assert said[0].startswith("0 of ")
    await engines.close()
