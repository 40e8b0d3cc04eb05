"""A broker of ours in KRaft mode under real controllers, beside real brokers: Kafka takes it for one of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import QUORUMS, Installation, install_or_skip
from tests.harness.complaints import complaints
from tests.harness.kraft import KraftCluster
from tests.harness.ledger import Ledger
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance
TOPIC, PARTITIONS = "beside", 4
REAL, OURS = (1, 2), 3
EVERYWHERE = [*REAL, OURS]
DIRS = ("logs", "more")


@pytest.fixture(params=QUORUMS)
def beside(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KraftCluster]:
    """Nodes 1 (which votes) and 2 are real; 3 is ours. Each has two log dirs."""
    folder = tmp_path_factory.mktemp("beside-")
    kafka = install_or_skip(request.param.removeprefix("KRaft "))
    with KraftCluster(kafka, folder, size=3, our_brokers=(OURS,), more_dirs=DIRS[1:]) as cluster:
        yield cluster
    shutil.rmtree(folder)


def admin_of(address: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    admin.list_topics(timeout=20)
    return admin


def states(cluster: KraftCluster, *asked: int) -> dict[int, tuple[int, list[int]]]:
    """Partition → leader, ISR, as these nodes tell it."""
    topic = admin_of(cluster.address(*asked)).list_topics(TOPIC, timeout=20).topics[TOPIC]
    return {number: (each.leader, sorted(each.isrs)) for number, each in topic.partitions.items()}


def wait_for_isr(cluster: KraftCluster, isr: list[int], *asked: int) -> dict[int, tuple[int, list[int]]]:
    """The states, once all partitions have this ISR and are led by one of it."""

    def told() -> dict[int, tuple[int, list[int]]] | None:
        found = states(cluster, *asked)
        return found if all(each == isr and leader in isr for leader, each in found.values()) else None

    return eventually(told, f"ISR {isr}", standing=lambda: states(cluster, *asked))


def test_it_serves_dies_and_comes_back_beside_real_brokers(beside: KraftCluster) -> None:
    ledger = Ledger(beside, TOPIC, PARTITIONS)
    topic = NewTopic(TOPIC, PARTITIONS, 3, config={"min.insync.replicas": "1"})
    admin = admin_of(beside.address(OURS))
    admin.create_topics([topic])[TOPIC].result(60)
    led = wait_for_isr(beside, EVERYWHERE)
    assert {leader for leader, _ in led.values()} == set(EVERYWHERE)
    ledger.produce(200)
    beside.kill(OURS)
    wait_for_isr(beside, [1, 2], 1, 2)
    ledger.produce(200)
    beside.restore()
    wait_for_isr(beside, EVERYWHERE, OURS)
    beside.kill(2)
    wait_for_isr(beside, [1, OURS], 1, OURS)
    ledger.produce(200)
    beside.restore()
    wait_for_isr(beside, EVERYWHERE)
    ledger.audit()
    beside.stop(OURS)
    wait_for_isr(beside, [1, 2], 1, 2)
    assert "All is on disk" in beside.log(OURS)
    beside.restore()
    wait_for_isr(beside, EVERYWHERE)
    logs = {node: log_bytes(beside, node) for node in EVERYWHERE}
    assert logs[1] == logs[2] == logs[OURS]
    assert complaints(beside, REAL) == []
    failing = beside.folder / f"node-{OURS}" / DIRS[1]
    there = {number for number in range(PARTITIONS) if (failing / f"{TOPIC}-{number}").exists()}
    assert 0 < len(there) < PARTITIONS
    shutil.rmtree(failing)  # it fails with the next checkpoint

    def is_left() -> bool:
        return all((OURS in isr) == (number not in there) for number, (_, isr) in states(beside).items())

    eventually(is_left, f"the broker out of the ISRs of {there} alone", standing=lambda: states(beside))
    assert "Traceback" not in beside.log(OURS)


def log_bytes(cluster: KraftCluster, node: int) -> dict[int, bytes]:
    """What the node's logs of the topic have, by partition."""
    places = [cluster.folder / f"node-{node}" / name for name in DIRS]
    return {
        number: b"".join(
            path.read_bytes() for place in places for path in sorted(place.glob(f"{TOPIC}-{number}/*.log"))
        )
        for number in range(PARTITIONS)
    }


def test_kafkas_own_clients_and_tools_work_through_it(beside: KraftCluster) -> None:
    tools = Commands(Target(beside.kafka, beside.folder, "", beside.address(OURS)))
    tools.create(TOPIC, {0: (OURS, 1), 1: (1, OURS)})
    tools.produce(TOPIC, ["a", "b", "c"])
    assert sorted(tools.consume(TOPIC, 3)) == ["a", "b", "c"]
    tools.configure(TOPIC, retention_ms="7200000")
    eventually(lambda: "retention.ms=7200000" in tools.configuration(TOPIC), "the setting")
    tools.add_partitions(TOPIC, 3)
    eventually(lambda: len(states(beside)) == 3, "a third partition")
    tools.reassign(TOPIC, {0: (2, OURS), 1: (2, 1)})
    eventually(lambda: [isr for _, isr in states(beside).values()][:2] == [[2, OURS], [1, 2]], "the new replicas")
    tools.elect_preferred(TOPIC, [0, 1])
    eventually(lambda: [leader for leader, _ in states(beside).values()][:2] == [2, 2], "the preferred leaders")
    assert not [*(beside.folder / f"node-{OURS}").glob(f"*/{TOPIC}-1")]
    by_real = Commands(Target(beside.kafka, beside.folder, "", beside.address(1, 2)))
    assert by_real.describe_text(TOPIC) == tools.describe_text(TOPIC)
    tools.delete(TOPIC)
    eventually(lambda: TOPIC not in admin_of(beside.bootstrap).list_topics(timeout=20).topics, "the topic to go")
    assert complaints(beside, REAL) == []


class Target(NamedTuple):
    """For `Commands`: the cluster as one of its brokers tells it."""

    kafka: Installation
    folder: Path
    zookeeper: str
    bootstrap: str
