"""A broker and a controller of ours as processes beside real brokers, in one cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from confluent_kafka.cimpl import NewTopic

from model.hosts.wire.connection import Connection
from tests.harness.host_processes import BrokerProcess, ControllerProcess, host, make_topic
from tests.harness.kafka import SESSION_TIMEOUT_MS, Broker, Cluster
from tests.harness.waiting import eventually


class OurBroker(Broker):
    """Started, stopped and killed like the others; its settings are theirs."""

    def __init__(self, broker_id: int, cluster: Cluster, settings: str = "") -> None:
        folder = cluster.folder / f"broker-{broker_id}"
        super().__init__(broker_id, cluster.kafka, cluster.zookeeper, folder, settings)
        self.command = host("live_broker", str(folder / "server.properties"))


class OurController(ControllerProcess):
    """Registered as a broker from its making on. Once it is killed /controller stays until the session ends."""

    def __init__(self, cluster: Cluster, broker_id: int = 9) -> None:
        self._cluster = cluster
        options = ("--rack", f"r{broker_id}", "--no-auto-rebalance")
        super().__init__(cluster.folder, cluster.zookeeper, broker_id, *options)
        eventually(self._is_registered, "our controller to register")

    def _is_registered(self) -> bool:
        if not self.running:
            raise RuntimeError(f"our controller ended:\n{self.log[-2000:]}")
        return self.id in self._cluster.registered()


def take_office(cluster: Cluster, broker: int) -> int:
    """Have a broker of ours be the controller: /controller is deleted while no other can react. Returns its epoch.

    As 1.1.1 does, its controller is elected first and writes its epoch then; 3.9.1's does both at once.
    """

    def epoch() -> int:
        return int(cluster.text("/controller_epoch"))

    before = epoch()
    with paused({number: each for number, each in cluster.brokers.items() if number != broker}):
        cluster.delete("/controller")
        eventually(
            lambda: cluster.controller() == broker and epoch() > before,
            "our controller to be elected",
            SESSION_TIMEOUT_MS / 1000,
        )
    return epoch()


@contextmanager
def paused(brokers: Mapping[int, Broker]) -> Iterator[None]:
    """They stand still."""
    try:
        for broker in brokers.values():
            broker.pause()
        yield
    finally:
        for broker in brokers.values():
            broker.resume()


@contextmanager
def two_alike(java: Cluster, ours: BrokerProcess, topics: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The addresses of a real broker and of ours, which begins here; each is a cluster of its own with these topics."""
    try:
        ours.start()
        ours.ready()
        for address in (java.bootstrap, ours.address):
            for topic, config in topics.items():
                make_topic(address, NewTopic(topic, 1, 1, config=dict(config)))
        yield java.bootstrap, ours.address
    finally:
        ours.kill()


@asynccontextmanager
async def connected(*addresses: str) -> AsyncIterator[list[Connection]]:
    """A connection to each."""
    async with AsyncExitStack() as stack:
        connections: list[Connection] = []
        for address in addresses:
            name, _, port = address.partition(":")
            connections.append(await Connection.open(name, int(port), "kdrill-test"))
            stack.push_async_callback(connections[-1].close)
        yield connections
