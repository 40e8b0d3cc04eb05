"""A way to one broker that mends itself: connects when there is something to ask, again and again with back-off.

It does not repeat a request whose outcome is unknown; who asks decides that.
"""

import asyncio
import time
from collections.abc import Callable

from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnavailableError
from model.hosts.wire.messages import Encoded, Entity
from model.hosts.wire.security import PLAINTEXT, Security

FIRST_BACKOFF_S = 0.05
LONGEST_BACKOFF_S = 1.0
"""Kafka's `reconnect.backoff.ms` and `reconnect.backoff.max.ms`."""

Build = Callable[[Connection], Entity | Encoded]
"""Makes a request in a version that the broker behind a connection knows."""


class Channel:
    """For one event loop. Requests asked at the same time share the connection and are answered in order."""

    def __init__(
        self, host: str, port: int, client_id: str, timeout_s: float = 30.0, security: Security = PLAINTEXT
    ) -> None:
        self._address = (host, port)
        self._security = security
        self._client_id = client_id
        self._timeout_s = timeout_s
        self.connections = 0
        """So many were opened."""
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._failures = 0
        self._not_before_s = 0.0

    async def ask(self, build: Build) -> Entity:
        """Connect if need be, after the back-off, and ask. Raises UnavailableError or another WireError."""
        connection = await self.connected()
        return await connection.ask(build(connection), self._timeout_s)

    async def connected(self) -> Connection:
        """The connection, opened if need be, after the back-off. Raises UnavailableError or another WireError."""
        async with self._connecting:
            if self._connection is not None and self._connection.is_open:
                return self._connection
            await self.close()
            await asyncio.sleep(max(0.0, self._not_before_s - time.monotonic()))
            try:
                self._connection = await Connection.open(
                    *self._address, self._client_id, self._timeout_s, self._security
                )
            except UnavailableError:
                pause_s = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2**self._failures)
                self._failures += 1
                self._not_before_s = time.monotonic() + pause_s
                raise
            self._failures = 0
            self.connections += 1
            return self._connection

    async def close(self) -> None:
        """End the connection, if there is one."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None
