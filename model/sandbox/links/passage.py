"""One connection through a proxy: a client on one side, a server on the other, a valve between. It opens neither."""

import asyncio
from typing import cast

from model.sandbox.links.valve import Lane, Valve

GREETING_BYTES = 64


class Passage:
    """Both directions. It ends when either side does, as soon as the valve lets the end through."""

    def __init__(self) -> None:
        self.first_bytes = b""
        """What the client sent before its valve was known."""
        self.greeting = b""
        """The first bytes that the server sent: ZooKeeper tells the session in them."""
        self.valve: Valve | None = None
        self.forth = Lane()
        self.back = Lane()

    def pass_through(self, valve: Valve) -> None:
        """From now on under this valve."""
        self.valve = self.forth.valve = self.back.valve = valve
        valve.connections.add(self)
        self.valve_changed()

    def valve_changed(self) -> None:
        """Go on, or stop."""
        self.forth.flow()
        self.back.flow()

    def abort(self) -> None:
        """End both connections at once, with a reset."""
        for transport in (self.forth.source, self.back.source):
            if transport is not None:
                transport.abort()
        self.forget()

    def forget(self) -> None:
        """Nothing passes any more."""
        self.forth.close()
        self.back.close()
        if self.valve is not None:
            self.valve.connections.discard(self)


class End(asyncio.Protocol):
    """One side of a passage, as asyncio tells of it."""

    def __init__(self, passage: Passage, *, outwards: Lane, inwards: Lane) -> None:
        """`outwards` takes away what this side sends; `inwards` brings it what it gets."""
        self.passage = passage
        self._outwards = outwards
        self._inwards = inwards

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._outwards.source = self._inwards.target = cast(asyncio.Transport, transport)
        self._inwards.flow()

    def data_received(self, data: bytes) -> None:
        self._outwards.put(data)

    def pause_writing(self) -> None:
        self._inwards.target_full(True)

    def resume_writing(self) -> None:
        self._inwards.target_full(False)

    def connection_lost(self, exc: Exception | None) -> None:
        self._outwards.put(None)


class ServerEnd(End):
    """The side of the server, whose first bytes are kept."""

    def data_received(self, data: bytes) -> None:
        if len(self.passage.greeting) < GREETING_BYTES:
            self.passage.greeting = (self.passage.greeting + data)[:GREETING_BYTES]
        super().data_received(data)
