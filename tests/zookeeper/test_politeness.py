"""What is asked of a real ZooKeeper: counted, held back while it is slow, and never above the operator's ceiling."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from model.hosts.zookeeper.reader import MULTI_READ_BATCH, ZooKeeperReader
from model.hosts.zookeeper.settings import ReadLimits
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.zookeeper.conftest import OpenReader
from tests.zookeeper.counting_proxy import CountingProxy
from tests.zookeeper.followed import followed
from tests.zookeeper.heard import PATIENCE_S

PATHS = ["/zookeeper"] * MULTI_READ_BATCH
SLOW_S = 0.12


def read_until(reader: ZooKeeperReader, matches: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not matches():
        assert time.monotonic() < deadline_s, reader.usage
        reader.read_many(PATHS)


def test_a_slow_server_is_asked_less_until_it_is_well_again(proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address)
    heard.epoch(1)
    read_until(reader, lambda: 0 < reader.usage.courtesy.usual_ms < 1000 * SLOW_S / 5)
    proxy.delay_s = SLOW_S
    read_until(reader, lambda: reader.usage.courtesy.pause_s(2) > 0)
    proxy.delay_s = 0.0
    read_until(reader, lambda: not reader.usage.courtesy.is_holding_back)


def test_the_ceilings_hold(proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address, limits=ReadLimits(in_flight=3, reads_per_s=800))
    heard.epoch(1)
    began_s = time.monotonic()
    reader.read_many(PATHS * 3)
    reader.read_many(PATHS, watch=True)  # one by one, many at a time where there is no ceiling
    assert time.monotonic() - began_s >= 0.99
    assert reader.usage.requests >= 103


def test_requests_and_bytes_are_counted(proxy: CountingProxy, open_reader: OpenReader) -> None:
    reader, heard = open_reader(proxy.address)
    heard.epoch(1)
    before, asked = reader.usage, proxy.asked["multiRead"]
    reader.read_many(PATHS * 5)
    usage = reader.usage
    assert usage.requests - before.requests == proxy.asked["multiRead"] - asked == 5
    assert usage.bytes_out - before.bytes_out > 500 * len("/zookeeper")
    assert usage.bytes_in - before.bytes_in > 500 * 68
    assert (usage.in_flight, before.in_flight) == (0, 0)


def test_a_source_says_what_it_costs(zookeeper_server: EmbeddedZooKeeper, writer: Any, chroot: str) -> None:
    writer.create(f"{chroot}/brokers/ids", makepath=True)
    with followed(f"{zookeeper_server.address}{chroot}") as source:
        cost = source.phase("live").status.cost
        assert cost is not None
        assert cost.requests_per_s > 0
        assert cost.received_bytes_per_s > 0
        assert cost.sent_bytes_per_s > 0
        assert (cost.watches, cost.is_holding_back) == (1, False)
