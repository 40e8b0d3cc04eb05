"""A broker's way to the controller of now, whoever that is: the one that the last UpdateMetadata came from.

Source: `kafka.server.NodeToControllerChannelManager` (3.9). It repeats nothing; who asks does.
"""

from collections.abc import Callable

from model.broker.controller_requests.metadata_image import MetadataImage
from model.hosts.wire.channel import Build, Channel
from model.hosts.wire.errors import UnavailableError
from model.hosts.wire.messages import Entity


class ControllerLink:
    """For one event loop. `listener` is the one between brokers."""

    def __init__(self, image: Callable[[], MetadataImage], listener: str, client_id: str, timeout_s: float) -> None:
        self._image = image
        self._listener = listener
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._address: tuple[str, int] | None = None
        self._channel: Channel | None = None

    async def ask(self, build: Build) -> Entity:
        """Ask the controller. Raises UnavailableError where none is known, or another WireError."""
        image = self._image()
        node = image.brokers.get(image.controller)
        place = None if node is None else node.endpoint(self._listener)
        if place is None:
            raise UnavailableError("no controller is known")
        if self._channel is None or self._address != (place.host, place.port):
            await self.close()
            self._address = (place.host, place.port)
            self._channel = Channel(*self._address, self._client_id, self._timeout_s)
        return await self._channel.ask(build)

    async def close(self) -> None:
        """End the connection, if there is one."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()
