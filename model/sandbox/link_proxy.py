"""A loopback proxy: its port stays the same while the server behind it comes and goes. It does not read messages.

While the server is gone the port refuses connections, as the server's own would: a client that gets one and loses it
at once takes that for an answer. librdkafka suspects TLS then, and kafka-python raises.

Each connection through it is a client on one side, a server on the other, and a valve between, which is the state of
one link. A cut link loses nothing: what was on its way arrives after `heal`, as TCP would send it again.
"""

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol, cast

from model.sandbox.processes import LOOPBACK

MOST_WAITING_BYTES = 1 << 20


class Stops(Protocol):
    """A connection through a valve."""

    def valve_changed(self) -> None:
        """The link was cut, slowed or healed."""
        ...


class Valve:
    """Open until it is cut or slowed."""

    def __init__(self) -> None:
        self.is_cut = False
        self.delay_s = 0.0
        self.connections: set[Stops] = set()
        self.behind: list[ValvesInTurn] = []
        """What passes this valve and others."""

    def cut(self) -> None:
        """Let nothing through any more."""
        self._set(is_cut=True, delay_s=self.delay_s)

    def slow(self, delay_s: float) -> None:
        """Let everything through, so much later; 0 for at once."""
        self._set(is_cut=False, delay_s=delay_s)

    def heal(self) -> None:
        self._set(is_cut=False, delay_s=0.0)

    def _set(self, *, is_cut: bool, delay_s: float) -> None:
        self.is_cut, self.delay_s = is_cut, delay_s
        for connection in list(self.connections):
            connection.valve_changed()
        for each in self.behind:
            each.follow()


class ValvesInTurn(Valve):
    """What passes several valves: cut where one of them is, and slower by all of them."""

    def __init__(self, *valves: Valve) -> None:
        super().__init__()
        self._valves = valves
        for each in valves:
            each.behind.append(self)

    def follow(self) -> None:
        """One of them was changed."""
        self._set(is_cut=any(each.is_cut for each in self._valves), delay_s=sum(each.delay_s for each in self._valves))


