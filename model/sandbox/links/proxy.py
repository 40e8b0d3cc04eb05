"""A loopback proxy: its port stays the same while the server behind it comes and goes. It does not read messages."""

import asyncio
from collections.abc import Callable

from model.sandbox.links.passage import End, Passage, ServerEnd
from model.sandbox.links.valve import Valve
from model.sandbox.ports import LOOPBACK

Pick = Callable[[bytes], Valve | None]
"""The valve of a connection, from what its client has sent so far; None while that is not enough to tell."""


class Proxy:
    """Listens from `start` to `close`. Until it is first told where it leads, connections wait."""

    def __init__(self, pick: Pick) -> None:
        self.port = 0
        """Where it listens, once started."""
        self.passages: set[Passage] = set()
        self._pick = pick
        self._server: asyncio.Server | None = None
        self._target: asyncio.Future[tuple[str, int] | None] = asyncio.get_running_loop().create_future()
        self._connecting: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """`127.0.0.1:PORT`"""
        return f"{LOOPBACK}:{self.port}"

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 lets the system choose. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _ClientEnd(self, Passage()), LOOPBACK, port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    def lead_to(self, host: str, port: int) -> None:
        """Where connections go from now on, those too that wait."""
        self._lead((host, port))

    def lead_nowhere(self) -> None:
        """The server is gone: new connections are closed at once, as its port would refuse them."""
        self._lead(None)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connecting):
            task.cancel()
        for passage in list(self.passages):
            passage.abort()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        self.passages.clear()

    def accept(self, passage: Passage) -> None:
        """A client has come."""
        self.passages.add(passage)
        self.look(passage)

    def look(self, passage: Passage) -> None:
        """Let a connection through once its valve is known; close it if that one is cut."""
        valve = self._pick(passage.first_bytes)
        if valve is None:
            return
        if valve.is_cut:
            self.end(passage)
            return
        passage.pass_through(valve)
        task = asyncio.create_task(self._connect(passage))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    def end(self, passage: Passage) -> None:
        """Both sides of it."""
        passage.abort()
        self.passages.discard(passage)

    async def _connect(self, passage: Passage) -> None:
        target = await asyncio.shield(self._target)
        try:
            if target is None:
                raise OSError("nobody there")
            make = lambda: _ServerEnd(self, passage)  # noqa: E731 - asyncio wants a factory
            await asyncio.get_running_loop().create_connection(make, *target)
        except OSError:
            self.end(passage)
        if passage not in self.passages:
            passage.abort()  # the client went away meanwhile

    def _lead(self, target: tuple[str, int] | None) -> None:
        if self._target.done():
            self._target = asyncio.get_running_loop().create_future()
        self._target.set_result(target)


class _ClientEnd(End):
    def __init__(self, proxy: Proxy, passage: Passage) -> None:
        super().__init__(passage, outwards=passage.forth, inwards=passage.back)
        self._proxy = proxy

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._proxy.accept(self.passage)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.passage.valve is None:
            self.passage.first_bytes += data
            self._proxy.look(self.passage)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.passage.back.source is None or self.passage.back.source.is_closing():
            self._proxy.end(self.passage)


class _ServerEnd(ServerEnd):
    def __init__(self, proxy: Proxy, passage: Passage) -> None:
        super().__init__(passage, outwards=passage.back, inwards=passage.forth)
        self._proxy = proxy

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.passage.forth.source is None or self.passage.forth.source.is_closing():
            self._proxy.end(self.passage)
