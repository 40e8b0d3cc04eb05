"""What clients ask any broker, and what takes logs or coordinators to answer: a broker that has them is asked in turn.

Without an answer, Java's consumers and idempotent producers fail for good when they happen to ask this broker.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.hosts.live_controller.api_keys import FIND_COORDINATOR, INIT_PRODUCER_ID
from model.hosts.live_controller.metadata_cache import MetadataCache
from model.hosts.live_controller.options import Options
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
    """FindCoordinator, and InitProducerId of producers without transactions."""

    def __init__(self, options: Options, metadata: MetadataCache) -> None:
        self._options = options
        self._metadata = metadata

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""

        async def find_coordinator(request: Request) -> Entity:
            return await self._ask_another(request, _no_coordinator)

        async def init_producer_id(request: Request) -> Entity:
            return await self._ask_another(request, _no_producer_id)

        return {FIND_COORDINATOR: Api(0, 4, find_coordinator), INIT_PRODUCER_ID: Api(0, 4, init_producer_id)}

    async def _ask_another(self, request: Request, otherwise: Callable[[Request], Entity]) -> Entity:
        own, listener = self._options.controller.broker_id, self._options.listener
        known = self._metadata.brokers.items()
        places = [
            broker.endpoints[listener] for number, broker in known if number != own and listener in broker.endpoints
        ]
        random.shuffle(places)
        for place in places:
            try:
                return await self._ask(place, request)
            except WireError:
                continue
        return otherwise(request)

    async def _ask(self, place: tuple[str, int], request: Request) -> Entity:
        start = request.start
        body = Encoded(start.api_key, start.version, encode(request.body))
        connection = await Connection.open(*place, self._options.client_id, TIMEOUT_S)
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


def _no_producer_id(request: Request) -> Entity:
    error = ErrorCode.coordinator_not_available
    return request.answer("InitProducerIdResponse", error_code=error, producer_id=-1, producer_epoch=-1)
