"""A controller's way to one broker: requests in order, one at a time, again and again until the broker answers.

Source: `kafka.controller.RequestSendThread` (3.9). What waits is dropped when the channel is closed.
"""

import asyncio
import logging
from collections.abc import Callable

from model.controller.requests import BrokerAnswer, BrokerRequest
from model.hosts.live_controller.to_brokers import LOWEST, Letter, answer_of, api_key, entity_of
from model.hosts.wire.channel import Channel
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnsupportedVersionError, WireError
from model.hosts.wire.messages import Entity, name_of

RETRY_BACKOFF_S = 0.1
OnAnswer = Callable[[BrokerRequest, BrokerAnswer], None]
_LOGGER = logging.getLogger(__name__)


class BrokerChannel:
    """Open from the start until `close`. For one event loop."""

    def __init__(self, broker: int, address: tuple[str, int], client_id: str, on_answer: OnAnswer) -> None:
        self.address = address
        self._broker = broker
        self._on_answer = on_answer
        self._channel = Channel(*address, client_id)
        self._letters: asyncio.Queue[Letter] = asyncio.Queue()
        self._sending = asyncio.create_task(self._send_all())

    def send(self, letter: Letter) -> None:
        """Queue a request behind those that wait."""
        self._letters.put_nowait(letter)

    async def close(self) -> None:
        """Drop what waits and end the connection."""
        self._sending.cancel()
        await asyncio.gather(self._sending, return_exceptions=True)
        await self._channel.close()

    async def _send_all(self) -> None:
        while True:
            letter = await self._letters.get()
            response = await self._insist(letter)
            self._on_answer(letter.request, answer_of(letter.request, response))

    async def _insist(self, letter: Letter) -> Entity:
        told = ""
        while True:
            try:
                return await self._channel.ask(lambda connection: _written(letter, connection))
            except WireError as error:
                reason = f"broker {self._broker} does not take {name_of(api_key(letter.request))}: {error}"
                if reason != told:  # once, not ten times a second
                    _LOGGER.warning("%s; trying again", reason)
                told = reason
            await asyncio.sleep(RETRY_BACKOFF_S)


def _written(letter: Letter, connection: Connection) -> Entity:
    key = api_key(letter.request)
    version = connection.newest(key)
    if version < LOWEST[key]:
        raise UnsupportedVersionError(f"it knows no newer version than {version}: brokers before 2.6 are not ruled")
    return entity_of(letter, version)
