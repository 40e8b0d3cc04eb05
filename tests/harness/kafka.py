"""Real Kafka under ZooKeeper, on loopback: a cluster to start, kill -9 and restart, and a broker that obeys a test.

What happens to processes, and what is in their znodes; a client of brokers is tests/conformance/kafka/client.py's.
"""

from __future__ import annotations

import json
import os
import random
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from model.controller.events_and_commands import BrokerAnswer, BrokerRequest
from model.hosts.live_controller.broker_channels import OutgoingRequest, answer_of, api_key, entity_of
from model.hosts.wire.connection import Connection
from model.sandbox.java import java_environment
from model.znodes.cluster import BrokerRegistration
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.conformance.kafka.topic_znodes import Assignment, topic_znodes
from tests.harness.logged_process import LoggedProcess
from tests.harness.waiting import eventually
from tests.harness.zookeeper import Znodes

SESSION_TIMEOUT_MS = 4_000
"""Short, for a killed broker is noticed only when its session ends; long enough for a busy machine."""

_SETTINGS = f"""
zookeeper.session.timeout.ms={SESSION_TIMEOUT_MS}
zookeeper.connection.timeout.ms=30000
num.network.threads=1
num.io.threads=2
log.cleaner.enable=false
auto.create.topics.enable=false
auto.leader.rebalance.enable=false
delete.topic.enable=true
log.segment.delete.delay.ms=500
log.initial.task.delay.ms=500
controlled.shutdown.enable=true
controlled.shutdown.retry.backoff.ms=500
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
"""


class KafkaProcess(LoggedProcess):
    """A broker's JVM, run on the `server.properties` in `folder`, beside which its log is."""

    def __init__(self, kafka: Installation, folder: Path, heap_mb: int = 256) -> None:
        command = kafka.java("kafka.Kafka", str(folder / "server.properties"), heap_mb=heap_mb)
        super().__init__(command, folder / "broker.log", folder=folder, environment=java_environment())

    def accepts(self, *ports: int) -> bool:
        """Whether it takes connections there. Raises RuntimeError with the end of its log when it has died."""
        if not self.running:
            raise RuntimeError(f"the broker in {self._folder} died:\n{self.log[-2000:]}")
        return all(map(is_open, ports))


class Broker(KafkaProcess):
    """A broker under ZooKeeper; its port, id and folder stay the same over restarts."""

    def __init__(
        self, broker_id: int, kafka: Installation, zookeeper: str, folder: Path, settings: str = "", heap_mb: int = 256
    ) -> None:
        folder.mkdir(parents=True)
        self.port = free_port()
        listener = kafka.release.listener_settings.format(port=self.port, rack=f"r{broker_id}")
        (folder / "server.properties").write_text(
            f"broker.id={broker_id}\nlog.dirs={folder / 'logs'}\nzookeeper.connect={zookeeper}\n{listener}{_SETTINGS}"
            f"{settings}"
        )
        super().__init__(kafka, folder, heap_mb)

    def serves(self) -> bool:
        """Whether it takes connections."""
        return self.accepts(self.port)

    def holds(self, topic: str) -> bool:
        """Whether there is a folder of one of the topic's partitions, also one that is about to be deleted."""
        return any((self._folder / "logs").glob(f"{topic}-*"))


