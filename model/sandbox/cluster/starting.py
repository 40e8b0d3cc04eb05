"""Starting processes, many at once, none of which is left behind: a thread that starts one can't be called back."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from model.sandbox.errors import SandboxError

T = TypeVar("T")


async def started(start: Callable[[], T], end: Callable[[T], object]) -> T:
    """What `start` returns, called in a thread; whoever is cancelled meanwhile waits for it, and `end` is called on it.

    Raises what `start` raises.
    """
    starting = asyncio.ensure_future(asyncio.to_thread(start))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(SandboxError):
            end(await starting)
        raise


async def all_or_first_error(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, once all have ended; raises what the first one raised, when the others have ended too."""
    ended = await asyncio.gather(*works, return_exceptions=True)
    results: list[T] = []
    for each in ended:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results
