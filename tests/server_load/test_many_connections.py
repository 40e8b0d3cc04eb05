"""A broker process with 500 silent connections, with 200 busy ones, and with fewer files than clients."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.harness.host_processes import BrokerProcess
from tests.harness.waiting import eventually
from tests.sandbox.listening_sockets import listening_below
from tests.server_load.brokers import PARTITIONS, make_led_topic, open_files, started_broker
from tests.server_load.clients import bare, idle, is_closed, work

BUSY_ROUNDS = 2
FEW_FILES = 160
EVERYWHERE = ("listeners=PLAINTEXT://0.0.0.0:0", "advertised.listeners=PLAINTEXT://127.0.0.1:0")
"""Told so, a broker listens on every address."""


async def test_500_idle_connections_harm_nobody(broker: BrokerProcess) -> None:
    async with idle(broker.address, 500) as silent:
        # A client is connected before the broker has taken it in.
        await asyncio.to_thread(eventually, lambda: open_files(broker.pid) > 500, "500 connections")
        times = await work(broker.address, 5, 10, PARTITIONS)
        assert len(times) == 5 * 10 * 3
        assert not any(reader.at_eof() for reader, _ in silent)
    await asyncio.to_thread(eventually, lambda: open_files(broker.pid) < 200, "the end of 500 connections")


async def test_200_busy_connections_are_all_answered(broker: BrokerProcess) -> None:
    times = await work(broker.address, 200, BUSY_ROUNDS, PARTITIONS)
    assert len(times) == 200 * BUSY_ROUNDS * 3


async def test_without_files_for_more_clients_a_broker_lives_and_keeps_its_logs(zookeeper: str, tmp_path: Path) -> None:
    with started_broker(tmp_path, zookeeper, *EVERYWHERE, files=FEW_FILES) as broker:
        assert [str(each.address) for each in listening_below(broker.pid)] == ["0.0.0.0"]
        crowd = [await bare(broker.address) for _ in range(2 * FEW_FILES)]
        assert await is_closed(crowd[-1][0])
        assert open_files(broker.pid) < FEW_FILES
        assert broker.log.count("and whoever comes: there are") == 1
        for _, writer in crowd:
            writer.transport.abort()
        await asyncio.to_thread(eventually, lambda: open_files(broker.pid) < FEW_FILES // 2, "the end of the crowd")
        await asyncio.to_thread(make_led_topic, broker, "another")
        assert len(await work(broker.address, 5, 2, PARTITIONS)) == 30
        assert broker.running
