"""InitProducerId, for idempotent producers. Transactions are not served.

Source: `kafka.coordinator.transaction.TransactionCoordinator.handleInitProducerId` (3.9).
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

from kio.schema.errors import ErrorCode

from model.hosts.wire.api_keys import INIT_PRODUCER_ID
from model.hosts.wire.errors import WireError
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request

_LOGGER = logging.getLogger(__name__)
TakeProducerId = Callable[[], Awaitable[int]]
"""An id that nobody has. Raises WireError."""


class ProducerRequests:
    """Any broker answers."""

    def __init__(self, take: TakeProducerId) -> None:
        self._take = take

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {INIT_PRODUCER_ID: Api(0, 4, self._init)}

    async def _init(self, request: Request) -> Entity:
        if request.body.transactional_id is not None:
            _LOGGER.warning("%a asks for a transactional id: transactions are not served", request.client_id)
            return _answer(request, ErrorCode.invalid_request)
        try:
            return _answer(request, ErrorCode.none, await self._take(), 0)
        except WireError as error:
            _LOGGER.warning("no producer id for %a: %s", request.client_id, error)
            return _answer(request, ErrorCode.coordinator_load_in_progress)  # clients ask again


def _answer(request: Request, error: ErrorCode, producer_id: int = -1, epoch: int = -1) -> Entity:
    return request.answer("InitProducerIdResponse", error_code=error, producer_id=producer_id, producer_epoch=epoch)
