"""A Spark that tests share, for tests that wait: `run` an analysis on it, as `run_here` does in this process."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

from model.analyses.analysis import Analysis, Arrays
from spark_tasks.messages import SparkOptions
from spark_tasks.spark_client import OnStatus, SparkClient

DEADLINE_S = 240.0


class RunningSpark:
    """A client on an event loop of its own, in a thread of its own."""

    def __init__(self, master: str, news: OnStatus | None = None, **options: Any) -> None:
        self.client = SparkClient(SparkOptions(master=master, build_archive=False, **options), news)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._tags = itertools.count(1)

    def run(self, analysis: Analysis[Any, Any], arrays: Arrays | Path, parameters: Any, tag: str = "") -> Any:
        """The result. Raises JobCancelled, JobFailed, SparkLost."""
        return self.wait_for(self.client.run(analysis, arrays, parameters, tag or f"test {next(self._tags)}"))

    def begin(self, analysis: Analysis[Any, Any], arrays: Arrays | Path, parameters: Any, tag: str) -> Future[Any]:
        """As `run`, without waiting. Cancelling the future cancels the task that waits for the job."""
        return asyncio.run_coroutine_threadsafe(self.client.run(analysis, arrays, parameters, tag), self._loop)

    def wait_for(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What the coroutine returns, on the client's loop."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, DEADLINE_S), self._loop).result()

    def close(self) -> None:
        """End Spark and the loop."""
        self.wait_for(self.client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
