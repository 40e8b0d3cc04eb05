"""What tests of the sandbox have in common."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

EventuallyAsync = Callable[[Callable[[], object]], Awaitable[None]]


@pytest.fixture
def eventually_async() -> EventuallyAsync:
    """Waits on the event loop until a condition is true, and fails when it is not within 60 s."""

    async def wait(condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, "this did not become true within 60 s"
            await asyncio.sleep(0.005)

    return wait
