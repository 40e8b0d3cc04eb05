"""Three brokers under three controllers, all ours, each a process: served by librdkafka while any of them dies."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AlterConfigOpType,  # pyright: ignore[reportPrivateImportUsage]
    ConfigEntry,  # pyright: ignore[reportPrivateImportUsage]
    ConfigResource,  # pyright: ignore[reportPrivateImportUsage]
)
from confluent_kafka.cimpl import NewTopic

from model.cluster.image_parts import Quorum
from model.hosts.kafka_descriptions import describe_quorum, described_quorum
from model.hosts.wire.connection import Connection
from model.hosts.wire.names import UnavailableError
from tests.harness.command import kdrill
from tests.harness.host_processes import host
from tests.harness.kafka import free_ports
from tests.harness.ledger import Ledger
from tests.harness.logged_process import LoggedProcess
from tests.harness.our_kraft import BROKERS, PARTITIONS, TOPIC, OurKraft, admin_of
from tests.harness.waiting import PATIENCE_S, eventually


@pytest.fixture
def kraft(tmp_path: Path) -> Iterator[OurKraft]:
    cluster = OurKraft(tmp_path)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()


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
    quorum = asyncio.run(_quorum(kraft.ports[12]))
    assert {each.id for each in quorum.voters} == {1, 2, 3}
    assert {each.id for each in quorum.observers} == set(BROKERS)
    history = json.loads(kdrill("history", f"controllers://{kraft.quorum}", "--no-drill", "--json").stdout)
    assert [each["topic"] for each in history["clusters"][0]["topics"]] == []
    assert history["clusters"][0]["moments"] > len(BROKERS)
    with pytest.raises(KafkaException, match="TOPIC_ALREADY_EXISTS"):
        admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(60)
    admin.delete_topics([TOPIC])[TOPIC].result(60)
    eventually(lambda: TOPIC not in admin_of(kraft).list_topics(timeout=20).topics, "the topic to go")
    folders = [kraft.brokers[broker]._log.parent / "logs" / f"{TOPIC}-0" for broker in BROKERS]
    eventually(lambda: not any(folder.exists() for folder in folders), "its logs to go")


async def _quorum(port: int) -> Quorum:
    """As a broker passes it on."""
    connection = await Connection.open("127.0.0.1", port, "test", PATIENCE_S)
    try:
        assert connection.features["kraft.version"] == 1, "which no controller's record says"
        return described_quorum(await connection.ask(describe_quorum(connection), PATIENCE_S))
    finally:
        await connection.close()


def test_a_topic_that_is_deleted_while_a_broker_is_away_leaves_nothing_there(kraft: OurKraft) -> None:
    admin = admin_of(kraft)
    admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(60)
    kraft.wait_for_isr(*BROKERS)
    kraft.brokers[13].kill()
    others = admin_of(kraft, 11, 12)
    others.delete_topics([TOPIC])[TOPIC].result(60)
    log = kraft.brokers[13]._log.parent / "logs" / f"{TOPIC}-0"
    assert log.exists()
    kraft.brokers[13].start()
    eventually(lambda: not log.exists(), "the stray log to go")


def test_a_log_dir_that_fails_loses_what_lies_there_to_others_and_comes_back_as_another(
    kraft: OurKraft, tmp_path: Path
) -> None:
    """The controllers know what lies there, for the broker has told them."""
    admin, more = admin_of(kraft), tmp_path / "broker-13" / "more"
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)])[TOPIC].result(60)
    kraft.wait_for_isr(*BROKERS)
    there = {number for number in range(PARTITIONS) if (more / f"{TOPIC}-{number}").exists()}
    assert len(there) == PARTITIONS // 2
    Ledger(kraft).produce(50)
    shutil.rmtree(more)  # it fails with the next checkpoint

    def is_left() -> bool:
        states = kraft.states()
        return bool(states) and all((13 in isr) == (number not in there) for number, (_, isr) in states.items())

    eventually(is_left, f"13 out of the ISRs of {there} alone", standing=kraft.states)
    assert all(leader != 13 for number, (leader, _) in kraft.states().items() if number in there)
    kraft.brokers[13].stop()
    more.mkdir()
    kraft.brokers[13].start()
    kraft.wait_for_isr(*BROKERS)
    assert "Traceback" not in kraft.brokers[13].log


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


async def test_a_broker_that_finds_no_controller_answers_nobody_and_ends_in_order(tmp_path: Path) -> None:
    """A client that asked it for topics would hear that there are none."""
    properties = tmp_path / "server.properties"
    properties.write_text(
        f"process.roles=broker\nnode.id=11\ncontroller.quorum.bootstrap.servers=127.0.0.1:{next(free_ports())}\n"
        f"listeners=PLAINTEXT://127.0.0.1:0\nlog.dirs={tmp_path / 'logs'}\n"
    )
    broker = LoggedProcess(host("live_broker", str(properties)), tmp_path / "broker.log")
    broker.start()
    place = json.loads(broker.wait_for(r'^\{"listening".*\}$'))["listening"]["PLAINTEXT"]
    with pytest.raises(UnavailableError, match="no response"):
        await Connection.open("127.0.0.1", int(place.rpartition(":")[2]), "client", 0.5)
    assert broker.stop() == 0
    assert "All is on disk" in broker.log
