"""A cluster of real Kafka brokers on loopback: start, kill -9, stop and restart each of them.

What happens to its processes, and what is in its znodes; a client of its brokers is client.py's.
"""

from __future__ import annotations

import json
import random
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from model.sandbox.java import java_environment
from model.sandbox.processes import GuardedProcess
from tests.conformance.kafka.releases import Installation
from tests.conformance.kafka.topic_znodes import Assignment, topic_znodes
from tests.harness.waiting import eventually

SESSION_TIMEOUT_MS = 4_000
"""Short, for a killed broker is noticed only when its session ends; long enough for a busy machine."""

NO_CONTROLLER = -1

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


class Broker:
    """One broker; its port, id and folder stay the same over restarts. It dies with the test run."""

    def __init__(
        self, broker_id: int, kafka: Installation, zookeeper: str, folder: Path, settings: str = "", heap_mb: int = 256
    ) -> None:
        folder.mkdir(parents=True)
        self.port = free_port()
        self._folder = folder
        self._log = folder / "broker.log"
        self._process: GuardedProcess | None = None
        listener = kafka.release.listener_settings.format(port=self.port, rack=f"r{broker_id}")
        properties = folder / "server.properties"
        properties.write_text(
            f"broker.id={broker_id}\nlog.dirs={folder / 'logs'}\nzookeeper.connect={zookeeper}\n{listener}{_SETTINGS}"
            f"{settings}"
        )
        self._command = kafka.java("kafka.Kafka", str(properties), heap_mb=heap_mb)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.exit_code() is None

    def start(self) -> None:
        """Starts the process; the broker is of use once the cluster says it serves."""
        self._process = GuardedProcess(
            self._command, folder=self._folder, log=self._log, environment=java_environment()
        )

    def kill(self) -> None:
        """SIGKILL: its session ends only SESSION_TIMEOUT_MS later."""
        if self._process:
            self._process.close()

    def stop(self) -> None:
        """SIGTERM, which is a controlled shutdown; SIGKILL if that does not end it."""
        if self._process:
            self._process.send(signal.SIGTERM)
            self._process.wait(timeout_s=30)
            self._process.close()

    def pause(self) -> None:
        """SIGSTOP, until `resume`: for less than SESSION_TIMEOUT_MS its session lives on."""
        if self._process:
            self._process.pause()

    def resume(self) -> None:
        """SIGCONT."""
        if self._process:
            self._process.send(signal.SIGCONT)

    def holds(self, topic: str) -> bool:
        """Whether there is a folder of one of the topic's partitions, also one that is about to be deleted."""
        return any((self._folder / "logs").glob(f"{topic}-*"))

    def accepts_connections(self) -> bool:
        """Raises RuntimeError with the end of the broker's log when it has died."""
        if not self.running:
            raise RuntimeError(f"the broker in {self._folder} died:\n{self._log.read_text()[-2000:]}")
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


class Cluster:
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
        server, slash, chroot = zookeeper.partition("/")
        self._chroot = slash + chroot
        self._client: Any = KazooClient(hosts=server)  # kazoo has no types

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers.values())

    @property
    def source_url(self) -> str:
        """The cluster as the SOURCE argument of kdrill."""
        return f"zk://{self.zookeeper}"

    def __enter__(self) -> Cluster:
        self._client.start(timeout=30)
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
        self._client.stop()
        self._client.close()

    def await_serving(self, number: int) -> None:
        """Until the broker accepts connections and is registered, and there is a controller."""
        eventually(
            lambda: (
                self.brokers[number].accepts_connections() and number in self.registered() and self.read("/controller")
            ),
            f"broker {number} to serve",
        )

    @contextmanager
    def killed(self, number: int) -> Iterator[None]:
        """kill -9 a broker, and go on once ZooKeeper has noticed. At the end it is started and serves again."""
        with self._down(number, self.brokers[number].kill):
            yield

    def miss(self, *numbers: int) -> None:
        """Takes the registrations of dead brokers away, all at once: the others see one change."""
        together = self._client.transaction()
        for number in numbers:
            together.delete(f"{self._chroot}/brokers/ids/{number}")
        together.commit()

    @contextmanager
    def stopped(self, number: int) -> Iterator[None]:
        """Like `killed`, by a controlled shutdown."""
        with self._down(number, self.brokers[number].stop):
            yield

    @contextmanager
    def _down(self, number: int, bring_down: Callable[[], None]) -> Iterator[None]:
        bring_down()
        try:
            eventually(lambda: number not in self.registered(), f"the end of broker {number}'s session")
            yield
        finally:
            self.brokers[number].start()
            self.await_serving(number)

    def controller(self) -> int:
        """The broker in /controller; NO_CONTROLLER while there is none."""
        return int(self.read("/controller").get("brokerid", NO_CONTROLLER))

    def registered(self) -> set[int]:
        """The brokers in /brokers/ids; a dead one stays until its session ends."""
        return {int(number) for number in self.children("/brokers/ids")}

    def children(self, path: str) -> list[str]:
        """The children of a znode; none when it does not exist."""
        try:
            return list(self._client.get_children(self._chroot + path))
        except NoNodeError:
            return []

    def text(self, path: str) -> str:
        """What is in a znode; empty when there is nothing in it, or no such znode."""
        try:
            data, _ = self._client.get(self._chroot + path)
        except NoNodeError:
            return ""
        return str(data or b"", "utf-8")

    def read(self, path: str) -> dict[str, Any]:
        """The JSON object in a znode; empty when there is nothing in it, or no such znode."""
        return json.loads(self.text(path) or "{}")

    def create(self, topic: str, assignment: Assignment, **config: str) -> None:
        """A topic that the controller finds in ZooKeeper. Keys of `config` have _ for Kafka's dots."""
        settings = {key.replace("_", "."): value for key, value in config.items()}
        for path, data in topic_znodes(topic, assignment, settings):
            self.write(path, data.decode())

    def write(self, path: str, data: str = "") -> None:
        """Creates a znode, as tools do that write to ZooKeeper themselves."""
        self._client.create(self._chroot + path, data.encode())

    def overwrite(self, path: str, data: str) -> None:
        """Writes a znode that there is, whatever its version."""
        self._client.set(self._chroot + path, data.encode())

    def delete(self, path: str) -> None:
        """Deletes a znode."""
        self._client.delete(self._chroot + path)

    def state(self, topic: str, partition: int) -> dict[str, Any]:
        """The partition's state znode: leader, isr, leader_epoch …; empty before the controller wrote it."""
        return self.read(f"/brokers/topics/{topic}/partitions/{partition}/state")

    def states(self) -> dict[tuple[str, int], dict[str, Any]]:
        """The state znode of every partition of every topic, by topic and partition."""
        return {
            (topic, partition): self.state(topic, partition)
            for topic in self.children("/brokers/topics")
            for partition in self.replicas(topic)
        }

    def replicas(self, topic: str) -> dict[int, list[int]]:
        """A topic's replicas by partition, as in its znode."""
        found = self.read(f"/brokers/topics/{topic}").get("partitions", {})
        return {int(partition): replicas for partition, replicas in found.items()}


def free_port() -> int:
    """A port below those the system gives to outgoing connections, so that none takes it during a restart."""
    while True:
        with socket.socket() as probe:
            port = random.randrange(20_000, 32_000)
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
