"""Frames: four bytes of size, then that many bytes; and those of a server's clients, within bounds of time and memory.

It does not look inside. Source: `org.apache.kafka.common.network.NetworkReceive` (3.9), which closes a connection
over a size that is negative or above `socket.request.max.bytes`.

Kafka 3.9 (`SocketServer`, `Selector`) closes connections that were idle for `connections.max.idle.ms`, but a byte now
and then keeps them open; half-sent frames take the memory that they promise, and beyond `queued.max.request.bytes`,
by default unbounded, nobody is read from. Here a frame has to be whole in that time, and whoever holds most is cut
off.
"""

import asyncio
import struct
from collections.abc import Generator
from contextlib import contextmanager

import msgspec

from model.hosts.tls import PLAIN_ON_TLS, is_tls_alert
from model.hosts.wire.names import DeniedError, MalformedError

MAX_FRAME_BYTES = 100 << 20
"""Kafka's default of `socket.request.max.bytes`."""
_SIZE = struct.Struct(">i")
SIZE_BYTES = _SIZE.size
_WRITTEN_AHEAD_BYTES = 1 << 16
"""So much may wait to be taken by the other side while ours goes on."""
_OTHERS = {b"HTTP": "an HTTP server", b"SSH-": "an SSH server"}
"""How servers that speak other protocols begin, instead of a size."""


async def read_frame(reader: asyncio.StreamReader, limit: int = MAX_FRAME_BYTES) -> bytes | None:
    """The next frame's content; None where the connection ends between two frames.

    Memory grows with what arrives, not with what the size promises. Raises MalformedError for a size out of bounds
    and for an end within a frame, DeniedError where it is TLS, OSError when the connection breaks.
    """
    size = await read_size(reader, limit)
    return None if size is None else await read_content(reader, size)


async def read_size(reader: asyncio.StreamReader, limit: int) -> int | None:
    """How long the next frame is; None where the connection ends before it. Raises as `read_frame` does."""
    try:
        head = await reader.readexactly(SIZE_BYTES)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise MalformedError("the connection ended within a frame's size") from None
        return None
    size: int = _SIZE.unpack(head)[0]
    if is_tls_alert(head):
        raise DeniedError(PLAIN_ON_TLS)
    if head in _OTHERS:
        raise MalformedError(f"this is the port of {_OTHERS[head]}, not of a Kafka broker")
    if not 0 <= size <= limit:
        raise MalformedError(f"a frame of {size} bytes, where 0 to {limit} are allowed")
    return size


async def read_content(reader: asyncio.StreamReader, size: int) -> bytes:
    """The content of a frame whose size was read. Raises as `read_frame` does."""
    try:
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError as error:
        arrived = len(error.partial)
    # Not above, where it would hold the other error, and that all that has arrived.
    raise MalformedError(f"the connection ended after {arrived} bytes of {size}")


async def write_frame(writer: asyncio.StreamWriter, *parts: bytes, patience_s: float | None = None) -> None:
    """Send one frame made of these parts; where much waits to be taken, wait for the other side.

    In one piece: `writelines` of Python 3.12 and 3.13 never has done with an empty part, and up to 3.13.0 it did not
    say that the other side was slow (CVE-2024-12254). Raises TimeoutError after `patience_s` (None: never).
    """
    writer.write(b"".join((_SIZE.pack(sum(map(len, parts))), *parts)))
    if writer.transport.get_write_buffer_size() > _WRITTEN_AHEAD_BYTES:
        async with asyncio.timeout(patience_s):
            await writer.drain()


ALWAYS_ALLOWED_BYTES = 1 << 20
"""So much of a frame never costs a connection, however much the others hold: more than asyncio reads ahead."""


class ServerLimits(msgspec.Struct, frozen=True):
    """What a server bears."""

    max_frame_bytes: int = MAX_FRAME_BYTES
    idle_s: float | None = 600.0
    """How long a connection may be silent, a frame may take to arrive, an answer to be taken; None for ever."""
    most_connections: int = 10_000
    most_held_bytes: int = 4 * MAX_FRAME_BYTES
    """How much all connections together may have sent that is not answered yet; at least one frame has to fit."""


