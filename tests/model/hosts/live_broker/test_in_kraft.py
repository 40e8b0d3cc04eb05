"""Three brokers under three controllers, all ours, each a process: served by librdkafka while any of them dies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,  # pyright: ignore[reportPrivateImportUsage]
    ConfigEntry,  # pyright: ignore[reportPrivateImportUsage]
    ConfigResource,  # pyright: ignore[reportPrivateImportUsage]
)
from confluent_kafka.cimpl import NewTopic

from tests.harness.host_processes import host
from tests.harness.kafka import free_ports
from tests.harness.logged_process import LoggedProcess
from tests.harness.quorum_voters import CLUSTER_ID, VoterProcess, voter_processes
from tests.harness.waiting import eventually

TOPIC, PARTITIONS = "orders", 4
BROKERS = (11, 12, 13)


class OurKraft:
    """Controllers 1 to 3, brokers 11 to 13. `clients` know where the brokers listened first, and listen again."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports()
        places = dict(enumerate(islice(ports, 3), 1))
        self.controllers: dict[int, VoterProcess] = voter_processes(folder, places, 1)
        self._quorum = ",".join(f"127.0.0.1:{port}" for port in places.values())
        self.ports = {broker: next(ports) for broker in BROKERS}
        self.brokers = {broker: self._broker(folder / f"broker-{broker}", broker) for broker in BROKERS}

    def _broker(self, folder: Path, broker: int) -> LoggedProcess:
        logs = folder / "logs"
        logs.mkdir(parents=True)
        (logs / "meta.properties").write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={broker}\n")
        properties = folder / "server.properties"
        properties.write_text(
            f"process.roles=broker\nnode.id={broker}\ncontroller.quorum.bootstrap.servers={self._quorum}\n"
            f"listeners=PLAINTEXT://127.0.0.1:{self.ports[broker]}\nlog.dirs={logs}\nbroker.rack=r{broker}\n"
            "offsets.topic.num.partitions=1\noffsets.topic.replication.factor=3\ngroup.initial.rebalance.delay.ms=0\n"
            "replica.fetch.wait.max.ms=100\nbroker.heartbeat.interval.ms=500\n"
        )
        return LoggedProcess(host("live_broker", str(properties)), folder / "broker.log")

    def address(self, *brokers: int) -> str:
        return ",".join(f"127.0.0.1:{self.ports[broker]}" for broker in brokers or BROKERS)

    def start(self) -> None:
        for process in (*self.controllers.values(), *self.brokers.values()):
            process.start()
        for broker in self.brokers.values():
            broker.wait_for(r'^\{"broker_id".*\}$')

    def active(self) -> int:
        """The controller that leads, as brokers that follow it say."""
        log = "".join(broker.log for broker in self.brokers.values())
        told = re.findall(r"controller (\d+) is followed in epoch (\d+)", log)
        return max((int(epoch), int(controller)) for controller, epoch in told)[1]

    def states(self, *asked: int) -> dict[int, tuple[int, list[int]]]:
        """Partition → leader, ISR."""
        try:
            admin = AdminClient({"bootstrap.servers": self.address(*asked), "log_level": 0})
            topic = admin.list_topics(TOPIC, timeout=10).topics[TOPIC]
        except KafkaException:
            return {}
        return {number: (each.leader, sorted(each.isrs)) for number, each in topic.partitions.items()}

    def wait_for_isr(self, *isr: int) -> None:
        """Until each partition has it, and is led by one of it."""

        def holds() -> bool:
            states = self.states(*isr)
            return bool(states) and all(each == [*isr] and leader in isr for leader, each in states.values())

        eventually(holds, f"ISR {isr}", standing=lambda: self.states(*isr))

    def kill(self) -> None:
        for process in (*self.brokers.values(), *self.controllers.values()):
            process.kill()


@pytest.fixture
def kraft(tmp_path: Path) -> Iterator[OurKraft]:
    cluster = OurKraft(tmp_path)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()


def admin_of(cluster: OurKraft, *brokers: int) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": cluster.address(*brokers), "log_level": 0})
    admin.list_topics(timeout=20)
    return admin


class Ledger:
    """What was acknowledged by all in sync has to be read again."""

    def __init__(self, cluster: OurKraft) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": cluster.address(), "log_level": 0}
        self._producer = Producer({**settings, "enable.idempotence": True})
        self._consumer = {**settings, "group.id": "ledger", "auto.offset.reset": "earliest"}
        self.acknowledged: set[bytes] = set()
        self._count = 0

    def _told(self, error: KafkaError | None, message: Message[bytes, bytes]) -> None:
        if error is None:
            self.acknowledged.add(message.value() or b"")

    def produce(self, count: int) -> None:
        for _ in range(count):
            self._producer.produce(TOPIC, b"%d" % self._count, on_delivery=self._told)
            self._count += 1
        assert self._producer.flush(60) == 0
        assert len(self.acknowledged) == self._count

    def audit(self) -> None:
        consumer = Consumer(self._consumer)
        consumer.subscribe([TOPIC])
        found: set[bytes] = set()

        def is_all() -> bool:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                found.add(message.value() or b"")
            return found >= self.acknowledged

        eventually(is_all, "all records", standing=lambda: f"{len(found)} of {len(self.acknowledged)}")
        consumer.close()


