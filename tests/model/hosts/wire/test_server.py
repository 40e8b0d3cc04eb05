"""A client and a server of ours on a real socket, and what each does about a peer that misbehaves."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.hosts.wire.connection import Channel, Connection
from model.hosts.wire.frames import ServerLimits
from model.hosts.wire.messages import Entity, decode_response, shaped, shapes
from model.hosts.wire.names import MalformedError, UnavailableError, UnsupportedVersionError
from model.hosts.wire.server import Api, Request, Server

CONTROLLED_SHUTDOWN = 7
PATIENCE_S = 20.0


def shutdown(broker: int, version: int = 3) -> Entity:
    shape = shapes(CONTROLLED_SHUTDOWN, version, "request").ControlledShutdownRequest
    return shaped(shape, broker_id=broker, broker_epoch=1)


async def answer_with_broker(request: Request) -> Entity:
    """The broker that asks comes back as the number of a partition; even ones take their time."""
    broker = request.body.broker_id
    await asyncio.sleep(0.01 if broker % 2 == 0 else 0)
    left = request.shape("RemainingPartition")(topic_name="t", partition_index=broker)
    return request.answer("ControlledShutdownResponse", error_code=ErrorCode.none, remaining_partitions=(left,))


@pytest.fixture
async def port() -> AsyncIterator[int]:
    server = Server({CONTROLLED_SHUTDOWN: Api(1, 3, answer_with_broker)}, limits=ServerLimits(max_frame_bytes=1000))
    yield await server.start("127.0.0.1", 0)
    await server.close()


async def raw(port: int, sent: bytes) -> bytes:
    """What the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read()
    finally:
        writer.close()


async def test_the_versions_announced_are_those_served(port: int) -> None:
    connection = await Connection.open("127.0.0.1", port, "test")
    assert connection.versions == {CONTROLLED_SHUTDOWN: (1, 3), 18: (0, 4)}
    assert connection.newest(CONTROLLED_SHUTDOWN) == 3
    assert connection.newest(CONTROLLED_SHUTDOWN, highest=2) == 2
    with pytest.raises(UnsupportedVersionError, match="metadata"):
        connection.newest(3)
    await connection.close()


async def test_requests_at_the_same_time_are_answered_in_order(port: int) -> None:
    connection = await Connection.open("127.0.0.1", port, "test")
    responses = await asyncio.gather(*(connection.ask(shutdown(number)) for number in range(20)))
    assert [response.remaining_partitions[0].partition_index for response in responses] == list(range(20))
    await connection.close()
    with pytest.raises(UnavailableError, match="closed"):
        await connection.ask(shutdown(1))


async def test_who_is_cancelled_harms_nobody_else(port: int) -> None:
    connection = await Connection.open("127.0.0.1", port, "test")
    slow = asyncio.create_task(connection.ask(shutdown(2)))
    await asyncio.sleep(0)
    slow.cancel()
    assert (await connection.ask(shutdown(3))).remaining_partitions[0].partition_index == 3
    await connection.close()


