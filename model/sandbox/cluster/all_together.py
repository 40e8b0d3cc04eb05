"""Waiting for many things at once, none of which is left half done."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def all_or_first_error(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, once all have ended; raises what the first one raised, when the others have ended too.

    A thread that starts a process can't be called back: who did not wait for it would leave the process behind.
    """
    ended = await asyncio.gather(*works, return_exceptions=True)
    results: list[T] = []
    for each in ended:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results
