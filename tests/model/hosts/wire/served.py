"""A server with some of a broker's APIs, and a connection to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import shaped, shapes
from model.hosts.wire.server import Api, Server


class Asker:
    """Asks in the version it is told to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def __call__(self, key: int, version: int, name: str, /, **values: object) -> Any:
        shape = getattr(shapes(key, version, "request"), name)
        return await self._connection.ask(shaped(shape, **values))


@asynccontextmanager
async def served(apis: Mapping[int, Api]) -> AsyncIterator[Asker]:
    server = Server(apis)
    port = await server.start("127.0.0.1", 0)
    connection = await Connection.open("127.0.0.1", port, "test")
    try:
        yield Asker(connection)
    finally:
        await connection.close()
        await server.close()
