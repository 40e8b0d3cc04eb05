"""Frames: four bytes of size, then that many bytes. It does not look inside.

Source: `org.apache.kafka.common.network.NetworkReceive` (3.9), which closes a connection over a size that is negative
or above `socket.request.max.bytes`.
"""

import asyncio
import struct

from model.hosts.client_security.refusals import PLAIN_ON_TLS, is_tls_alert
from model.hosts.wire.errors import DeniedError, MalformedError

MAX_FRAME_BYTES = 100 << 20
"""Kafka's default of `socket.request.max.bytes`."""
_SIZE = struct.Struct(">i")
SIZE_BYTES = _SIZE.size
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
        raise MalformedError(f"the connection ended after {len(error.partial)} bytes of {size}") from None


async def write_frame(writer: asyncio.StreamWriter, *parts: bytes) -> None:
    """Send one frame made of these parts, and wait while the other side is slow to read.

    In one piece: `writelines` of Python 3.12 and 3.13 never has done with an empty part, and up to 3.13.0 it did not
    say that the other side was slow (CVE-2024-12254).
    """
    writer.write(b"".join((_SIZE.pack(sum(map(len, parts))), *parts)))
    await writer.drain()
