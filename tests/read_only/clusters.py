"""Clusters behind proxies that count what is asked of them: a ZooKeeper with the demo's tree, and sandbox brokers."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import NamedTuple

from model.hosts.kafka_client import address_of
from model.sandbox.demo.demo import DemoCluster
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sandbox.options import SandboxOptions
from model.sandbox.switchboard import CLIENT
from model.sandbox.zookeeper_server import EmbeddedZooKeeper, server_status
from tests.conformance.kafka.api_counter import ApiCounter
from tests.harness.sandbox import started_sandbox
from tests.harness.small_demo import SMALL
from tests.zookeeper.counting_proxy import CountingProxy


class Counted(NamedTuple):
    """A cluster, and who stands before it."""

    source: str
    proxies: tuple[CountingProxy, ...]

    @property
    def asked(self) -> Counter[str]:
        """Everything, by its name."""
        return sum((each.asked for each in self.proxies), Counter[str]())

    @property
    def writes(self) -> Counter[str]:
        """What does not only read, by its name."""
        return sum((each.writes() for each in self.proxies), Counter[str]())


class CountedTree(NamedTuple):
    """The demo's tree on a server that nobody else uses; it stands still."""

    counted: Counted
    server: EmbeddedZooKeeper

    def zxid(self) -> int:
        """Of the last transaction; a session's begin and its end are one each."""
        host, _, port = self.server.address.rpartition(":")
        status = server_status((host, int(port)), 60)
        assert status is not None
        return status.zxid


@contextmanager
def counted_tree() -> Iterator[CountedTree]:
    """A ZooKeeper."""
    with start_zookeeper() as server, DemoCluster(SMALL, server.address), CountingProxy(server.address) as proxy:
        yield CountedTree(Counted(f"zk://{proxy.address}/kafka", (proxy,)), server)


@contextmanager
def counted_brokers() -> Iterator[Counted]:
    """Two brokers of a sandbox in a thread of its own; what clients send them passes a counter each."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    ends = AsyncExitStack()
    starting = ends.enter_async_context(started_sandbox(SandboxOptions(brokers=2)))
    try:
        cluster = asyncio.run_coroutine_threadsafe(starting, loop).result().cluster
        with ExitStack() as stack:
            counters: list[ApiCounter] = []
            for broker, address in cluster._bound.items():
                counters.append(stack.enter_context(ApiCounter(address)))
                way = cluster.links.listener(broker, CLIENT)
                loop.call_soon_threadsafe(way.lead_to, *address_of(counters[-1].address))
            yield Counted(f"kafka://{cluster.bootstrap}", tuple(counters))
    finally:
        asyncio.run_coroutine_threadsafe(ends.aclose(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
