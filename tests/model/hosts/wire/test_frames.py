"""Frames on real sockets: whole, in pieces, too long, cut off."""

from __future__ import annotations

import asyncio
import socket
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts.wire.frames import read_frame, write_frame
from model.hosts.wire.names import MalformedError


def reader_of(*pieces: bytes, limit: int = 2**16) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit)
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    return reader


async def test_what_is_written_is_read() -> None:
    here, there = socket.socketpair()
    _, writer = await asyncio.open_connection(sock=here)
    reader, other = await asyncio.open_connection(sock=there)
    await write_frame(writer, b"head", b"body")
    await write_frame(writer, b"")
    writer.close()
    async with asyncio.timeout(30):  # until all is sent, an empty part included
        await writer.wait_closed()
    assert await read_frame(reader) == b"headbody"
    assert await read_frame(reader) == b""
    assert await read_frame(reader) is None
    other.close()


@given(st.binary(max_size=300), st.data())
def test_pieces_of_any_size_are_put_together(content: bytes, data: st.DataObject) -> None:
    frame = struct.pack(">i", len(content)) + content
    cut = data.draw(st.integers(0, len(frame)))

    async def read() -> bytes | None:
        return await read_frame(reader_of(frame[:cut], frame[cut:]))

    assert asyncio.run(read()) == content


@given(st.binary(min_size=1, max_size=100), st.data())
def test_an_end_within_a_frame_is_malformed(content: bytes, data: st.DataObject) -> None:
    frame = struct.pack(">i", len(content)) + content
    cut = data.draw(st.integers(1, len(frame) - 1))

    async def read() -> bytes | None:
        return await read_frame(reader_of(frame[:cut]))

    with pytest.raises(MalformedError, match="ended"):
        asyncio.run(read())


@pytest.mark.parametrize("size", [-1, -(2**31), 1001, 2**31 - 1])
async def test_a_size_out_of_bounds_is_malformed(size: int) -> None:
    with pytest.raises(MalformedError, match=f"a frame of {size} bytes, where 0 to 1000 are allowed"):
        await read_frame(reader_of(struct.pack(">i", size)), 1000)


async def test_a_promised_size_takes_no_memory() -> None:
    reader = reader_of(struct.pack(">i", 90 << 20), b"x")
    tracemalloc.start()
    with pytest.raises(MalformedError):
        await read_frame(reader)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
