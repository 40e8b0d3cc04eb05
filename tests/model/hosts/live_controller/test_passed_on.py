"""Questions that a broker without logs passes on, and what it says when there is nobody to pass them on to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.controller.settings import Settings as ControllerSettings
from model.hosts.live_controller.metadata_cache import KnownBroker, MetadataCache
from model.hosts.live_controller.options import Options
from model.hosts.live_controller.passed_on import PassedOn
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request, Server
from model.hosts.zookeeper.settings import Settings as ZooKeeperSettings
from tests.model.hosts.live_controller.served import served

NO_TIME = timedelta()
OPTIONS = Options(zookeeper=ZooKeeperSettings("127.0.0.1:1"), controller=ControllerSettings(broker_id=9))


def knowing(*places: tuple[int, int]) -> MetadataCache:
    metadata = MetadataCache()
    metadata.learn(
        9, {number: KnownBroker({"PLAINTEXT": ("127.0.0.1", port)}, None) for number, port in places}, (), {}
    )
    return metadata


async def find(request: Request) -> Entity:
    body: Any = request.body
    place: dict[str, object] = {
        "error_code": ErrorCode.none,
        "error_message": None,
        "node_id": 2,
        "host": "x",
        "port": 3,
    }
    if request.start.version < 4:
        return request.answer("FindCoordinatorResponse", **place)
    found = tuple(request.shape("Coordinator")(key=key, **place) for key in body.coordinator_keys)
    return request.answer("FindCoordinatorResponse", coordinators=found)


@pytest.mark.parametrize("version", range(5))
async def test_a_broker_that_can_answer_is_found(version: int) -> None:
    """Broker 1 is gone, and its own place is never asked."""
    broker = Server({10: Api(0, 4, find)})
    port = await broker.start("127.0.0.1", 0)
    async with served(PassedOn(OPTIONS, knowing((1, 1), (2, port), (9, 2))).apis) as ask:
        response = await ask(10, version, "FindCoordinatorRequest", key="g", coordinator_keys=("g",), key_type=0)
    found = response if version < 4 else response.coordinators[0]
    assert (found.error_code, found.node_id, found.host, found.port) == (ErrorCode.none, 2, "x", 3)
    await broker.close()


@pytest.mark.parametrize("version", range(5))
async def test_nobody_can_answer(version: int) -> None:
    """One is gone, one does not know the question."""
    stranger = Server({})
    port = await stranger.start("127.0.0.1", 0)
    async with served(PassedOn(OPTIONS, knowing((1, 1), (2, port))).apis) as ask:
        response = await ask(10, version, "FindCoordinatorRequest", key="g", coordinator_keys=("g",), key_type=0)
        found = response if version < 4 else response.coordinators[0]
        assert (found.error_code, found.node_id) == (ErrorCode.coordinator_not_available, -1)
        wish = {"transactional_id": None, "transaction_timeout": NO_TIME}
        response = await ask(22, version, "InitProducerIdRequest", **wish)
        assert (response.error_code, response.producer_id) == (ErrorCode.coordinator_not_available, -1)
    await stranger.close()