def test_nothing_acknowledged_is_lost_while_brokers_and_controllers_die(kraft: OurKraft) -> None:
    topic = NewTopic(TOPIC, PARTITIONS, 3, config={"min.insync.replicas": "2"})
    admin = admin_of(kraft)
    admin.create_topics([topic])[TOPIC].result(60)
    kraft.wait_for_isr(*BROKERS)
    ledger = Ledger(kraft)
    ledger.produce(100)
    kraft.brokers[11].kill()
    kraft.wait_for_isr(12, 13)
    ledger.produce(100)
    kraft.controllers[kraft.active()].kill()
    ledger.produce(100)
    kraft.brokers[11].start()
    kraft.wait_for_isr(*BROKERS)
    assert kraft.brokers[12].stop() == 0
    kraft.wait_for_isr(11, 13)
    ledger.produce(100)
    ledger.audit()
    assert "Traceback" not in "".join(broker.log for broker in kraft.brokers.values())


def test_what_is_asked_of_any_broker_is_done_by_the_controller(kraft: OurKraft) -> None:
    admin = admin_of(kraft, 12)
    admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(60)
    kraft.wait_for_isr(*BROKERS)
    entry = ConfigEntry("retention.ms", "7200000", incremental_operation=AlterConfigOpType.SET)
    changed = ConfigResource(ConfigResource.Type.TOPIC, TOPIC, incremental_configs=[entry])
    admin.incremental_alter_configs([changed])[changed].result(60)
    asked = ConfigResource(ConfigResource.Type.TOPIC, TOPIC)

    def is_set() -> bool:
        other = admin_of(kraft, 13)
        told = other.describe_configs([asked])[asked].result(60)
        return told["retention.ms"].value == "7200000"

    eventually(is_set, "the setting everywhere")
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(60)
    admin.delete_topics([TOPIC])[TOPIC].result(60)
    eventually(lambda: TOPIC not in admin_of(kraft).list_topics(timeout=20).topics, "the topic to go")
    folders = [kraft.brokers[broker]._log.parent / "logs" / f"{TOPIC}-0" for broker in BROKERS]
    eventually(lambda: not any(folder.exists() for folder in folders), "its logs to go")


def test_a_topic_that_is_deleted_while_a_broker_is_away_leaves_nothing_there(kraft: OurKraft) -> None:
    admin = admin_of(kraft)
    admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(60)
    kraft.wait_for_isr(*BROKERS)
    kraft.brokers[13].kill()
    admin.delete_topics([TOPIC])[TOPIC].result(60)
    log = kraft.brokers[13]._log.parent / "logs" / f"{TOPIC}-0"
    assert log.exists()
    kraft.brokers[13].start()
    eventually(lambda: not log.exists(), "the stray log to go")


def test_a_broker_that_is_no_one_here_is_told_so(kraft: OurKraft, tmp_path: Path) -> None:
    properties = tmp_path / "broker-11" / "server.properties"
    stranger = tmp_path / "stranger.properties"
    text = properties.read_text().replace("node.id=11", "node.id=19").replace(str(kraft.ports[11]), "0")
    stranger.write_text(text.replace("broker-11/logs", "elsewhere"))
    logs = tmp_path / "elsewhere"
    logs.mkdir()
    (logs / "meta.properties").write_text("version=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAOQ\nnode.id=19\n")
    process = LoggedProcess(host("live_broker", str(stranger)), tmp_path / "stranger.log")
    process.start()
    assert process.exit_code() == 1
    assert "INCONSISTENT_CLUSTER_ID" in process.log or "another cluster" in process.log
    assert json.loads(kraft.brokers[11].wait_for(r'^\{"broker_id".*\}$'))["broker_id"] == 11


def test_a_broker_that_finds_no_controller_ends_in_order_when_told_to(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text(
        f"process.roles=broker\nnode.id=11\ncontroller.quorum.bootstrap.servers=127.0.0.1:{next(free_ports())}\n"
        f"listeners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path / 'logs'}\n"
    )
    broker = LoggedProcess(host("live_broker", str(properties)), tmp_path / "broker.log")
    broker.start()
    broker.wait_for(r'^\{"listening".*\}$')
    assert broker.stop() == 0
    assert "All is on disk" in broker.log
