"""A broker's ZooKeeper sessions, one after the other: a new one is not used before the controller says so.

What is asked while there is none is answered with SESSION_EXPIRED. It decides nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from model.controller.zookeeper import Answer, ZooKeeperRequest
from model.hosts.writing_zookeeper.question import GONE
from model.hosts.writing_zookeeper.session import OnWatch, WritingSession
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.settings import Settings
from model.hosts.zookeeper.values import ZnodeChanged

RECONNECT_PAUSE_S = 1.0
_LOGGER = logging.getLogger(__name__)


class Sessions:
    """For one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.on_watch: OnWatch = lambda changed: None
        self.on_expired: Callable[[], None] = lambda: None
        """Told when the session in use has ended."""
        self._settings = settings
        self._used: WritingSession | None = None
        self._next: WritingSession | None = None

    async def open(self, timeout_s: float) -> None:
        """The first one, to be used at once. Raises ZooKeeperUnavailable."""
        self._used = self._new()
        await self._used.open(timeout_s)

    @property
    def newest_id(self) -> int:
        """The id of the session that was opened last, in use or not yet; 0 if there is none."""
        newest = self._next or self._used
        return 0 if newest is None else newest.id

    async def ask(self, requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
        """The answers, one for each request, in order."""
        return await self._used.ask(requests) if self._used is not None else (GONE,) * len(requests)

    async def renew(self) -> int:
        """Give the present session up and open the next, however long that takes. Returns the id of the old one."""
        gone, self._used = self._used, None
        previous = 0 if gone is None else gone.id
        if gone is not None:
            await gone.close()
        while True:
            self._next = self._new()
            try:
                await self._next.open()
            except ZooKeeperUnavailable as error:
                _LOGGER.warning("%s; trying again", error)
                await self._next.close()
                await asyncio.sleep(RECONNECT_PAUSE_S)
            else:
                return previous

    def use_next(self) -> None:
        """The controller is ready for the session that `renew` opened."""
        self._used, self._next = self._next, None

    async def close(self) -> None:
        """End what is open: ephemeral znodes go at once."""
        for session in (self._used, self._next):
            if session is not None:
                await session.close()

    def _new(self) -> WritingSession:
        return WritingSession(self._settings, self._watched, self._expired)

    def _watched(self, changed: ZnodeChanged) -> None:
        self.on_watch(changed)

    def _expired(self) -> None:
        self.on_expired()
