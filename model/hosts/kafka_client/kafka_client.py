"""Asks a cluster: any broker for its metadata, a broker by its id for the rest. It does not repeat what failed."""

import asyncio
from collections.abc import Iterable, Sequence

from model.hosts.kafka_client.metadata import Metadata, metadata_of
from model.hosts.wire.api_keys import METADATA
from model.hosts.wire.channel import Build, Channel
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnavailableError, WireError
from model.hosts.wire.messages import Entity, shaped, shapes

NEWEST_METADATA = 9
"""Version 10 brings topic ids, and no more that is of use here."""

Address = tuple[str, int]


class KafkaClient:
    """For one event loop; connections are opened when there is something to ask."""

    def __init__(self, bootstrap: Iterable[Address], client_id: str, timeout_s: float = 30.0) -> None:
        """`timeout_s` is how long a connection or an answer may take."""
        self.metadata = Metadata()
        self._bootstrap = list(bootstrap)
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._channels: dict[Address, Channel] = {}

    async def refresh(self, topics: Sequence[str] | None = None) -> Metadata:
        """Ask for these topics, or all, one broker after the other until one answers. Raises UnavailableError."""

        def build(connection: Connection) -> Entity:
            version = connection.newest(METADATA, NEWEST_METADATA)
            module = shapes(METADATA, version, "request")
            named = None if topics is None else tuple(module.MetadataRequestTopic(name=topic) for topic in topics)
            return shaped(
                module.MetadataRequest,
                topics=named,
                allow_auto_topic_creation=False,
                include_cluster_authorized_operations=False,
                include_topic_authorized_operations=False,
            )

        reason = "nobody is known"
        for address in dict.fromkeys((*self.metadata.brokers.values(), *self._bootstrap)):
            try:
                self.metadata = metadata_of(await self.ask_at(address, build))
            except WireError as error:
                reason = str(error)
            else:
                return self.metadata
        raise UnavailableError(f"no broker answers: {reason}")

    async def ask(self, broker: int, build: Build) -> Entity:
        """Ask one broker. Raises UnavailableError, also where its address is not known, or another WireError."""
        address = self.metadata.brokers.get(broker)
        if address is None:
            raise UnavailableError(f"broker {broker} is not known")
        return await self.ask_at(address, build)

    async def ask_at(self, address: Address, build: Build) -> Entity:
        """Ask whoever is there."""
        if address not in self._channels:
            self._channels[address] = Channel(*address, self._client_id, self._timeout_s)
        return await self._channels[address].ask(build)

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))
        self._channels.clear()


def address_of(text: str) -> Address:
    """Host and port of `127.0.0.1:40011`."""
    host, _, port = text.rpartition(":")
    return host, int(port)