class Intake:
    """All that the connections of one server hold."""

    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self.inflows: set[Inflow] = set()
        self._held_bytes = 0

    def add(self, size: int) -> None:
        """So many bytes more, or less. Beyond the limit the largest unfinished frame's connection ends."""
        self._held_bytes += size
        if size < 0 or self._held_bytes <= self.limits.most_held_bytes:
            return
        largest = max(self.inflows, key=lambda inflow: inflow.unfinished_bytes)
        if largest.unfinished_bytes > ALWAYS_ALLOWED_BYTES:
            most = self.limits.most_held_bytes
            largest.refuse(f"{largest.unfinished_bytes} bytes of a frame, when all together sent more than {most}")


class Inflow(asyncio.StreamReader):
    """What one client sends, from its connection's beginning to `close`."""

    def __init__(self, intake: Intake) -> None:
        super().__init__()
        self._intake = intake
        self._has_ended = False
        self._at_end: asyncio.Task[object] | None = None
        self._held_bytes = 0
        self._answering_bytes = 0
        self._is_closed = False
        self._refusal = self._complaint = ""
        self._waiting_since_s: float | None = None
        self._was_silent = False
        self._watch: asyncio.TimerHandle | None = None
        intake.inflows.add(self)

    @property
    def has_more(self) -> bool:
        """Whether something has arrived behind the frame that is answered."""
        return self._held_bytes > self._answering_bytes

    @property
    def unfinished_bytes(self) -> int:
        """What has arrived behind the last whole frame."""
        return self._held_bytes - self._answering_bytes

    async def next_frame(self) -> bytes | None:
        """The next one; what came before it is answered. None at the end, also after `idle_s` without a byte of it.

        Raises as `read_frame` does, and MalformedError for one that does not arrive in time.
        """
        limits = self._intake.limits
        self._hold(-self._answering_bytes)
        self._answering_bytes = 0
        self._waits_for("")
        size = await self._size(limits.max_frame_bytes)
        if size is None:
            return None
        if self._held_bytes < SIZE_BYTES + size:
            self._waits_for(f"a frame of {size} bytes was not whole within {limits.idle_s or 0:g} s")
        try:
            frame = await read_content(self, size)
        except MalformedError as error:
            raise MalformedError(self._refusal or str(error)) from None
        self._waiting_since_s = None
        self._answering_bytes = SIZE_BYTES + size
        return frame

    async def _size(self, limit: int) -> int | None:
        try:
            return await read_size(self, limit)
        except MalformedError:
            if self._was_silent:
                return None
            raise

    def _waits_for(self, complaint: str) -> None:
        """From now on no longer than `idle_s`; `complaint`: what a frame that has begun is refused with then."""
        idle_s, loop = self._intake.limits.idle_s, asyncio.get_running_loop()
        self._waiting_since_s, self._complaint = loop.time(), complaint
        if self._watch is None and idle_s is not None:
            self._watch = loop.call_later(idle_s, self._look_at_clock, loop, idle_s)

    def _look_at_clock(self, loop: asyncio.AbstractEventLoop, idle_s: float) -> None:
        """One timer for all requests of a connection, not one for each: it is set again for what is left."""
        since_s = loop.time() if self._waiting_since_s is None else self._waiting_since_s
        left_s = since_s + idle_s - loop.time()
        if left_s > 0:
            self._watch = loop.call_later(left_s, self._look_at_clock, loop, idle_s)
        else:
            self._was_silent = True
            self.refuse(self._complaint)

    @contextmanager
    def cancels_at_end(self) -> Generator[None]:
        """Within, this task is cancelled when the client hangs up, or has."""
        task = self._at_end = asyncio.current_task()
        if task is not None and self._has_ended:
            task.cancel()
        try:
            yield
        finally:
            self._at_end = None

    def refuse(self, why: str) -> None:
        """Take nothing more: whoever waits for a frame is told why there is none."""
        self._refusal = why
        self.close()
        self.feed_eof()

    def close(self) -> None:
        """Hold nothing more, whatever still arrives."""
        self._intake.inflows.discard(self)
        self._hold(-self._held_bytes)
        self._is_closed = True
        if self._watch is not None:
            self._watch.cancel()

    # As asyncio tells of the connection.

    def feed_data(self, data: bytes) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not self._is_closed:
            super().feed_data(data)
            self._hold(len(data))

    def feed_eof(self) -> None:
        super().feed_eof()
        self._end()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self._end()

    def _hold(self, size: int) -> None:
        if self._is_closed:
            return
        self._held_bytes += size
        self._intake.add(size)

    def _end(self) -> None:
        self._has_ended = True
        if self._at_end is not None:
            self._at_end.cancel()
