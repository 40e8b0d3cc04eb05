"""Work beside what an event loop does: tasks that nobody waits for, and a bell for those who wait for news.

Tasks are kept alive while they run, and their failure is always reported.
"""

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


class Bell:
    """Rings from `ring` to `quiet`. For one event loop; cheaper than an `asyncio.Event` under a timeout."""

    def __init__(self) -> None:
        self.is_ringing = False
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        self.is_ringing = True
        for heard in self._waiting:
            _end(heard)

    def quiet(self) -> None:
        self.is_ringing = False

    async def wait(self, seconds: float) -> None:
        """Until it rings, so long at most."""
        if self.is_ringing:
            return
        loop = asyncio.get_running_loop()
        heard: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _end, heard)
        self._waiting.append(heard)
        try:
            await heard
        finally:
            self._waiting.remove(heard)
            timer.cancel()


def _end(heard: "asyncio.Future[None]") -> None:
    if not heard.done():
        heard.set_result(None)
