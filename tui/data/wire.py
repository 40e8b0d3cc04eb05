"""How messages travel between the two processes: length-prefixed MessagePack on pipes. Knows no message's meaning."""

import asyncio
from typing import IO, TypeVar

import msgspec

from tui.data.messages import Pulse, Query, TimeQuery

LENGTH_BYTES = 4
MAX_BYTES = 64 << 20
"""No answer is near this long; a longer one means that the pipe carries something else."""

T = TypeVar("T")


class Garbled(Exception):  # noqa: N818 - reads as a fact
    """What came is no message; the pipe cannot be used any more."""


NIL = msgspec.Raw(b"\xc0")
"""MessagePack's nil; an empty `Raw` would leave a hole in the message."""


class Asked(msgspec.Struct, frozen=True, tag=True):
    """UI → data: a question, numbered."""

    id: int
    query: Query | TimeQuery


class Answered(msgspec.Struct, frozen=True, tag=True):
    """Data → UI: the answer to question `id`, as MessagePack of its own type, or why there is none."""

    id: int
    answer: msgspec.Raw = NIL
    failure: str = ""


Told = Answered | Pulse

encode = msgspec.msgpack.Encoder().encode


def frame(message: object) -> bytes:
    """One message, as it travels."""
    data = encode(message)
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


async def read(reader: asyncio.StreamReader, decoder: "msgspec.msgpack.Decoder[T]") -> T | None:
    """The next message, or None at the end of the pipe. Raises Garbled for what is none."""
    try:
        length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
        if length > MAX_BYTES:
            raise Garbled(f"a message of {length:,} bytes")
        return decoder.decode(await reader.readexactly(length))
    except msgspec.DecodeError as error:
        raise Garbled(f"no message: {error}") from None
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


async def reader_of(pipe: IO[bytes]) -> asyncio.StreamReader:
    """The reading end of a pipe, on this event loop."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def writer_of(pipe: IO[bytes]) -> asyncio.StreamWriter:
    """The writing end of a pipe, on this event loop."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)
