"""Clients that others wrote, at work while processes die: kafka-python's and Kafka's own, each on a topic of its own.

What a client was told is written has to be read again, by the same client.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from kafka import KafkaConsumer, KafkaProducer

from tests.conformance.kafka.releases import NEWEST, RELEASES, Installation, install
from tests.harness.logged_process import LoggedProcess
from tests.harness.our_kraft import OurKraft
from tests.harness.waiting import eventually

PYTHON = "kafka-python"
JAVA = {f"java-{release}": release for release in ("3.9.1", NEWEST.version)}
NAMES = (PYTHON, *JAVA)
SETTLED = 50
"""So many records have to be acknowledged after each fault."""
PER_SECOND = 200
_TOOLS = "org.apache.kafka.tools.Verifiable"


class Client(Protocol):
    """Writes all the time to the topic that has its name."""

    def send(self, count: int) -> None:
        """Records that are acknowledged some time; one that has a pace of its own takes no notice."""
        ...

    def settle(self) -> None:
        """It goes on: what it has sent, or some of what it sends from now on, is acknowledged."""
        ...

    def audit(self) -> int:
        """All that was acknowledged is read again; how many records that are. It writes no more."""
        ...

    def close(self) -> None:
        """Whatever happened."""
        ...


class PythonClient:
    """kafka-python's, idempotent as it is by itself."""

    def __init__(self, cluster: OurKraft) -> None:
        self._bootstrap = cluster.address().split(",")
        self._producer: Any = KafkaProducer(bootstrap_servers=self._bootstrap, acks="all", delivery_timeout_ms=300_000)
        self.acknowledged: set[bytes] = set()
        self._count = 0

    def send(self, count: int) -> None:
        for _ in range(count):
            value = b"%d" % self._count
            self._count += 1
            self._producer.send(PYTHON, value).add_callback(lambda _, value=value: self.acknowledged.add(value))

    def settle(self) -> None:
        self._producer.flush(240)
        eventually(
            lambda: len(self.acknowledged) == self._count,
            "all of kafka-python's records",
            standing=lambda: f"{len(self.acknowledged)} of {self._count}",
        )

    def audit(self) -> int:
        consumer: Any = KafkaConsumer(PYTHON, bootstrap_servers=self._bootstrap, auto_offset_reset="earliest")
        found: set[bytes] = set()

        def is_all() -> bool:
            found.update(each.value for some in consumer.poll(1_000).values() for each in some)
            return found >= self.acknowledged

        eventually(is_all, "kafka-python's records", standing=lambda: f"{len(found)} of {len(self.acknowledged)}")
        consumer.close()
        return len(self.acknowledged)

    def close(self) -> None:
        self._producer.close(1)


class JavaClient:
    """VerifiableProducer and VerifiableConsumer of a release, which say of each record what becomes of it."""

    def __init__(self, name: str, kafka: Installation, cluster: OurKraft, folder: Path) -> None:
        self.name = name
        self._kafka, self._folder = kafka, folder
        self._bootstrap = cluster.address()
        settings = folder / f"{name}.properties"
        settings.write_text("retries=2147483647\ndelivery.timeout.ms=300000\nenable.idempotence=true\n")
        words = ("--acks", "-1", "--throughput", str(PER_SECOND), self._option(), str(settings))
        self._producer = self._tool("Producer", *words)
        self._producer.start()

    def _option(self) -> str:
        """What the tool calls the file of its settings: KIP-1147."""
        return "--producer.config" if self._kafka.release.version == "3.9.1" else "--command-config"

    def _tool(self, what: str, *words: str) -> LoggedProcess:
        at = ("--bootstrap-server", self._bootstrap, "--topic", self.name)
        command = self._kafka.java(f"{_TOOLS}{what}", *at, *words, heap_mb=96)
        return LoggedProcess(command, self._folder / f"{self.name}-{what.lower()}.log")

    def send(self, count: int) -> None: ...

    @property
    def acknowledged(self) -> set[str]:
        return {each["value"] for each in _told(self._producer.log, "producer_send_success")}

    def settle(self) -> None:
        """Its log is long: it is counted, not read."""
        before = self._producer.log.count("producer_send_success")
        eventually(
            lambda: self._producer.log.count("producer_send_success") >= before + SETTLED,
            f"records of {self.name}",
            240,
            standing=lambda: self._producer.log[-2000:],
        )

    def audit(self) -> int:
        self._producer.stop()
        acknowledged = self.acknowledged
        consumer = self._tool("Consumer", "--group-id", f"audit-{self.name}", "--verbose", "--reset-policy", "earliest")
        consumer.start()

        def lacking() -> set[str]:
            return acknowledged - {str(each["value"]) for each in _told(consumer.log, "record_data")}

        eventually(lambda: not lacking(), f"all of {self.name}", standing=lambda: f"{len(lacking())} lack")
        consumer.kill()
        return len(acknowledged)

    def close(self) -> None:
        self._producer.kill()


def _told(log: str, name: str) -> Iterator[dict[str, Any]]:
    lines = re.finditer(rf'^\{{.*"name":"{name}".*\}}$', log, re.MULTILINE)
    return (json.loads(line[0]) for line in lines)


def clients_of(names: tuple[str, ...], cluster: OurKraft, folder: Path) -> list[Client]:
    """Those of these names, at work already. Raises UnavailableError without Java or Maven."""
    made: list[Client] = []
    for name in names:
        if name == PYTHON:
            made.append(PythonClient(cluster))
        else:
            release = RELEASES.get(JAVA[name], NEWEST)
            made.append(JavaClient(name, install(release), cluster, folder))
    return made
