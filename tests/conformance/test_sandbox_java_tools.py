"""Kafka's own tools of 3.9.1, and kcat, at three brokers of ours: topics, settings, records, moves and elections.

A cluster for this module alone. Each command is a Java process, so that one history takes them all.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from model.sandbox.java import java_environment
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.architecture.source_tree import ROOT
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.describe import PartitionView
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.harness.host_processes import LONG_SESSION, BrokerProcess
from tests.harness.waiting import eventually
from tests.harness.zookeeper import Znodes
from tests.maven import skip_or_fail

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

LINES = [f"line {number}" for number in range(20)]


class OurCluster(Znodes):
    """Three brokers that serve."""

    def __init__(self, kafka: Installation, zookeeper: str, folder: Path, brokers: list[BrokerProcess]) -> None:
        self.kafka = kafka
        self.zookeeper = zookeeper
        self.folder = folder
        self.brokers = brokers
        for broker in brokers:
            broker.ready()
        self.bootstrap = ",".join(broker.address for broker in brokers)
        super().__init__(zookeeper)

    def holds(self, broker: int, folder: str) -> bool:
        """Whether there is a folder of this partition."""
        return (self.brokers[broker - 1].folder / "logs" / folder).exists()


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurCluster]:
    """Skipped without Java, Maven or the network."""
    kafka = install_or_skip("3.9.1")
    zookeeper: EmbeddedZooKeeper = request.getfixturevalue("zookeeper_server")
    folder = tmp_path_factory.mktemp("ours-")
    address = f"{zookeeper.address}/{folder.name}"
    with ExitStack() as stack:
        brokers = [BrokerProcess(folder, address, number, LONG_SESSION) for number in (1, 2, 3)]
        for broker in brokers:
            stack.callback(broker.kill)
            broker.start()
        yield stack.enter_context(OurCluster(kafka, address, folder, brokers))


def test_kafkas_tools_administer_brokers_of_ours(cluster: OurCluster) -> None:
    commands = Commands(cluster)
    commands.create("orders", {0: (1, 2, 3), 1: (2, 3, 1)}, min_insync_replicas="2")
    orders = {
        0: PartitionView(1, (1, 2, 3), frozenset((1, 2, 3))),
        1: PartitionView(2, (2, 3, 1), frozenset((1, 2, 3))),
    }
    eventually(lambda: commands.describe() == {"orders": orders}, "any broker to know it", standing=commands.describe)
    commands.produce("orders", LINES)
    assert sorted(commands.consume("orders", len(LINES))) == sorted(LINES)

    commands.configure("orders", retention_ms="3600000")
    told = commands.configuration("orders")
    assert "min.insync.replicas=2 sensitive=false" in told
    assert "retention.ms=3600000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=3600000}" in told
    commands.add_partitions("orders", 3)
    eventually(lambda: cluster.state("orders", 2), "the third partition")

    commands.reassign("orders", {0: (2, 3), 1: (3, 2)})
    moved = {0: [2, 3], 1: [3, 2]}
    eventually(lambda: moved.items() <= cluster.replicas("orders").items(), "the end of both moves")
    eventually(lambda: cluster.state("orders", 0)["leader"] == 2, "a leader that stays")
    eventually(
        lambda: not cluster.holds(1, "orders-0") and not cluster.holds(1, "orders-1"), "broker 1 to delete its copies"
    )
    assert cluster.state("orders", 1)["leader"] == 2  # a leader that stays a replica goes on
    commands.elect_preferred("orders", [1])
    eventually(lambda: cluster.state("orders", 1)["leader"] == 3, "the preferred leader")
    assert sorted(commands.consume("orders", len(LINES))) == sorted(LINES)

    commands.delete("orders")
    eventually(lambda: not cluster.state("orders", 0), "the topic to be deleted")
    eventually(lambda: not any(cluster.holds(number, "orders-0") for number in (1, 2, 3)), "its folders to go")


JAVA = """
import java.util.Map;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.StringSerializer;
class Use {
    public static void main(String[] words) throws Exception {
        try (var producer = %s) {
            System.out.println(producer.send(new ProducerRecord<>("used", "from Java")).get().hasOffset());
        }
    }
}
"""


def test_the_lines_of_the_sandboxs_guide_are_used(cluster: OurCluster, tmp_path: Path) -> None:
    guide = (ROOT / "tui/guides/sandbox.md").read_text().splitlines()
    java, console, kcat = (
        next(line for line in guide if line.startswith(start)).replace("orders", "used")
        for start in ("new KafkaProducer", "kafka-console-consumer.sh ", "kcat ")
    )
    Commands(cluster).create("used", {0: (1, 2, 3)})
    source = tmp_path / "Use.java"
    source.write_text(JAVA % java)
    command = cluster.kafka.java(str(source), heap_mb=256)
    assert run(cluster, command).splitlines() == ["true"]
    script = tmp_path / "kafka-console-consumer.sh"
    words = Commands(cluster).java("consume", "--max-messages", "1")
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o755)
    assert run(cluster, ["bash", "-c", f"PATH={tmp_path}:$PATH; {console}"]).splitlines() == ["from Java"]
    need_kcat()
    assert run(cluster, ["bash", "-c", kcat]).splitlines()[:1] == ["from Java"]


def run(cluster: OurCluster, command: list[str]) -> str:
    """What it prints, with the brokers' addresses in B as in the guide."""
    environment = {**java_environment(), "B": cluster.bootstrap}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def need_kcat() -> None:
    if shutil.which("kcat") is None:
        skip_or_fail("kcat is not installed: on Debian, apt-get install kcat")


def test_kcat_writes_reads_and_joins_a_group(cluster: OurCluster) -> None:
    need_kcat()
    lines = [f"kcat {number}" for number in range(500)]
    Commands(cluster).create("by-kcat", {0: (1, 2), 1: (2, 3)})
    kcat(cluster, "-P", "-t", "by-kcat", "-X", "acks=all", "-z", "lz4", words=lines)
    assert sorted(kcat(cluster, "-C", "-t", "by-kcat", "-o", "beginning", "-e", "-q")) == sorted(lines)
    grouped = kcat(cluster, "-G", "kcat-group", "-X", "auto.offset.reset=earliest", "-e", "-q", "by-kcat")
    assert sorted(grouped) == sorted(lines)


def kcat(cluster: OurCluster, *arguments: str, words: list[str] | None = None) -> list[str]:
    """The lines that it prints."""
    command = ["kcat", "-b", cluster.bootstrap, *arguments]
    text = "".join(f"{word}\n" for word in words or ())
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, timeout=90
    ).stdout.splitlines()
