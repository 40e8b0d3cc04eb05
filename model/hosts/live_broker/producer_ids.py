"""Producer ids for this broker's producers, from blocks that it gets of the controller, or of ZooKeeper before 3.0.

Source: `RPCProducerIdManager`, `ZkProducerIdManager` (3.9); KIP-730 (3.0).
"""

import asyncio
from collections.abc import Awaitable, Callable

from kio.schema.errors import ErrorCode

from model.controller.producer_ids import next_block
from model.controller.refusal import Refusal
from model.controller.zookeeper import PRODUCER_IDS, Code, Read, SetData
from model.hosts.live_broker.replicas.surroundings import AskController, AskZooKeeper
from model.hosts.wire.api_keys import ALLOCATE_PRODUCER_IDS
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import WireError
from model.hosts.wire.messages import Entity, shaped, shapes

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
        version = connection.newest(ALLOCATE_PRODUCER_IDS)
        shape = shapes(ALLOCATE_PRODUCER_IDS, version, "request").AllocateProducerIdsRequest
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
            (newest,) = await zookeeper((Read(PRODUCER_IDS),))
            found = next_block(newest.data, broker)
            if isinstance(found, Refusal) or not newest.ok:
                raise WireError(f"{PRODUCER_IDS} cannot be read")
            (written,) = await zookeeper((SetData(PRODUCER_IDS, found.to_bytes(), newest.version),))
            if written.ok:
                return range(found.first_id, found.last_id + 1)
            if written.code is not Code.BAD_VERSION:
                raise WireError(f"{PRODUCER_IDS} cannot be written")

    return block
