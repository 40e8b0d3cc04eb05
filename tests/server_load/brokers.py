"""A real broker process with the load's topic, and what the system says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.cimpl import NewTopic

from tests.harness.host_processes import LONG_SESSION, BrokerProcess, make_topic
from tests.harness.waiting import eventually
from tests.server_load.clients import PATIENCE_S, TOPIC

PARTITIONS = 4


@contextmanager
def started_broker(
    folder: Path, zookeeper: str, *overrides: str, files: int | None = None, topic: str = TOPIC
) -> Iterator[BrokerProcess]:
    """It serves, and has the topic, if any; killed at the end. `files`: how many it may have open."""
    broker = BrokerProcess(folder, zookeeper, 1, f"{LONG_SESSION}\ndefault.replication.factor=1")
    try:
        broker.start(*overrides, files=files)
        broker.ready()
        if topic:
            make_led_topic(broker, topic)
        yield broker
    finally:
        broker.kill()


def make_led_topic(broker: BrokerProcess, name: str) -> None:
    """Once its partitions have leaders. The client, and its connections, are gone then."""
    admin = make_topic(broker.address, NewTopic(name, PARTITIONS, 1))

    def are_led() -> bool:
        partitions = admin.list_topics(name, timeout=PATIENCE_S).topics[name].partitions
        return len(partitions) == PARTITIONS and all(each.leader == 1 for each in partitions.values())

    eventually(are_led, "leaders")


def peak_bytes(pid: int) -> int:
    """The most memory that a process has had at once."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def open_files(pid: int) -> int:
    """How many it has."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def cpu_s(pid: int) -> float:
    """The processor time that it has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
