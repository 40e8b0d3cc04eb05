"""Commands that look once come to an end whatever a broker tells them: a picture, or one line that says why not."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import pytest

from model.hosts.wire.frames import read_frame
from model.hosts.wire.names import WireError
from model.sources.addresses import KafkaAddress
from model.sources.feed import Moment
from model.sources.kafka.kafka_source import KafkaSource
from model.sources.source import SourceError
from tests.model.hosts.live_broker.groups.asking import broker
from tests.model.sources.coordinator_groups.test_source import cluster
from tui.cli.following import follow_source
from tui.engine.messages import Opening, Patience

VERSIONS = 1
"""The answer that every connection begins with."""
HUGE = 2_000_000_000

Lie = Callable[[int, bytes], AsyncIterator[bytes]]
"""What is sent for the n-th answer on a connection; ConnectionAbortedError hangs up."""


@dataclass(frozen=True)
class Way:
    """A lie, and words of the one line that is said of it; none where the picture comes all the same."""

    lie: Lie
    says: tuple[str, ...] = ()
    connect_s: float = 600.0
    timeout_s: float = 60.0
    """Short where only the deadline ends it."""


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def instead(told: Callable[[bytes], bytes], after: int = VERSIONS) -> Lie:
    """Something else is sent than the answers behind the first ones."""

    async def lie(number: int, content: bytes) -> AsyncIterator[bytes]:
        yield told(content) if number > after else framed(content)

    return lie


def closes_after(answers: int) -> Lie:
    async def lie(number: int, content: bytes) -> AsyncIterator[bytes]:
        yield framed(content)
        if number >= answers:
            raise ConnectionAbortedError

    return lie


async def drips(number: int, content: bytes) -> AsyncIterator[bytes]:
    for byte in framed(content):
        if number > VERSIONS:
            await asyncio.sleep(0.1)
        yield bytes([byte])


_THRICE = "(3 times the same)"

WAYS = {
    "closes after each answer": Way(closes_after(1), ("onnection",), connect_s=1.0),
    "closes after each answer, for longer": Way(
        closes_after(1), ("nothing new for 2 s", "connected", "times", "onnection"), timeout_s=2.0
    ),
    "closes after each answer but the first": Way(closes_after(2)),
    "never answers": Way(instead(lambda _: b"", 0), ("nothing new for 2 s", "never connected"), timeout_s=2.0),
    "never answers but about versions": Way(
        instead(lambda _: b""), ("nothing new for 2 s", "connected", "no response to metadata"), timeout_s=2.0
    ),
    "drips": Way(drips, ("nothing new for 2 s", "no response to metadata"), timeout_s=2.0),
    "is no broker": Way(instead(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n", 0), ("an HTTP server", _THRICE)),
    "a frame of negative length": Way(instead(lambda _: struct.pack(">i", -5)), ("a frame of -5", _THRICE)),
    "a frame of 2 GB": Way(instead(lambda _: struct.pack(">i", HUGE)), ("a frame of 2000000000", _THRICE)),
    "answers another request": Way(instead(lambda content: framed(b"\x7f" + content[1:])), ("was due", _THRICE)),
    "garbage": Way(instead(lambda content: framed(content[:4] + b"\xfe" * 99)), ("garbled", _THRICE)),
    "an array of 2,000,000,000": Way(
        instead(lambda content: framed(content[:4] + struct.pack(">ii", 0, HUGE) + content[12:])), ("garbled", _THRICE)
    ),
    "an array of -2,000,000,000": Way(
        instead(lambda content: framed(content[:4] + struct.pack(">ii", 0, -HUGE) + content[12:])), ("garbled", _THRICE)
    ),
    "an answer cut short": Way(instead(lambda content: framed(content[:-7])), ("garbled", _THRICE)),
}


@asynccontextmanager
async def lying(port: int, lie: Lie) -> AsyncIterator[int]:
    """The port of a proxy in front of a true broker, which names the proxy wherever it names itself."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        true_reader, true_writer = await asyncio.open_connection("127.0.0.1", port)
        passing = asyncio.create_task(pass_on(reader, true_writer))
        number = 0
        with suppress(OSError, WireError):
            while (content := await read_frame(true_reader)) is not None:
                number += 1
                async for piece in lie(number, content.replace(struct.pack(">i", port), struct.pack(">i", own))):
                    writer.write(piece)
                    await writer.drain()
        passing.cancel()
        writer.close()
        true_writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    own = server.sockets[0].getsockname()[1]
    try:
        yield own
    finally:
        server.close()


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
    writer.close()


@pytest.mark.parametrize("name", WAYS)
async def test_a_command_comes_to_an_end(name: str) -> None:
    way, seen = WAYS[name], list[Moment]()
    async with broker() as here, cluster(here) as true_port, lying(true_port, way.lie) as port:
        source = KafkaSource(KafkaAddress((("127.0.0.1", port),)), 0.1, answer_s=1.0, connect_s=way.connect_s)
        opening = Opening(source=source.name, patience=Patience(way.timeout_s, time.monotonic()))
        following = follow_source(source, opening, lambda moment: bool(seen.append(moment)))
        if not way.says:
            await following
            assert seen[0].image.cluster_id == "c"
            assert set(seen[0].image.topics) >= {"orders"}
            return
        with pytest.raises(SourceError) as said:
            await following
    line = str(said.value)
    assert line.startswith(f"{source.name}: ")
    assert line.isprintable()
    for word in way.says:
        assert word in line
