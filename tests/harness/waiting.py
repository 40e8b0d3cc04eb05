"""Waiting for what happens elsewhere: one way for threads, one for coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 120.0
"""However long a loaded machine takes."""


def eventually(
    condition: Callable[[], Any],
    what: str = "this to become true",
    patience_s: float = PATIENCE_S,
    *,
    standing: Callable[[], object] = str,
) -> Any:
    """Looks until `condition` holds; what it gave. Else fails with `what` was waited for, and `standing()`."""
    deadline_s = time.monotonic() + patience_s
    while not (value := condition()):
        assert time.monotonic() < deadline_s, f"waited {patience_s:g} s for {what} {standing()}".rstrip()
        time.sleep(0.02)
    return value


async def eventually_async(
    condition: Callable[[], Any],
    what: str = "this to become true",
    patience_s: float = PATIENCE_S,
    *,
    standing: Callable[[], object] = str,
) -> Any:
    """As `eventually`, while the event loop goes on."""
    deadline_s = time.monotonic() + patience_s
    while not (value := condition()):
        assert time.monotonic() < deadline_s, f"waited {patience_s:g} s for {what} {standing()}".rstrip()
        await asyncio.sleep(0.005)
    return value