class Cluster(Znodes):
    """`size` brokers of one release under a chroot of their own, each in its own rack; `first` is the first one's id.

    `in_turn`: each starts when the one before it serves, so that the first is the controller. `settings` are more
    lines for server.properties.
    """

    def __init__(
        self,
        kafka: Installation,
        zookeeper: str,
        folder: Path,
        size: int = 3,
        *,
        first: int = 1,
        in_turn: bool = False,
        settings: str = "",
        heap_mb: int = 256,
    ) -> None:
        self.kafka = kafka
        self._in_turn = in_turn
        self.zookeeper = zookeeper
        self.folder = folder
        self.brokers = {
            number: Broker(number, kafka, zookeeper, folder / f"broker-{number}", settings, heap_mb)
            for number in range(first, first + size)
        }
        super().__init__(zookeeper)

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers.values())

    @property
    def source_url(self) -> str:
        """The cluster as the SOURCE argument of kdrill."""
        return f"zk://{self.zookeeper}"

    def __enter__(self) -> Cluster:
        super().__enter__()
        try:
            for number, broker in self.brokers.items():
                broker.start()
                if self._in_turn:
                    self.await_serving(number)
            for number in self.brokers:
                self.await_serving(number)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self.brokers.values():
            broker.kill()
        super().__exit__()

    def await_serving(self, number: int) -> None:
        """Until the broker accepts connections and is registered, and there is a controller."""
        eventually(
            lambda: self.brokers[number].serves() and number in self.registered() and self.read("/controller"),
            f"broker {number} to serve",
        )

    @contextmanager
    def killed(self, number: int) -> Iterator[None]:
        """kill -9 a broker, and go on once ZooKeeper has noticed. At the end it is started and serves again."""
        with self._down(number, self.brokers[number].kill):
            yield

    def miss(self, *numbers: int) -> None:
        """Takes the registrations of dead brokers away, all at once: the others see one change."""
        together = self.client.transaction()
        for number in numbers:
            together.delete(f"/brokers/ids/{number}")
        together.commit()

    @contextmanager
    def stopped(self, number: int) -> Iterator[None]:
        """Like `killed`, by a controlled shutdown."""
        with self._down(number, self.brokers[number].stop):
            yield

    @contextmanager
    def _down(self, number: int, bring_down: Callable[[], object]) -> Iterator[None]:
        bring_down()
        try:
            eventually(lambda: number not in self.registered(), f"the end of broker {number}'s session")
            yield
        finally:
            self.brokers[number].start()
            self.await_serving(number)

    def registered(self) -> set[int]:
        """The brokers in /brokers/ids; a dead one stays until its session ends."""
        return {int(number) for number in self.children("/brokers/ids")}

    def create(self, topic: str, assignment: Assignment, **config: str) -> None:
        """A topic that the controller finds in ZooKeeper. Keys of `config` have _ for Kafka's dots."""
        settings = {key.replace("_", "."): value for key, value in config.items()}
        for path, data in topic_znodes(topic, assignment, settings):
            self.write(path, data.decode())

    def states(self) -> dict[tuple[str, int], dict[str, Any]]:
        """The state znode of every partition of every topic, by topic and partition."""
        return {
            (topic, partition): self.state(topic, partition)
            for topic in self.children("/brokers/topics")
            for partition in self.replicas(topic)
        }


_WORKERS = 16


def free_ports() -> Iterator[int]:
    """Ports below those the system gives to outgoing connections, so that none takes one during a restart.

    Each of pytest's workers has its own, so that no two choose the same at the same moment.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = range(20_000 + worker % _WORKERS, 32_000, _WORKERS)
    return (port for port in random.sample(ports, len(ports)) if not is_open(port))


def free_port() -> int:
    return next(free_ports())


def is_open(port: int) -> bool:
    """Whether somebody listens there, on loopback."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


VERSIONS = {4: 7, 5: 3, 6: 8}
"""Of LeaderAndIsr, StopReplica and UpdateMetadata."""


_LONE_SETTINGS = "controller.socket.timeout.ms=3000\n"
"""So long does it wait for the answer of a controller that has gone, before it asks the next."""


class LoneBroker:
    """Broker 1. `epoch` is its broker epoch; its own controller, of epoch 1, is overruled by any later one."""

    def __init__(self, cluster: Cluster, epoch: int) -> None:
        self.port = cluster.brokers[1].port
        self.bootstrap = cluster.bootstrap
        self.epoch = epoch

    async def obey(
        self,
        connection: Connection,
        request: BrokerRequest,
        broker_epoch: int,
        ports: Mapping[int, int] = MappingProxyType({2: 1, 3: 1}),
    ) -> BrokerAnswer:
        """What it answers to a controller. `ports`: of its peers on loopback, if somebody listens there."""
        letter = OutgoingRequest(request, broker_epoch, _registrations({1: self.port, **ports}), "PLAINTEXT")
        return answer_of(request, await connection.ask(entity_of(letter, VERSIONS[api_key(request)])))


@contextmanager
def lone_broker(zookeeper: str, folder: Path, *, controller: int | None = None) -> Iterator[LoneBroker]:
    """Started, registered, and gone at the end. Skips the test if there is no Kafka.

    `controller`: who has been elected before. Else it elects itself, and may ask itself what it asks a controller:
    it keeps to the first one it hears of.
    """
    if controller is not None:
        elect(controller, zookeeper)
    with Cluster(install_or_skip("3.9.1"), zookeeper, folder, size=1, settings=_LONE_SETTINGS) as cluster:
        yield LoneBroker(cluster, cluster.epoch_of(1))


def elect(broker: int, zookeeper: str) -> None:
    """For good: the znode goes with no session."""
    server, _, chroot = zookeeper.partition("/")
    elected = {"version": 1, "brokerid": broker, "timestamp": "0"}
    with Znodes(server) as znodes:  # the chroot is made as well
        znodes.write(f"/{chroot}/controller", json.dumps(elected))


def _registrations(ports: Mapping[int, int]) -> dict[int, BrokerRegistration]:
    return {
        broker: BrokerRegistration(
            version=5,
            host="127.0.0.1",
            port=port,
            endpoints=(f"PLAINTEXT://127.0.0.1:{port}",),
            listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
            timestamp="0",
        )
        for broker, port in ports.items()
    }
