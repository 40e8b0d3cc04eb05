"""A bell that those who wait for news hear. Tests of tasks beside the event loop are those of who spawns them."""

from __future__ import annotations

import asyncio

import pytest

from model.hosts.background import Bell

LONG_S = 3_600.0


async def test_all_who_wait_hear_it_and_so_does_who_comes_while_it_rings() -> None:
    bell = Bell()
    waiting = [asyncio.create_task(bell.wait(LONG_S)) for _ in range(2)]
    await asyncio.sleep(0)
    bell.ring()
    await asyncio.gather(*waiting)
    await bell.wait(LONG_S)
    assert bell.is_ringing


async def test_nobody_waits_longer_than_said() -> None:
    bell = Bell()
    await bell.wait(0.001)
    await bell.wait(-1.0)
    assert not bell.is_ringing


async def test_once_quiet_it_is_waited_for_again() -> None:
    bell = Bell()
    bell.ring()
    bell.quiet()
    waiting = asyncio.create_task(bell.wait(LONG_S))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    bell.ring()  # nobody is left who could hear it
