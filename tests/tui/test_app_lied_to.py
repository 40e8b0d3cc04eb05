"""The dashboard on a ZooKeeper that lies: row one says what is wrong, keys are heard, and it ends when told to."""

from __future__ import annotations

import asyncio
import time

import pytest

from model.sources.addresses import parse_zookeeper_address
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from tests.tui.dashboard import Keys, kdrill, mode, opened_on, press, rows, text, until
from tests.zookeeper.lies import WAYS, served
from tests.zookeeper.lying_zookeeper import LyingZooKeeper

PATIENT = FollowerTiming(connect_s=600.0, refused_s=600.0, verify_s=0.1, resync_pause_s=0.1, hopeless_s=600.0)
"""Whoever waits for any of these when it is to end fails the test."""


def source_at(server: LyingZooKeeper) -> ZooKeeperSource:
    return ZooKeeperSource(parse_zookeeper_address(f"zk://{server.address}"), PATIENT)


def row_one(pilot: Keys) -> str:
    return text(pilot).split("\n")[0]


async def ends_by_q(pilot: Keys, source: ZooKeeperSource) -> None:
    """Both the dashboard and, long before any of its patience is over, the source."""
    await pilot.press("Q")
    await pilot.pause()
    assert kdrill(pilot).return_code == 0
    begun_s = time.monotonic()
    await asyncio.to_thread(source.close)
    assert time.monotonic() - begun_s < PATIENT.hopeless_s / 10


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("2,000,000,000 names", "2000000000 names announced"),
        ("-2,000,000,000 names", "-2000000000 names announced"),
        ("closes after each answer", "closed the connection"),
        ("is behind after each connection", "knows less than it has told before"),
    ],
)
async def test_why_nothing_is_there_is_said_and_keys_are_heard(name: str, why: str) -> None:
    with served(WAYS[name]) as server:
        source = source_at(server)
        async with opened_on(source, size=(220, 30), phase="connecting") as pilot:
            await until(pilot, lambda: "NOT CONNECTED: " in row_one(pilot) and why in row_one(pilot))
            await press(pilot, "3")
            assert mode(pilot) == "partitions"
            await ends_by_q(pilot, source)


async def test_what_was_read_stays_and_is_called_stale_with_the_reason() -> None:
    with LyingZooKeeper() as server:
        source = source_at(server)
        async with opened_on(source, size=(220, 30)) as pilot:
            await press(pilot, "3")
            assert rows(pilot).total == 2
            server.lie = WAYS["2,000,000,000 names"].lie
            server.hang_up()
            await until(pilot, lambda: "STALE" in row_one(pilot) and "2000000000 names announced" in row_one(pilot))
            await press(pilot, "1", "3")
            assert rows(pilot).total == 2
            await ends_by_q(pilot, source)
