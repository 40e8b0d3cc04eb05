"""Groups that our brokers coordinate and Java consumers share in, and coordinators, Java's and ours, that take over.

Without Java: tests/model/hosts/live_broker/groups/test_clients.py.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from model.cluster.ids import OFFSETS_TOPIC
from model.consumers.group_coordinator.stored_formats import GroupRecord, ValueVersions, read_record, write_record
from model.log.records import Damage, RecordBatch, records_of, scan
from model.sandbox.java import java_environment
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.conformance.kafka.tool_server import tool_done
from tests.harness.host_processes import ClusterOfThree
from tests.harness.kafka import Cluster
from tests.harness.logged_process import LoggedProcess
from tests.harness.ours_beside_kafka import OurBroker
from tests.harness.waiting import eventually
from tests.model.hosts.live_broker.groups.members import PARTITIONS, TOPIC, RealGroup

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
JAVA, OURS = 1, 2
LONG_SESSION_MS = 120_000
"""Longer than a coordinator takes to be another one."""


@pytest.fixture(scope="module")
def kafka() -> Installation:
    return install_or_skip("3.9.1")


@pytest.fixture
def three(kafka: Installation, zookeeper: str, tmp_path: Path) -> Iterator[ClusterOfThree]:
    assert kafka
    with ClusterOfThree(zookeeper, tmp_path) as cluster:
        yield cluster


class JavaConsumer(LoggedProcess):
    """ConsoleConsumer, a member of a group until it is killed."""

    def __init__(self, kafka: Installation, bootstrap: str, group: str, folder: Path) -> None:
        arguments = ("--bootstrap-server", bootstrap, "--topic", TOPIC, "--group", group, "--from-beginning")
        settings = ("--consumer-property", "session.timeout.ms=6000", "--consumer-property", "client.id=java")
        command = kafka.java(kafka.release.classes["consume"], *arguments, *settings, heap_mb=128)
        super().__init__(command, folder / f"{group}-java.log", folder=folder, environment=java_environment())
        self.start()

    @property
    def read(self) -> set[str]:
        """The values it has printed."""
        return set(self.log.split())


def command(kafka: Installation, bootstrap: str, *arguments: str) -> str:
    """What ConsumerGroupCommand prints."""
    done = tool_done(kafka, GROUPS, "--bootstrap-server", bootstrap, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def table(text: str) -> list[dict[str, str]]:
    """The rows of what it prints, by the names of the columns."""
    head, *rows = [line.split() for line in text.splitlines() if line.strip()]
    return [dict(zip(head, row, strict=False)) for row in rows]


def await_first_balance(group: RealGroup) -> None:
    """A client that is starved while it joins may stop for good: its session ends, and it never says a word."""
    try:
        group.await_balance()
    except AssertionError:
        if not group.replace_silent():
            raise
        group.await_balance()


def test_java_consumers_and_their_tools_at_our_coordinator(kafka: Installation, three: ClusterOfThree) -> None:
    values = set(three.produce(60))
    group = RealGroup("all", three.bootstrap, three.folder)
    java = JavaConsumer(kafka, three.bootstrap, "all", three.folder)
    try:
        group.start("librdkafka", "kafka-python")
        group.await_balance(others=1)
        three.kill_coordinator()
        values |= set(three.produce(60))
        group.await_balance(others=1)
        eventually(lambda: values <= group.read | java.read, "the group to read all")
        group.kill_one()
        group.await_balance(others=1)
        values |= set(three.produce(60))
        eventually(lambda: values <= group.read | java.read, "the group to read all")
        members = table(command(kafka, three.bootstrap, "--describe", "--group", "all", "--members", "--verbose"))
        assert sorted(each["CLIENT-ID"].partition("-")[0] for each in members) == ["java", "kafka"]
        assert {each["#PARTITIONS"] for each in members} == {"3"}
        java.kill()
    finally:
        java.kill()
        group.close()
    group.await_empty()
    reset = ("--reset-offsets", "--group", "all", "--topic", TOPIC, "--to-offset", "1", "--execute")
    told = command(kafka, three.bootstrap, *reset).split()  # 3.9.1 prints this table without ends of lines
    assert told[:4] == ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]
    assert set(told[7::4]) == {"1"}
    offsets = table(command(kafka, three.bootstrap, "--describe", "--group", "all"))
    assert {each["CURRENT-OFFSET"] for each in offsets if each.get("TOPIC") == TOPIC} == {"1"}
    assert "successful" in command(kafka, three.bootstrap, "--delete", "--group", "all")


@pytest.fixture
def mixed(kafka: Installation, zookeeper_server: EmbeddedZooKeeper, tmp_path: Path) -> Iterator[Cluster]:
    """A Java broker and one of ours."""
    settings = "replica.lag.time.max.ms=5000\n"
    chroot = f"{zookeeper_server.address}/groups-{time.monotonic_ns()}"
    with Cluster(kafka, chroot, tmp_path, size=1, settings=settings) as cluster:
        ours = OurBroker(OURS, cluster, settings)
        cluster.brokers[OURS] = ours
        ours.start()
        cluster.await_serving(OURS)
        for broker in cluster.brokers.values():
            eventually(lambda broker=broker: knows_all(f"127.0.0.1:{broker.port}"), "all to know both")
        yield cluster
    shutil.rmtree(tmp_path)


def knows_all(address: str) -> bool:
    """Asked by a new client each time: one that heard of no controller asks again only minutes later."""
    known = AdminClient({"log_level": 0, "bootstrap.servers": address}).list_topics(timeout=10)
    return known.controller_id in known.brokers and set(known.brokers) == {JAVA, OURS}


def lead(cluster: Cluster, broker: int, other: int) -> None:
    """The broker is to lead the offsets topic, and does."""
    commands = Commands(cluster)
    commands.reassign(OFFSETS_TOPIC, {0: (broker, other)})
    commands.elect_preferred(OFFSETS_TOPIC, [0])
    eventually(lambda: cluster.state(OFFSETS_TOPIC, 0).get("leader") == broker, f"broker {broker} to lead")


def in_sync(cluster: Cluster) -> bool:
    names = [(OFFSETS_TOPIC, 0), *((TOPIC, number) for number in range(PARTITIONS))]
    return all(set(cluster.state(*each).get("isr", ())) == {JAVA, OURS} for each in names)


def records_written(cluster: Cluster, broker: int) -> list[tuple[bytes | None, bytes | None]]:
    """Keys and values of the offsets topic in a broker's folder."""
    pairs: list[tuple[bytes | None, bytes | None]] = []
    for path in sorted((cluster.folder / f"broker-{broker}" / "logs" / f"{OFFSETS_TOPIC}-0").glob("*.log")):
        data = path.read_bytes()
        for batch in scan(data):
            assert isinstance(batch, RecordBatch)
            for record in records_of(data, batch):
                assert not isinstance(record, Damage)
                pairs.append((record.key, record.value))
    return pairs


