"""Questions that a broker without logs passes on, and what it says when there is nobody to pass them on to."""

from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.broker.metadata import BrokerNode, Endpoint, MetadataImage
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.live_broker.without_logs import PassedOn
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request, Server
from tests.harness.live_brokers import served


def knowing(*places: tuple[int, int]) -> MetadataCache:
    nodes = {number: BrokerNode(number, (Endpoint("PLAINTEXT", "127.0.0.1", port),)) for number, port in places}
    metadata = MetadataCache()
    metadata.learn(MetadataImage(9, nodes))
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
    async with served(PassedOn(9, knowing((1, 1), (2, port), (9, 2)), "PLAINTEXT").apis) as ask:
        response = await ask(10, version, "FindCoordinatorRequest", key="g", coordinator_keys=("g",), key_type=0)
    found = response if version < 4 else response.coordinators[0]
    assert (found.error_code, found.node_id, found.host, found.port) == (ErrorCode.none, 2, "x", 3)
    await broker.close()


@pytest.mark.parametrize("version", range(5))
async def test_nobody_can_answer(version: int) -> None:
    """One is gone, one does not know the question."""
    stranger = Server({})
    port = await stranger.start("127.0.0.1", 0)
    async with served(PassedOn(9, knowing((1, 1), (2, port)), "PLAINTEXT").apis) as ask:
        response = await ask(10, version, "FindCoordinatorRequest", key="g", coordinator_keys=("g",), key_type=0)
        found = response if version < 4 else response.coordinators[0]
        assert (found.error_code, found.node_id) == (ErrorCode.coordinator_not_available, -1)
    await stranger.close()
