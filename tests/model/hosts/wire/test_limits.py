"""What a server bears: silence, frames that never end, answers that nobody takes, too many and too much at once."""

from __future__ import annotations

import asyncio
import logging
import re
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from kio.schema.errors import ErrorCode

from model.hosts.wire.frames import ServerLimits
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request, Server
from tests.harness.waiting import eventually_async

CONTROLLED_SHUTDOWN = 7
PATIENCE_S = 60.0
SHORT_S = 0.2
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Answering:
    """Answers each request, those of `held` brokers never; and notes what it was asked, and what it gave up."""

    def __init__(self, answer_bytes: int = 0) -> None:
        self.asked: list[int] = []
        self.given_up: list[int] = []
        self.held: set[int] = set()
        self._name = "x" * min(answer_bytes, 30_000)
        self._times = max(1, answer_bytes // 30_000)

    async def answer(self, request: Request) -> Entity:
        broker = request.body.broker_id
        self.asked.append(broker)
        try:
            if broker in self.held:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.given_up.append(broker)
            raise
        left = request.shape("RemainingPartition")(topic_name=self._name, partition_index=broker)
        return request.answer(
            "ControlledShutdownResponse", error_code=ErrorCode.none, remaining_partitions=(left,) * self._times
        )


@asynccontextmanager
async def serving(answering: Answering, **limits: object) -> AsyncIterator[int]:
    api = Api(1, 3, answering.answer, until_gone=True)
    server = Server({CONTROLLED_SHUTDOWN: api}, limits=ServerLimits(**limits))  # pyright: ignore[reportArgumentType]
    yield await server.start("127.0.0.1", 0)
    async with asyncio.timeout(PATIENCE_S):
        await server.close()


def question(broker: int) -> bytes:
    """A frame with ControlledShutdown v1 (which has no tags), and a client without a name."""
    return struct.pack(">ihhihi", 14, CONTROLLED_SHUTDOWN, 1, broker, -1, broker)


async def connect(port: int) -> Streams:
    return await asyncio.open_connection("127.0.0.1", port)


async def answer_of(reader: asyncio.StreamReader) -> int:
    """The correlation id of the next answer."""
    async with asyncio.timeout(PATIENCE_S):
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        return struct.unpack_from(">i", await reader.readexactly(size))[0]


async def asked(streams: Streams, broker: int) -> int:
    streams[1].write(question(broker))
    return await answer_of(streams[0])


async def is_closed(reader: asyncio.StreamReader) -> bool:
    async with asyncio.timeout(PATIENCE_S):
        try:
            return await reader.read(1) == b""
        except ConnectionResetError:
            return True


async def test_who_is_silent_is_closed_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(Answering(), idle_s=SHORT_S) as port:
        with caplog.at_level(logging.INFO):
            streams = await connect(port)
            assert await asked(streams, 5) == 5
            assert await is_closed(streams[0])
    assert not caplog.records


@pytest.mark.parametrize("drip", [b"", b"x"], ids=["nothing more", "a byte now and then"])
async def test_a_frame_that_never_ends_is_closed_with_a_line(caplog: pytest.LogCaptureFixture, drip: bytes) -> None:
    async with serving(Answering(), idle_s=SHORT_S) as port:
        reader, writer = await connect(port)
        writer.write(struct.pack(">i", 1 << 20) + b"x" * 100)

        async def trickle() -> None:
            while True:
                writer.write(drip)
                await asyncio.sleep(SHORT_S / 10)

        trickling = asyncio.create_task(trickle())
        assert await is_closed(reader)
        trickling.cancel()
    [line] = caplog.messages
    assert "a frame of 1048576 bytes was not whole within 0.2 s" in line


async def test_an_answer_that_nobody_takes_ends_the_connection_alone(caplog: pytest.LogCaptureFixture) -> None:
    answering = Answering(answer_bytes=8 << 20)
    async with serving(answering, idle_s=1.0) as port:
        _, deaf = await connect(port)
        deaf.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        deaf.write(question(1) * 50)
        await eventually_async(lambda: answering.asked)
        for number in range(2, 5):
            streams = await connect(port)
            assert await asked(streams, number) == number
            streams[1].close()
        await eventually_async(lambda: caplog.messages)
    [line] = caplog.messages
    assert re.search(r"an answer of 8\d{6} bytes was not taken within 1 s", line)
    assert answering.asked.count(1) == 1, "it was asked on although nobody took the answers"


async def test_a_stop_does_not_wait_for_who_takes_no_answer() -> None:
    answering = Answering(answer_bytes=8 << 20)
    async with serving(answering, idle_s=None) as port:
        _, deaf = await connect(port)
        deaf.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        deaf.write(question(1))
        await eventually_async(lambda: answering.asked)


async def test_who_sends_many_requests_at_once_gets_all_answers_in_order_and_lets_others_in() -> None:
    answering, most = Answering(), 3000
    async with serving(answering) as port:
        many, one = await connect(port), await connect(port)
        many[1].write(b"".join(map(question, range(1, most + 1))))
        one[1].write(question(0))
        assert await answer_of(one[0]) == 0
        assert answering.asked.index(0) < most / 2
        assert [await answer_of(many[0]) for _ in range(most)] == list(range(1, most + 1))


async def test_an_answer_that_waits_is_given_up_with_its_client() -> None:
    answering = Answering()
    answering.held = {1, 2}
    async with serving(answering) as port:
        stays, leaves = await connect(port), await connect(port)
        stays[1].write(question(1))
        leaves[1].write(question(2))
        await eventually_async(lambda: len(answering.asked) == 2)
        leaves[1].close()
        await eventually_async(lambda: answering.given_up)
        assert answering.given_up == [2]
        stays[1].transport.abort()
        await eventually_async(lambda: answering.given_up == [2, 1])


async def test_connections_beyond_the_limit_are_closed_with_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(Answering(), most_connections=3) as port:
        inside = [await connect(port) for _ in range(3)]
        assert [await asked(streams, 1) for streams in inside] == [1, 1, 1]
        for _ in range(5):
            assert await is_closed((await connect(port))[0])
        [line] = caplog.messages
        assert "there are 3 already" in line
        assert await asked(inside[0], 2) == 2
        inside[1][1].close()

        async def comes_in() -> bool:
            streams = await connect(port)
            try:
                return await asked(streams, 4) == 4
            except (asyncio.IncompleteReadError, ConnectionResetError):
                return False

        async with asyncio.timeout(PATIENCE_S):
            while not await comes_in():
                await asyncio.sleep(0.01)


async def test_half_sent_frames_together_take_bounded_memory(caplog: pytest.LogCaptureFixture) -> None:
    size, limit = 4 << 20, 10 << 20
    async with serving(Answering(), most_held_bytes=limit, max_frame_bytes=size) as port:
        modest = await connect(port)
        modest[1].write(question(7)[:10])
        pairs = [await connect(port) for _ in range(6)]
        for number, (_, writer) in enumerate(pairs):
            writer.write(struct.pack(">i", size) + bytes(size - 1000 * (number + 1)))
        await eventually_async(lambda: len(caplog.messages) >= 4)
        assert all("bytes of a frame, when all together sent more than 10485760" in line for line in caplog.messages)
        modest[1].write(question(7)[10:])
        assert await answer_of(modest[0]) == 7
        assert await asked(await connect(port), 8) == 8
        assert len(caplog.messages) == 4, "two of them fit, and may stay"
