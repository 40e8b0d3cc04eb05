"""`python -m tests.server_load`: how a broker process serves few connections, and as many as are asked for.

All figures are of one run on one machine; compare them with each other only. Exit code 0: every answer was right.
Needs Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.harness.host_processes import BrokerProcess
from tests.server_load.brokers import PARTITIONS, cpu_s, peak_bytes, started_broker
from tests.server_load.clients import idle, work

FEW = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.server_load", description=__doc__)
    parser.add_argument("--busy", type=int, default=200, help="connections that produce, fetch and ask for metadata")
    parser.add_argument("--idle", type=int, default=500, help="connections that say nothing")
    parser.add_argument("--requests", type=int, default=30_000, help="of each part")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedZooKeeper() as zookeeper,
        started_broker(Path(folder), f"{zookeeper.address}/load") as broker,
    ):
        asyncio.run(_measure(broker, given.busy, given.idle, given.requests))
    return 0


async def _measure(broker: BrokerProcess, busy: int, silent: int, requests: int) -> None:
    await work(broker.address, FEW, 100, PARTITIONS)  # warm
    alone = await _part(f"{FEW} busy", broker, FEW, requests)
    async with idle(broker.address, silent):
        beside = await _part(f"{FEW} busy beside {silent} silent", broker, FEW, requests)
    many = await _part(f"{busy} busy", broker, busy, requests)
    print(f"p99 beside {silent} silent / alone: {beside / alone:.2f}")
    print(f"p99 of {busy} / p99 of {FEW}, over {busy // FEW} times the connections: {many / alone / (busy / FEW):.2f}")


async def _part(name: str, broker: BrokerProcess, connections: int, requests: int) -> float:
    """Prints figures; the p99."""
    before_s = cpu_s(broker.pid)
    times = await work(broker.address, connections, requests // 3 // connections, PARTITIONS)
    cpu_ms = (cpu_s(broker.pid) - before_s) * 1000 / len(times)
    median, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    peak = peak_bytes(broker.pid) >> 20
    print(
        f"{name}: {len(times)} requests answered, p50 {median:.2f} ms, p99 {p99:.2f} ms, slowest {times[-1]:.0f} ms,"
        f" broker {cpu_ms:.3f} ms of CPU each, peak {peak} MiB",
        flush=True,
    )
    return p99


if __name__ == "__main__":
    sys.exit(main())
