"""What clients ask any broker, and what takes coordinators to answer: a broker that has them is asked in turn.

Without an answer, Java's consumers fail for good when they happen to ask this broker.
"""

import random
from collections.abc import Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.wire.api_keys import FIND_COORDINATOR
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnsupportedVersionError, WireError
from model.hosts.wire.messages import Encoded, Entity, encode, shaped
from model.hosts.wire.server import Api, Request

TIMEOUT_S = 10.0
NOWHERE: Mapping[str, object] = {
    "error_code": ErrorCode.coordinator_not_available,
    "error_message": None,
    "node_id": -1,
    "host": "",
    "port": -1,
}
"""No answer now: clients ask again."""


class PassedOn:
    """FindCoordinator. `listener` is the one between brokers; where coordinators are is told for it, too."""

    def __init__(self, broker: int, metadata: MetadataCache, listener: str) -> None:
        self._broker = broker
        self._metadata = metadata
        self._listener = listener

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {FIND_COORDINATOR: Api(0, 4, self._find_coordinator)}

    async def _find_coordinator(self, request: Request) -> Entity:
        nodes = self._metadata.image.brokers.values()
        places = [node.endpoint(self._listener) for node in nodes if node.id != self._broker]
        random.shuffle(places)
        for place in places:
            try:
                if place is not None:
                    return await self._ask((place.host, place.port), request)
            except WireError:
                continue
        return _no_coordinator(request)

    async def _ask(self, place: tuple[str, int], request: Request) -> Entity:
        start = request.start
        body = Encoded(start.api_key, start.version, encode(request.body))
        connection = await Connection.open(*place, f"broker-{self._broker}-passing-on", TIMEOUT_S)
        try:
            if connection.newest(start.api_key, start.version) != start.version:
                raise UnsupportedVersionError(f"version {start.version} is too new for {place[0]}:{place[1]}")
            return await connection.ask(body, TIMEOUT_S)
        finally:
            await connection.close()


def _no_coordinator(request: Request) -> Entity:
    keys: Any = getattr(request.body, "coordinator_keys", None)
    if keys is None:
        return request.answer("FindCoordinatorResponse", **NOWHERE)
    found = tuple(shaped(request.shape("Coordinator"), key=key, **NOWHERE) for key in keys)
    return request.answer("FindCoordinatorResponse", coordinators=found)
