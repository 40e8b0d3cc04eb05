"""Reads what the metadata log has from its start on, over a connection of its own: it decides nothing, and rests."""

import asyncio
from collections.abc import Callable

from model.hosts.observing.observing import Controller
from model.hosts.wire.connection import PLAINTEXT, Security
from model.observer.messages import Address, Handed
from model.observer.past import PastReading, read_on

REST_S = 0.01
"""Between two answers: whoever follows, and whoever asks something, comes first."""


async def read_past(
    address: Address, reading: PastReading, take: Callable[[Handed], None], security: Security = PLAINTEXT
) -> None:
    """`take` is called in threads, one call at a time. Raises NoPastError, GarbledError."""
    controller, left = Controller(address, security), reading
    try:
        while True:
            left, handed = read_on(left, await controller.ask(left.question))
            for each in handed:
                await asyncio.to_thread(take, each)
            if left is None:
                return
            await asyncio.sleep(REST_S)
    finally:
        await controller.close()
