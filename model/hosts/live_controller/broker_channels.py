"""All of a controller's channels to brokers: one each, made when the first request is due, gone with the broker.

What is for the broker that the controller runs in goes over the wire, too, as in Kafka.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from model.controller.commands import SendRequest
from model.controller.context import LiveBroker
from model.controller.requests import BrokerAnswer, BrokerRequest
from model.hosts.live_controller.broker_channel import BrokerChannel
from model.hosts.live_controller.to_brokers import Letter, endpoint
from model.znodes.brokers import BrokerRegistration, decode_broker
from model.znodes.reasons import UnusablePayloadError

_LOGGER = logging.getLogger(__name__)
OnAnswer = Callable[[int, BrokerRequest, BrokerAnswer], None]


class BrokerChannels:
    """For one event loop. `on_answer` gets the broker, what was sent, and its answer."""

    def __init__(self, listener: str, client_id: str, on_answer: OnAnswer) -> None:
        self._listener = listener
        self._client_id = client_id
        self._on_answer = on_answer
        self._channels: dict[int, BrokerChannel] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._live: Mapping[int, LiveBroker] = {}
        self._registrations: Mapping[int, BrokerRegistration] = {}

    def note(self, live: Mapping[int, LiveBroker]) -> None:
        """Who is live now, and where."""
        if live is not self._live:
            self._live = live
            read = {broker: _registration(known) for broker, known in live.items()}
            self._registrations = {broker: known for broker, known in read.items() if known is not None}

    def send(self, command: SendRequest) -> None:
        """Queue a request. A broker whose registration names no place gets nothing."""
        letter = Letter(command.request, command.broker_epoch, self._registrations, self._listener)
        known = self._registrations.get(command.broker)
        place = None if known is None else endpoint(known, self._listener)
        if place is None:
            _LOGGER.warning("broker %d is not told anything: its registration names no place", command.broker)
            return
        channel = self._channels.get(command.broker)
        if channel is None or channel.address != (place.host, place.port):
            self.drop(command.broker)
            channel = self._open(command.broker, (place.host, place.port))
        channel.send(letter)

    def drop(self, broker: int) -> None:
        """Send nothing more of what waits for this broker."""
        channel = self._channels.pop(broker, None)
        if channel is not None:
            task = asyncio.create_task(channel.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def drop_all(self) -> None:
        """The office is lost: what waits is not ours to send any more."""
        for broker in list(self._channels):
            self.drop(broker)

    async def close(self) -> None:
        """Drop everything, and wait until it is gone."""
        self.drop_all()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _open(self, broker: int, address: tuple[str, int]) -> BrokerChannel:
        def answered(request: BrokerRequest, answer: BrokerAnswer) -> None:
            self._on_answer(broker, request, answer)

        channel = self._channels[broker] = BrokerChannel(broker, address, self._client_id, answered)
        return channel


def _registration(live: LiveBroker) -> BrokerRegistration | None:
    try:
        return decode_broker(live.registration)
    except UnusablePayloadError:
        return None
