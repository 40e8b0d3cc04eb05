"""How a source that asks brokers ends, and what it says of ports that are no broker's: over sockets."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.records import BrokerRegistered, ClusterRecord, ConfigChanged
from model.hosts.kafka_client import ReadingClient
from model.hosts.kafka_descriptions import describe_quorum
from model.hosts.wire.frames import write_frame
from model.hosts.wire.messages import API_VERSIONS_KEY, correlation_id, encode_response, shaped, shapes
from model.sources.kafka.polling_source import PollingSource
from tests.model.sources.kafka.test_kafka_source import Heard, opened

Server = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PATIENCE_S = 60.0


@asynccontextmanager
async def port_of(serve: Server) -> AsyncIterator[int]:
    """A port on which every connection is served like this."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def is_silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


class Abandoned:
    """A survey that fails while something it began still waits for an answer."""

    lists = True
    troubles = ()

    def __init__(self, client: ReadingClient, port: int) -> None:
        self._client, self._address = client, ("127.0.0.1", port)
        self._began: list[asyncio.Task[object]] = []

    async def look(self) -> AsyncIterator[tuple[ClusterRecord, ...]]:
        self._began.append(asyncio.create_task(self._client.ask_at(self._address, describe_quorum)))
        async with asyncio.timeout(PATIENCE_S):
            while len(asyncio.all_tasks()) < 3:  # this one, what it began, and who listens on the new connection
                await asyncio.sleep(0.001)
        raise ValueError("a defect")
        yield ()


async def test_nothing_that_was_begun_outlives_the_loop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    raised: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: raised.append(told.exc_value))
    async with port_of(is_silent) as port:
        source = PollingSource(f"127.0.0.1:{port}", lambda client: Abandoned(client, port), 0.01, connect_s=0)
        heard = Heard()
        source.open(heard)
        await heard.until(lambda: heard.statuses and heard.statuses[-1].phase == "closed")
        await asyncio.to_thread(source.close)
        del source
        gc.collect()
    assert "ValueError" in heard.statuses[-1].reason
    assert (raised, [each for each in caplog.records if each.levelno >= logging.ERROR]) == ([], [])


class Growing:
    """A survey that tells of a broker first, and of its settings then; they change from look to look."""

    lists = True
    troubles = ()
    looks = 0

    async def look(self) -> AsyncIterator[tuple[ClusterRecord, ...]]:
        self.looks += 1
        yield (BrokerRegistered(broker=1),) if self.lists else ()
        self.lists = False
        yield (ConfigChanged(entity="brokers/1", config={"log.retention.ms": str(self.looks)}),)


async def test_what_the_first_look_tells_after_its_listing_is_no_event() -> None:
    source, heard = PollingSource("127.0.0.1:1", lambda _: Growing(), 0.01), Heard()
    source.open(heard)
    await heard.until(lambda: len(heard.batches) > 3)
    await asyncio.to_thread(source.close)
    assert [each.is_known_late for each in heard.batches[:4]] == [False, True, False, False]
    kinds = [change.kind for change in heard.feed.moment.feed]
    assert kinds[:2] == ["loaded", "config-changed"] and len(kinds) == len(heard.batches) - 1


async def closes(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def closes_when_asked(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read(4)


async def resets(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def answers(data: bytes) -> Server:
    """Says so, whatever it is asked, and closes the connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(data)
        await writer.drain()

    return answer


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (closes, "closed|reset|Connect"),
        (closes_when_asked, "closed|reset"),
        (resets, "closed|reset|Connect"),
        (answers(b"\0\0\0\x20\0\0"), "ended after 2 bytes of 32"),
        (answers(bytes(range(256))), "66051|ended"),
        (answers(b"\xff\xff\xff\xff"), "a frame of -1 bytes"),
        (answers(b"\0\0\0\x08\xde\xad\xbe\xef\0\0\0\0"), "response -559038737 where 1 was due"),
        (answers(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "the port of an HTTP server"),
        (answers(b"SSH-2.0-OpenSSH_9.6\r\n"), "the port of an SSH server"),
        (answers(b"\x15\x03\x03\x00\x02\x02\x46"), "speaks TLS here"),
    ],
)
async def test_a_port_that_is_no_broker_s_is_said_in_one_line(server: Server, said: str) -> None:
    async with port_of(server) as port, opened(port, connect_s=0) as (_, heard):
        await heard.until(lambda: heard.statuses and heard.statuses[-1].phase in ("closed", "denied"))
    reason = heard.statuses[-1].reason
    assert re.search(said, reason), reason
    assert reason.startswith(f"kafka://127.0.0.1:{port}: ")
    assert "\n" not in reason
    assert "defect" not in reason


async def speaks_as_a_controller(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Tells the APIs that a controller's listener offers (3.9.1), some of them."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    number = correlation_id((await reader.readexactly(size))[4:])
    module = shapes(API_VERSIONS_KEY, 3, "response")
    offered = tuple(module.ApiVersion(api_key=key, min_version=0, max_version=1) for key in (1, 18, 55, 60, 63))
    await write_frame(writer, *encode_response(shaped(module.ApiVersionsResponse, **TOLD, api_keys=offered), number))
    await reader.read()


TOLD = {"error_code": ErrorCode.none, "throttle_time": timedelta(0)}


async def test_a_controller_s_listener_is_recognised() -> None:
    async with port_of(speaks_as_a_controller) as port, opened(port, connect_s=0) as (_, heard):
        await heard.until(lambda: heard.statuses and heard.statuses[-1].phase == "closed")
    said = f"127.0.0.1:{port}: this is a controller's listener: name a broker's"
    assert heard.statuses[-1].reason == f"kafka://127.0.0.1:{port}: no broker answers: {said}"