async def test_an_unknown_version_of_api_versions_is_told_the_ones_there_are(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    frame = struct.pack(">hhih", 18, 99, 5, -1) + b"\0anything"
    writer.write(struct.pack(">i", len(frame)) + frame)
    async with asyncio.timeout(PATIENCE_S):
        size = struct.unpack(">i", await reader.readexactly(4))[0]
        number, response = decode_response(await reader.readexactly(size), 18, 0)
    assert number == 5 and response.error_code is ErrorCode.unsupported_version
    assert [(key.api_key, key.min_version, key.max_version) for key in response.api_keys] == [(18, 0, 4)]
    writer.close()


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(
    ("name", "release", "error"),
    [
        ("kdrill", "1.0-rc.1", "none"),
        ("", "1", "invalid_request"),
        ("-x", "1", "invalid_request"),
        ("x", "1 ", "invalid_request"),
    ],
)
async def test_a_client_has_to_say_properly_what_it_is(
    port: int, version: int, name: str, release: str, error: str
) -> None:
    connection = await Connection.open("127.0.0.1", port, "test")
    request = shapes(18, version, "request").ApiVersionsRequest(
        client_software_name=name, client_software_version=release
    )
    for _ in range(2):  # the connection stays
        response = await connection.ask(request)
        assert (response.error_code.name, bool(response.api_keys)) == (error, error == "none")
    await connection.close()


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (struct.pack(">i", 1001), "a frame of 1001 bytes"),
        (struct.pack(">i", -1), "a frame of -1 bytes"),
        (struct.pack(">ih", 2, 18), "a request of 2 bytes"),
        (struct.pack(">ihhi", 8, 7, 9, 1), "controlled_shutdown v9 is not served here"),
        (struct.pack(">ihhi", 8, 999, 0, 1), "API 999 v0 is not served here"),
        (struct.pack(">ihhih", 10, 7, 3, 1, 5000), "controlled_shutdown v3 is garbled"),
        (struct.pack(">ihhih", 10, 18, 3, 1, 5000), "api_versions v3 is garbled"),
    ],
)
async def test_what_is_no_request_ends_the_connection_with_a_line(
    port: int, caplog: pytest.LogCaptureFixture, sent: bytes, why: str
) -> None:
    with caplog.at_level(logging.WARNING):
        assert await raw(port, sent) == b""
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("closing the connection of 127.0.0.1:") and why in line and "\n" not in line
    connection = await Connection.open("127.0.0.1", port, "test")  # others are served on
    await connection.close()


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def listen(serve: Serve) -> tuple[asyncio.Server, int]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def versions_of(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the first ApiVersions like a broker that serves ControlledShutdown only."""
    size = struct.unpack(">i", await reader.readexactly(4))[0]
    number = struct.unpack_from(">hhi", await reader.readexactly(size))[2]
    body = struct.pack(">ih", number, 0) + b"\2" + struct.pack(">hhh", 7, 0, 3) + b"\0" + struct.pack(">i", 0) + b"\0"
    writer.write(struct.pack(">i", len(body)) + body)


@pytest.mark.parametrize(
    ("sent", "kind", "why"),
    [
        (b"", UnavailableError, "was closed when asked"),
        (struct.pack(">i", -5), MalformedError, "a frame of -5 bytes"),
        (struct.pack(">ih", 2, 1), MalformedError, "a response of 2 bytes"),
        (struct.pack(">ii", 4, 4711), MalformedError, "response 4711 where 2 was due"),
        (struct.pack(">iih", 6, 2, 0), MalformedError, "garbled"),
    ],
)
async def test_a_broker_that_answers_nonsense_loses_the_connection(
    sent: bytes, kind: type[Exception], why: str
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await versions_of(reader, writer)
        await reader.readexactly(4)
        writer.write(sent)
        writer.close()

    server, port = await listen(serve)
    connection = await Connection.open("127.0.0.1", port, "test")
    with pytest.raises(kind, match=why):
        await connection.ask(shutdown(1), PATIENCE_S)
    await connection.close()
    assert not connection.is_open
    server.close()


async def test_no_answer_in_time_ends_the_connection_for_all_who_wait() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await versions_of(reader, writer)
        await reader.read()
        writer.close()

    server, port = await listen(serve)
    connection = await Connection.open("127.0.0.1", port, "test")
    asked: list[Any] = [connection.ask(shutdown(1), 0.2), connection.ask(shutdown(2), PATIENCE_S)]
    first, second = await asyncio.gather(*asked, return_exceptions=True)
    assert str(first) == "no response to controlled_shutdown within 0.2 s"
    assert isinstance(second, UnavailableError)
    assert not connection.is_open
    server.close()


async def test_a_channel_mends_itself(port: int) -> None:
    closed = Server({})
    taken = await closed.start("127.0.0.1", 0)
    await closed.close()
    channel = Channel("127.0.0.1", taken, "test", PATIENCE_S)
    for _ in range(2):
        with pytest.raises(UnavailableError):
            await channel.ask(lambda connection: shutdown(1, connection.newest(CONTROLLED_SHUTDOWN)))
    server = Server({CONTROLLED_SHUTDOWN: Api(1, 3, answer_with_broker)})
    await server.start("127.0.0.1", taken)
    response = await channel.ask(lambda connection: shutdown(5, connection.newest(CONTROLLED_SHUTDOWN)))
    assert response.remaining_partitions[0].partition_index == 5
    await server.close()
    with pytest.raises(UnavailableError):
        await channel.ask(lambda _: shutdown(5))
    await channel.close()
