"""The way from the program under test to one server: it shortens sessions, and knows the last one it let through."""

from __future__ import annotations

import socket
import struct
import time

from model.sandbox.links.zookeeper_session import ZooKeeperSession, session_in
from tests.zookeeper.counting_proxy import CountingProxy

SESSION_MS = 4_000
"""Instead of what is asked for: so that sessions expire while one waits."""

_TIMEOUT = slice(12, 16)
"""Where a ConnectRequest has it: after the protocol's version and the last zxid seen."""


class Link(CountingProxy):
    """See CountingProxy."""

    def __init__(self, upstream: str) -> None:
        super().__init__(upstream)
        self.session: ZooKeeperSession | None = None
        self.opened_s = 0.0
        """When a session was last opened or resumed through here."""
        self.sessions: set[int] = set()
        """The ids of all."""

    def _request(self, sink: socket.socket, frame: bytes, number: int) -> None:
        if number == 0:
            frame = frame[: _TIMEOUT.start] + struct.pack("!i", SESSION_MS) + frame[_TIMEOUT.stop :]
        super()._request(sink, frame, number)

    def _answer(self, sink: socket.socket, frame: bytes, number: int) -> None:
        found = session_in(struct.pack("!i", len(frame)) + frame) if number == 0 else None
        if found is not None:
            self.session, self.opened_s = found, time.monotonic()
            self.sessions.add(found.id)
        super()._answer(sink, frame, number)
