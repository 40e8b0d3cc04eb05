"""A KRaft cluster of real Kafka on loopback: node 1 is controller and broker, the others are brokers only.

Each broker has a second listener, COUNTED, that is advertised as a proxy's: who comes by it stays behind the proxies.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from model.sandbox.guarded_process import GuardedProcess
from model.sandbox.java import java_environment
from tests.conformance.kafka.api_counter import ApiCounter
from tests.conformance.kafka.brokers import free_port, until
from tests.conformance.kafka.releases import Installation

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"

_SETTINGS = """
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,COUNTED:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
group.coordinator.rebalance.protocols=classic,consumer
broker.session.timeout.ms=6000
num.network.threads=1
num.io.threads=2
log.cleaner.enable=false
auto.create.topics.enable=false
auto.leader.rebalance.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
"""


class KraftCluster:
    """Nodes 1..size, each in its own rack, for as long as the context. They die with the test run."""

    def __init__(self, kafka: Installation, folder: Path, size: int = 2) -> None:
        self.kafka = kafka
        self.folder = folder
        self.zookeeper = ""
        self._controller = free_port()
        self._ports = {number: free_port() for number in range(1, size + 1)}
        self._behind = {number: free_port() for number in self._ports}
        self._counters = {number: ApiCounter(f"127.0.0.1:{port}") for number, port in self._behind.items()}
        self._nodes: dict[int, GuardedProcess] = {}

    @property
    def counted(self) -> str:
        """host:port[,…] of the proxies: whoever begins there is led to no other."""
        return ",".join(counter.address for counter in self._counters.values())

    @property
    def asked(self) -> Counter[str]:
        """What the proxies' clients have asked for so far, by the API's name."""
        return sum((counter.asked for counter in self._counters.values()), Counter[str]())

    @property
    def writes(self) -> Counter[str]:
        """Of `asked`, what does not only read."""
        return sum((counter.writes() for counter in self._counters.values()), Counter[str]())

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self._ports.values())

    @property
    def source_url(self) -> str:
        """The cluster as the SOURCE argument of kdrill."""
        return f"kafka://{self.bootstrap}"

    def __enter__(self) -> Self:
        for number, counter in self._counters.items():
            counter.__enter__()
            self._format(number)
        try:
            for number in self._ports:
                self.start(number)
            until(lambda: self.living() == set(self._ports), "all nodes", 90)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in self._nodes.values():
            node.close()
        for counter in self._counters.values():
            counter.__exit__()

    def start(self, number: int) -> None:
        """Starts a node's process."""
        command = self.kafka.java("kafka.Kafka", str(self._properties(number)), heap_mb=256)
        folder = self._properties(number).parent
        self._nodes[number] = GuardedProcess(
            command, folder=folder, log=folder / "broker.log", environment=java_environment()
        )

    def kill(self, number: int) -> None:
        """SIGKILL."""
        self._nodes[number].close()

    def living(self) -> set[int]:
        """The brokers that are not fenced, as another client is told."""
        try:
            return set(
                AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0}).list_topics(timeout=5).brokers
            )
        except KafkaException:
            return set()

    def _properties(self, number: int) -> Path:
        return self.folder / f"node-{number}" / "server.properties"

    def _format(self, number: int) -> None:
        path = self._properties(number)
        path.parent.mkdir()
        own = f"PLAINTEXT://127.0.0.1:{self._ports[number]},COUNTED://"
        roles, listeners = "broker", f"{own}127.0.0.1:{self._behind[number]}"
        advertised = f"{own}{self._counters[number].address}"
        if number == 1:
            roles, listeners = "broker,controller", f"{listeners},CONTROLLER://127.0.0.1:{self._controller}"
        path.write_text(
            f"process.roles={roles}\nnode.id={number}\nbroker.rack=r{number}\nlisteners={listeners}\n"
            f"advertised.listeners={advertised}\n"
            f"controller.quorum.voters=1@127.0.0.1:{self._controller}\nlog.dirs={path.parent / 'logs'}\n{_SETTINGS}"
        )
        if number == 1:
            tool = self.kafka.java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(path), heap_mb=128)
            subprocess.run(tool, check=True, capture_output=True, timeout=90, env=java_environment())
            return
        (path.parent / "logs").mkdir()  # what the tool writes for a broker, without a JVM for it
        (path.parent / "logs" / "meta.properties").write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={number}\n")