class OneWay:
    """Bytes from one end to the other, in order: at once, after the valve's delay, or when it opens."""

    def __init__(self) -> None:
        self.source: asyncio.Transport | None = None
        self.target: asyncio.Transport | None = None
        self.valve: Valve | None = None
        """Not known before the first request is read."""
        self._waiting: deque[tuple[float, bytes | None]] = deque()
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._target_is_full = False

    def put(self, data: bytes | None) -> None:
        """Pass on; None is the end."""
        delay_s = self.valve.delay_s if self.valve else 0.0
        self._waiting.append((time.monotonic() + delay_s, data))
        self._waiting_bytes += len(data or b"")
        self.flow()

    def flow(self) -> None:
        """Pass on what is due, and see to it that the source does not send more than is bearable."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        is_open = self.target is not None and self.valve is not None and not self.valve.is_cut
        while is_open and self._waiting and not self._target_is_full:
            due_s, data = self._waiting[0]
            if (wait_s := due_s - time.monotonic()) > 0 and self.valve and self.valve.delay_s:
                self._timer = asyncio.get_running_loop().call_later(wait_s, self.flow)
                break
            self._waiting.popleft()
            self._pass_on(data)
        self._hold_or_release(may_read=is_open or self.valve is None)

    def target_full(self, full: bool) -> None:
        """The target reads more slowly than the source writes, or not any more."""
        self._target_is_full = full
        self.flow()

    def close(self) -> None:
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _pass_on(self, data: bytes | None) -> None:
        assert self.target is not None
        if data is None:
            self.target.close()
        else:
            self._waiting_bytes -= len(data)
            self.target.write(data)

    def _hold_or_release(self, *, may_read: bool) -> None:
        if self.source is None or self.source.is_closing():
            return
        if may_read and not self._target_is_full and self._waiting_bytes < MOST_WAITING_BYTES:
            self.source.resume_reading()
        else:
            self.source.pause_reading()


GREETING_BYTES = 64


class ProxiedConnection:
    """Both directions. It ends when either side does, as soon as the valve lets the end through."""

    def __init__(self) -> None:
        self.first_bytes = b""
        """What the client sent before its valve was known."""
        self.greeting = b""
        """The first bytes that the server sent: ZooKeeper tells the session in them."""
        self.valve: Valve | None = None
        self.forth = OneWay()
        self.back = OneWay()

    def pass_through(self, valve: Valve) -> None:
        """From now on under this valve."""
        self.valve = self.forth.valve = self.back.valve = valve
        valve.connections.add(self)
        self.valve_changed()

    def valve_changed(self) -> None:
        self.forth.flow()
        self.back.flow()

    def abort(self) -> None:
        """End both connections at once, with a reset."""
        for transport in (self.forth.source, self.back.source):
            if transport is not None:
                transport.abort()
        self.forget()

    def forget(self) -> None:
        self.forth.close()
        self.back.close()
        if self.valve is not None:
            self.valve.connections.discard(self)


class End(asyncio.Protocol):
    """One side of a passage, as asyncio tells of it."""

    def __init__(self, passage: ProxiedConnection, *, outwards: OneWay, inwards: OneWay) -> None:
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


Pick = Callable[[bytes], Valve | None]
"""The valve of a connection, from what its client has sent so far; None while that is not enough to tell."""


class Proxy:
    """Listens from `start` to `close`. Until it is first told where it leads, connections wait."""

    def __init__(self, pick: Pick) -> None:
        self.port = 0
        """Where it listens, once started."""
        self.passages: set[ProxiedConnection] = set()
        self._pick = pick
        self._server: asyncio.Server | None = None
        self._target: asyncio.Future[tuple[str, int] | None] = asyncio.get_running_loop().create_future()
        self._connecting: set[asyncio.Task[None]] = set()
        self._refuses = False
        self._settling: asyncio.Task[None] | None = None
        self._reserved: socket.socket | None = None
        """Holds the port while it refuses."""

    @property
    def address(self) -> str:
        """`127.0.0.1:PORT`"""
        return f"{LOOPBACK}:{self.port}"

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 lets the system choose. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._client_end, LOOPBACK, port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    def lead_to(self, host: str, port: int) -> None:
        """Where connections go from now on, those too that wait."""
        self._lead((host, port))
        self._settle(refuses=False)

    def lead_nowhere(self) -> None:
        """The server is gone: new connections are refused."""
        self._lead(None)
        self._settle(refuses=True)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._settling is not None:
            await asyncio.wait([self._settling])
        if self._server is not None:
            self._server.close()
        if self._reserved is not None:
            self._reserved.close()
        self._server = self._reserved = None
        for task in list(self._connecting):
            task.cancel()
        for passage in list(self.passages):
            passage.abort()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        self.passages.clear()

    def accept(self, passage: ProxiedConnection) -> None:
        self.passages.add(passage)
        self.look(passage)

    def look(self, passage: ProxiedConnection) -> None:
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

    def end(self, passage: ProxiedConnection) -> None:
        passage.abort()
        self.passages.discard(passage)

    async def _connect(self, passage: ProxiedConnection) -> None:
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

    def _client_end(self) -> End:
        return _ClientEnd(self, ProxiedConnection())

    def _settle(self, *, refuses: bool) -> None:
        self._refuses = refuses
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._refuse_or_listen())

    async def _refuse_or_listen(self) -> None:
        """Until it is as was said last."""
        loop = asyncio.get_running_loop()
        while (self._server if self._refuses else self._reserved) is not None:
            if self._server is not None:
                self._server.close()
                self._server, self._reserved = None, socket.socket()
                self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections may be open still
                self._reserved.bind((LOOPBACK, self.port))
            else:
                reserved, self._reserved = self._reserved, None
                self._server = await loop.create_server(self._client_end, sock=reserved)

    def _lead(self, target: tuple[str, int] | None) -> None:
        if self._target.done():
            self._target = asyncio.get_running_loop().create_future()
        self._target.set_result(target)


class _ClientEnd(End):
    def __init__(self, proxy: Proxy, passage: ProxiedConnection) -> None:
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
    def __init__(self, proxy: Proxy, passage: ProxiedConnection) -> None:
        super().__init__(passage, outwards=passage.back, inwards=passage.forth)
        self._proxy = proxy

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.passage.forth.source is None or self.passage.forth.source.is_closing():
            self._proxy.end(self.passage)
