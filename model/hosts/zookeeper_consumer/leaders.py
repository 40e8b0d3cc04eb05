"""Who leads which partition, asked of the brokers that ZooKeeper names; and a channel to each of them.

Source: `kafka.consumer.ConsumerFetcherManager.LeaderFinderThread` (0.8.2, 1.1).
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

from model.cluster.ids import TopicPartition
from model.controller.zookeeper import BROKER_IDS, Answer, Children, Read, ZooKeeperRequest
from model.hosts.wire.channel import Channel
from model.hosts.wire.errors import WireError
from model.hosts.zookeeper_consumer.leader_messages import Address, leaders_in, metadata_request
from model.znodes.brokers import decode_broker
from model.znodes.reasons import UnusablePayloadError

Ask = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]
REQUEST_TIMEOUT_S = 30.0
_LOGGER = logging.getLogger(__name__)


class Leaders:
    """For one event loop."""

    def __init__(self, ask: Ask, listener: str, client_id: str) -> None:
        self._ask = ask
        self._listener = listener
        self._client_id = client_id
        self._channels: dict[Address, Channel] = {}

    async def of(self, topics: tuple[str, ...]) -> Mapping[TopicPartition, Address]:
        """What the first broker that answers says; nothing if none does."""
        for address in await self._brokers():
            try:
                return leaders_in(await self.channel(address).ask(lambda known: metadata_request(known, topics)))
            except WireError as error:
                _LOGGER.warning("broker at %s:%d tells no leaders: %s", *address, error)
        return {}

    def channel(self, address: Address) -> Channel:
        """The way to a broker."""
        if address not in self._channels:
            self._channels[address] = Channel(*address, self._client_id, REQUEST_TIMEOUT_S)
        return self._channels[address]

    async def close(self) -> None:
        """End all connections."""
        for channel in self._channels.values():
            await channel.close()

    async def _brokers(self) -> list[Address]:
        (listed,) = await self._ask((Children(BROKER_IDS),))
        answers = await self._ask([Read(f"{BROKER_IDS}/{name}") for name in listed.names])
        return [address for answer in answers if answer.ok and (address := self._address(answer.data)) is not None]

    def _address(self, data: bytes) -> Address | None:
        try:
            listeners = decode_broker(data).listeners
        except UnusablePayloadError:
            return None
        named = [each for each in listeners if each.listener == self._listener]
        return next(((each.host, each.port) for each in (*named, *listeners)), None)