def same_records(cluster: Cluster) -> list[tuple[bytes | None, bytes | None]]:
    """Keys and values in both brokers' logs; none while they differ."""
    ours = records_written(cluster, OURS)
    return ours if ours == records_written(cluster, JAVA) else []


@pytest.mark.timeout(600)
def test_coordinators_java_and_ours_take_over_from_each_other(mixed: Cluster) -> None:
    admin = AdminClient({"log_level": 0, "bootstrap.servers": mixed.bootstrap})
    both = [[JAVA, OURS]]
    topics = [
        NewTopic(TOPIC, PARTITIONS, replica_assignment=both * PARTITIONS),
        NewTopic(OFFSETS_TOPIC, 1, replica_assignment=both, config={"cleanup.policy": "compact"}),
    ]
    for created in admin.create_topics(topics, request_timeout=60).values():
        created.result(60)
    eventually(lambda: in_sync(mixed), "all replicas to be in sync")
    producer = Producer({"log_level": 0, "bootstrap.servers": mixed.bootstrap, "acks": "all"})
    produced: list[str] = []

    def produce() -> None:
        for value in range(len(produced), len(produced) + 60):
            produced.append(str(value))
            producer.produce(TOPIC, key=str(value), value=str(value))
        assert producer.flush(60) == 0

    group = RealGroup("both", mixed.bootstrap, mixed.folder, session_ms=LONG_SESSION_MS)
    try:
        produce()
        group.start("librdkafka", "kafka-python")
        await_first_balance(group)
        group.await_read(produced)
        before = group.shares()
        for broker, other in ((OURS, JAVA), (JAVA, OURS)):
            lead(mixed, broker, other)
            produce()
            group.await_balance()
            group.await_read(produced)
            assert group.shares() == before, "somebody had to join anew"
    finally:
        group.close()
    ours = eventually(lambda: same_records(mixed), "both logs to have the same records")
    written = [read_record(key, value) for key, value in ours]
    assert any(isinstance(each, GroupRecord) for each in written)
    for pair, record in zip(ours, written, strict=True):
        assert record is not None
        assert write_record(record, ValueVersions()) == pair
