"""The way from the program under test to one server: it shortens sessions, knows the last one, and marks each watch."""

from __future__ import annotations

import socket
import struct
import time

from model.sandbox.switchboard import ZooKeeperSession, session_in
from tests.chaos.writer import Marks
from tests.zookeeper.counting_proxy import CountingProxy

SESSION_MS = 4_000
"""Instead of what is asked for: so that sessions expire while one waits."""

ADD_WATCH = 106
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
        self.marks = Marks(upstream)
        """One before each watch: the last change that only a read made afterwards can tell."""

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.marks.close()

    def _request(self, sink: socket.socket, frame: bytes, number: int) -> None:
        if number == 0:
            frame = frame[: _TIMEOUT.start] + struct.pack("!i", SESSION_MS) + frame[_TIMEOUT.stop :]
        elif struct.unpack_from("!ii", frame)[1] == ADD_WATCH:
            self.marks.make()
        super()._request(sink, frame, number)

    def _answer(self, sink: socket.socket, frame: bytes, number: int) -> None:
        found = session_in(struct.pack("!i", len(frame)) + frame) if number == 0 else None
        if found is not None:
            self.session, self.opened_s = found, time.monotonic()
            self.sessions.add(found.id)
        super()._answer(sink, frame, number)
