"""Several who may know the same: one after the other, but nobody who is slow keeps the next from being asked."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from model.hosts.wire.errors import UnavailableError, UnsupportedVersionError, WireError

HEAD_START_S = 1.0
"""Who has not answered for so long is not waited for alone any more."""

T = TypeVar("T")


async def first_answer(asks: Iterable[Callable[[], Awaitable[T]]], head_start_s: float = HEAD_START_S) -> T:
    """What the first one gives that answers; each begins when the one before it failed, or took this long.

    Raises the WireError that came last where all of them fail, and UnsupportedVersionError at once.
    """
    waiting, running = list(asks)[::-1], set[asyncio.Future[T]]()
    failed: WireError = UnavailableError("nobody is known")
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.ensure_future(waiting.pop()()))
            timeout_s = head_start_s if waiting else None
            done, running = await asyncio.wait(running, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                try:
                    return one.result()
                except UnsupportedVersionError:
                    raise
                except WireError as error:
                    failed = error
        raise failed
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)
