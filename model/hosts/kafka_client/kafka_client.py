"""Asks a cluster: any broker for its metadata, a broker by its id for the rest. It does not repeat what failed."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from model.hosts.kafka_client.first_answer import first_answer
from model.hosts.kafka_client.metadata import Metadata, metadata_of, metadata_request
from model.hosts.wire.channel import Build, Channel
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import DeniedError, UnavailableError, WireError
from model.hosts.wire.messages import Entity
from model.hosts.wire.security import PLAINTEXT, Security

Address = tuple[str, int]


class KafkaClient:
    """For one event loop; connections are opened when there is something to ask."""

    def __init__(
        self,
        bootstrap: Iterable[Address],
        client_id: str,
        timeout_s: float = 30.0,
        security: Security = PLAINTEXT,
    ) -> None:
        """`timeout_s` is how long a connection or an answer may take."""
        self.metadata = Metadata()
        self.answers = 0
        """So many questions were answered."""
        self._bootstrap = list(bootstrap)
        self._client_id = client_id
        self.timeout_s = timeout_s
        self._security = security
        self.answered: Address | None = None
        """Who told the metadata last, and is asked first."""
        self._channels: dict[Address, Channel] = {}

    async def refresh(self, topics: Sequence[str] | None = None) -> Metadata:
        """Ask for these topics, or all, one broker after the other until one answers. Raises WireError."""
        build = partial(metadata_request, topics=topics)

        async def told_by(address: Address) -> tuple[Address, Metadata]:
            try:
                return address, metadata_of(await self.ask_at(address, build))
            except WireError as error:
                raise _at(address, error) from error

        known = (*([self.answered] if self.answered else ()), *self.metadata.brokers.values(), *self._bootstrap)
        try:
            self.answered, self.metadata = await first_answer(partial(told_by, each) for each in dict.fromkeys(known))
        except DeniedError:
            raise
        except WireError as failed:
            raise UnavailableError(f"no broker answers: {failed}") from failed
        return self.metadata

    async def ask(self, broker: int, build: Build) -> Entity:
        """Ask one broker. Raises UnavailableError, also where its address is not known, or another WireError."""
        address = self._address(broker)
        try:
            return await self.ask_at(address, build)
        except WireError as error:
            raise type(error)(f"broker {broker}: {error}") from None

    async def ask_at(self, address: Address, build: Build) -> Entity:
        """Ask whoever is there."""
        answer = await self._channel(address).ask(build)
        self.answers += 1
        return answer

    async def connected(self, address: Address) -> Connection:
        """An open connection, for what the broker said of itself when it was opened. Raises UnavailableError or
        another WireError."""
        return await self._channel(address).connected()

    async def hang_up(self, address: Address) -> None:
        """End the connection to whoever is there: a broker takes up nothing before it has answered what was asked."""
        if address in self._channels:
            await self._channels[address].close()

    @property
    def connections(self) -> int:
        """How many were made, those that ended included."""
        return sum(channel.connections for channel in list(self._channels.values()))

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))
        self._channels.clear()

    def _address(self, broker: int) -> Address:
        address = self.metadata.brokers.get(broker)
        if address is None:
            raise UnavailableError(f"broker {broker} is not known")
        return address

    def _channel(self, address: Address) -> Channel:
        if address not in self._channels:
            self._channels[address] = Channel(*address, self._client_id, self.timeout_s, self._security)
        return self._channels[address]


def _at(address: Address, error: WireError) -> WireError:
    """The same, saying where."""
    host, port = address
    return error if f"{host}:{port}" in str(error) else type(error)(f"{host}:{port}: {error}")


def address_of(text: str) -> Address:
    """Host and port of `127.0.0.1:40011`."""
    host, _, port = text.rpartition(":")
    return host, int(port)
