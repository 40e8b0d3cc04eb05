"""Clients that promise, stall, hang up and do not listen, at a broker process: each harms itself alone."""

from __future__ import annotations

import asyncio
import signal
import struct
from pathlib import Path

from tests.harness.host_processes import BrokerProcess
from tests.harness.waiting import eventually
from tests.server_load.brokers import PARTITIONS, open_files, peak_bytes, started_broker
from tests.server_load.clients import (
    PATIENCE_S,
    answer_number,
    bare,
    fetch,
    framed,
    is_closed,
    metadata,
    produce,
    work,
)

MEBIBYTE = 1 << 20
A_DAY_MS = 24 * 60 * 60 * 1000
LIMIT_BYTES = 8_000_000
"""socket.request.max.bytes of these tests' broker."""


async def still_serves(broker: BrokerProcess) -> None:
    assert len(await work(broker.address, 3, 2, PARTITIONS)) == 18


async def test_a_frame_beyond_the_limit_ends_its_connection_alone(broker: BrokerProcess) -> None:
    stays = await bare(broker.address)
    for size in (LIMIT_BYTES + 1, 2**31 - 1, -1):
        reader, writer = await bare(broker.address)
        writer.write(struct.pack(">i", size) + b"anything")
        assert await is_closed(reader)
        assert f"a frame of {size} bytes, where 0 to {LIMIT_BYTES} are allowed" in broker.log
    stays[1].write(framed(metadata(), 7))
    assert await answer_number(stays[0]) == 7


async def test_many_half_sent_frames_take_bounded_memory(broker: BrokerProcess) -> None:
    before = peak_bytes(broker.pid)
    crowd = [await bare(broker.address) for _ in range(60)]
    for _, writer in crowd:
        writer.write(struct.pack(">i", LIMIT_BYTES) + bytes(LIMIT_BYTES - 1))

    def refused() -> int:
        return broker.log.count(f"when all together sent more than {4 * LIMIT_BYTES}")

    await asyncio.to_thread(eventually, lambda: refused() >= 56, "the ends of those who sent most")
    await still_serves(broker)
    assert peak_bytes(broker.pid) - before < 100 * MEBIBYTE, "60 frames of 8 MB were kept"
    for _, writer in crowd:
        writer.transport.abort()


async def test_many_requests_at_once_are_answered_in_order_and_others_between(broker: BrokerProcess) -> None:
    reader, writer = await bare(broker.address)
    requests = (framed(produce(0, b"pipelined"), 1), framed(metadata(), 2), framed(fetch(0, 0), 3))
    writer.write(b"".join(requests) + b"".join(framed(metadata(), number) for number in range(4, 500)))
    serving = asyncio.create_task(still_serves(broker))
    async with asyncio.timeout(PATIENCE_S):
        assert [await answer_number(reader) for _ in range(1, 500)] == list(range(1, 500))
    await serving


async def test_who_reads_no_answer_is_not_read_from_and_others_are_served(broker: BrokerProcess) -> None:
    reader, writer = await bare(broker.address)
    for number in range(8):
        writer.write(framed(produce(3, bytes(900_000)), number))
        await answer_number(reader)
    whole = fetch(3, 0, max_bytes=LIMIT_BYTES)
    before = peak_bytes(broker.pid)
    _, deaf = await bare(broker.address)
    deaf.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
    deaf.write(b"".join(framed(whole, number) for number in range(60)))
    await still_serves(broker)
    assert peak_bytes(broker.pid) - before < 60 * 7_200_000 / 3, "answers pile up for who does not take them"
    writer.write(framed(whole, 9))
    assert await answer_number(reader) == 9
    deaf.transport.abort()


async def test_a_fetch_that_waits_ends_with_its_client(broker: BrokerProcess) -> None:
    waiting = [await bare(broker.address) for _ in range(50)]
    for reader, writer in waiting:
        writer.write(framed(metadata(), 1))
        await answer_number(reader)
        writer.write(framed(fetch(1, 0, max_wait_ms=A_DAY_MS, min_bytes=MEBIBYTE), 2))
    held = open_files(broker.pid)
    for _, writer in waiting:
        writer.close()
    await asyncio.to_thread(eventually, lambda: open_files(broker.pid) <= held - 50, "the ends of the fetches")


async def test_time_runs_out_for_the_silent_and_the_slow(zookeeper: str, tmp_path: Path) -> None:
    with started_broker(tmp_path, zookeeper, "connections.max.idle.ms=2000", topic="") as broker:
        silent, half, slow = [await bare(broker.address) for _ in range(3)]
        half[1].write(framed(metadata(), 1)[:9])
        slow[1].write(struct.pack(">i", 1000))

        async def drip() -> None:
            while True:
                slow[1].write(b"x")
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        assert all([await is_closed(reader) for reader, _ in (silent, half, slow)])
        dripping.cancel()
        assert broker.log.count("bytes was not whole within 2 s") == 2
        late = await bare(broker.address)
        late[1].write(framed(metadata(), 5))
        assert await answer_number(late[0]) == 5
        broker.send(signal.SIGTERM)
        assert await asyncio.to_thread(broker.exit_code) == 0
