"""Somebody sets the clock of the machine on which a real cluster is followed: nothing looks fresher or older for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest

from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.sources.addresses import parse_zookeeper_address
from model.sources.zookeeper.watching import OneShotWatching
from model.sources.zookeeper.zookeeper_source import FollowerTiming, ZooKeeperSource
from tests.harness.near_link import NearLink
from tests.tui.data.pulses import Pulses, live
from tests.zookeeper.followed import followed
from tests.zookeeper.kafka_life import KafkaLife
from tui.app.widgets.header import is_stale
from tui.engine.clock import RunningClock
from tui.engine.messages import Pulse
from tui.engine.service import DataService

HOUR_MS = 3_600_000
BUSY_MS = 600_000
"""Whatever the machine does, no part of a test takes so long."""

QUICK = FollowerTiming(verify_s=0.1, resync_pause_s=0.1)


class Clock:
    """The machine's time of day."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real_ns, self._set_by_ms = time.time_ns, 0
        monkeypatch.setattr(time, "time_ns", lambda: self._real_ns() + self._set_by_ms * 1_000_000)

    def jump(self, by_ms: int) -> None:
        self._set_by_ms += by_ms

    @property
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def server() -> Iterator[EmbeddedZooKeeper]:
    """A server of the test's own, whose sessions last 1.5 s, with a cluster's tree."""
    with start_zookeeper(options=ServerOptions(max_session_timeout_ms=1500)) as server:
        with closing(KafkaLife(server.address, 1)) as life:
            life.found(topics=2)
        yield server


@pytest.mark.parametrize("by_ms", [-HOUR_MS, HOUR_MS])
def test_a_busy_source_goes_on_proving_itself(by_ms: int, clock: Clock, zookeeper: str) -> None:
    """A sweep always has something to read: only time tells when the next proof is due."""
    with closing(KafkaLife(zookeeper, 1)) as life:
        life.found(topics=2)
        sweeping = partial(OneShotWatching, budget=0, sweep_per_s=5_000)
        with followed(zookeeper, timing=QUICK, choose_watching=lambda reader, _: sweeping(reader)) as source:
            source.phase("live")
            clock.jump(by_ms)
            for _ in range(2):
                now_ms = clock.now_ms
                source.until_now(lambda moment, now_ms=now_ms: 0 <= moment.status.verified_ms - now_ms < BUSY_MS)
            assert source.phases == ["connecting", "loading", "live"]
            assert source.loads == 1


async def test_a_dashboard_is_neither_alarmed_nor_lulled(clock: Clock, server: EmbeddedZooKeeper) -> None:
    source = ZooKeeperSource(parse_zookeeper_address(f"zk://{server.address}"), QUICK)
    link, pulses, row_one = NearLink(DataService(source)), Pulses(), RunningClock()

    def hear(pulse: Pulse) -> None:
        row_one.set()
        pulses.hear(pulse)

    def age_ms() -> int:
        return row_one() - pulses.heard[-1].header.image_time_ms

    async def next_pulse() -> Pulse:
        heard = len(pulses.heard)
        return await pulses.until(lambda _: len(pulses.heard) > heard)

    await link.open(hear)
    try:
        await pulses.until(live)
        for by_ms in (HOUR_MS, -2 * HOUR_MS):
            clock.jump(by_ms)
            facts = (await next_pulse()).header  # comes within seconds, not when an hour is over
            assert abs(age_ms()) < BUSY_MS
            assert not is_stale(facts, row_one(), BUSY_MS)
        server.pause()
        await pulses.until(lambda pulse: pulse.header.phase == "stale")
        for by_ms in (HOUR_MS, -2 * HOUR_MS):
            clock.jump(by_ms)
            await next_pulse()
            assert abs(age_ms()) < BUSY_MS
        server.resume()
        await pulses.until(lambda pulse: live(pulse) and pulse is pulses.heard[-1])
        assert abs(age_ms()) < BUSY_MS
    finally:
        await link.close()
