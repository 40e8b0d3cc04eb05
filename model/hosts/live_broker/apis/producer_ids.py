"""Producer ids for idempotent producers, from blocks of the controller, or of ZooKeeper before 3.0; and InitProducerId.

Transactions are not served. Source: `RPCProducerIdManager`, `ZkProducerIdManager`,
`kafka.coordinator.transaction.TransactionCoordinator.handleInitProducerId` (3.9); KIP-730 (3.0).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from kio.schema.errors import ErrorCode

from model.controller import Refusal
from model.controller.steps.cluster_wide import next_block
from model.hosts.live_broker.parts import AskController, AskZooKeeper
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import ApiKey, WireError
from model.hosts.wire.server import Api, Request
from model.znodes.paths import PRODUCER_IDS
from model.zookeeper import Code, GetData, SetData

NextBlock = Callable[[], Awaitable[range]]


class ProducerIds:
    """Gives each id once. `next_block` raises WireError where none is to be had now."""

    def __init__(self, next_block: NextBlock) -> None:
        self._next_block = next_block
        self._block = iter(range(0))
        self._asking = asyncio.Lock()

    async def take(self) -> int:
        """An id that nobody has. Raises WireError."""
        async with self._asking:
            for producer_id in self._block:
                return producer_id
            self._block = iter(await self._next_block())
            return next(self._block)


def blocks_of_controller(ask: AskController, broker: int, broker_epoch: Callable[[], int]) -> NextBlock:
    """AllocateProducerIds."""

    def build(connection: Connection) -> Entity:
        version = connection.newest(ApiKey.ALLOCATE_PRODUCER_IDS)
        shape = shapes(ApiKey.ALLOCATE_PRODUCER_IDS, version, "request").AllocateProducerIdsRequest
        return shaped(shape, broker_id=broker, broker_epoch=broker_epoch())

    async def block() -> range:
        answer = await ask(build)
        if answer.error_code is not ErrorCode.none:
            raise WireError(f"the controller gives out no producer ids: {answer.error_code.name}")
        return range(answer.producer_id_start, answer.producer_id_start + answer.producer_id_len)

    return block


def blocks_in_zookeeper(zookeeper: AskZooKeeper, broker: int) -> NextBlock:
    """The broker helps itself; another may do so at the same time."""

    async def block() -> range:
        while True:
            (newest,) = await zookeeper((GetData(PRODUCER_IDS),))
            found = next_block(newest.data, broker)
            if isinstance(found, Refusal) or not newest.ok:
                raise WireError(f"{PRODUCER_IDS} cannot be read")
            (written,) = await zookeeper((SetData(PRODUCER_IDS, found.to_bytes(), newest.version),))
            if written.ok:
                return range(found.first_id, found.last_id + 1)
            if written.code is not Code.BAD_VERSION:
                raise WireError(f"{PRODUCER_IDS} cannot be written")

    return block


_LOGGER = logging.getLogger(__name__)
TakeProducerId = Callable[[], Awaitable[int]]
"""An id that nobody has. Raises WireError."""


class ProducerRequests:
    """Any broker answers."""

    def __init__(self, take: TakeProducerId) -> None:
        self._take = take

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.INIT_PRODUCER_ID: Api(0, 5, self._init)}

    async def _init(self, request: Request) -> Entity:
        known = (getattr(request.body, name, NOT_KNOWN) for name in ("producer_id", "producer_epoch"))
        if sum(each == NOT_KNOWN for each in known) == 1:  # both or none (KIP-360)
            return _producer_id_answer(request, ErrorCode.invalid_request)
        if request.body.transactional_id is not None:
            _LOGGER.warning("%a asks for a transactional id: transactions are not served", request.client_id)
            return _producer_id_answer(request, ErrorCode.invalid_request)
        try:
            return _producer_id_answer(request, ErrorCode.none, await self._take(), 0)
        except WireError as error:
            _LOGGER.warning("no producer id for %a: %s", request.client_id, error)
            return _producer_id_answer(request, ErrorCode.coordinator_load_in_progress)  # clients ask again


NOT_KNOWN = -1


def _producer_id_answer(request: Request, error: ErrorCode, producer_id: int = -1, epoch: int = -1) -> Entity:
    return request.answer("InitProducerIdResponse", error_code=error, producer_id=producer_id, producer_epoch=epoch)
