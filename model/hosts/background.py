"""Tasks beside an event loop that nobody waits for: kept alive while they run, and their failure is always reported."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class BackgroundTasks:
    """For one event loop. `failed` is told of each error that ended a task; a cancelled one is no failure."""

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        self._failed = failed
        self._running: set[asyncio.Task[object]] = set()

    def spawn(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin it."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)

    async def close(self) -> None:
        """Cancel all, and wait until they have ended."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _done(self, task: asyncio.Task[object]) -> None:
        self._running.discard(task)
        tell_failure(task, self._failed)


def tell_failure(task: "asyncio.Task[Any]", failed: Callable[[BaseException], object]) -> None:
    """Tells what ended a task that is done, if that was an error."""
    if not task.cancelled() and (error := task.exception()) is not None:
        failed(error)
