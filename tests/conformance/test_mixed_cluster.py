"""One broker of ours beside two real Java brokers of 1.1.1 or 3.9.1, ruled by a Java controller, and at last by ours.

It replicates from them and they from it, while leadership moves back and forth under load. Nothing acknowledged is
lost, nothing comes twice, and at the end the logs are the same to the byte.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.kafka.workload import Workload
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import OurBroker, take_office
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

OURS = 3
ALL = {1, 2, OURS}
PARTITIONS = range(3)
ASSIGNMENT = {0: (1, 2, OURS), 1: (2, OURS, 1), 2: (OURS, 1, 2)}
TOPIC = "mixed"


SETTINGS = {"1.1.1": "inter.broker.protocol.version=1.1\n", "3.9.1": ""}


@pytest.fixture(scope="module", params=list(SETTINGS))
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Broker 1, which comes first, is the controller; broker 3 is ours."""
    kafka = install_or_skip(request.param)
    zookeeper: EmbeddedZooKeeper = request.getfixturevalue("zookeeper_server")
    folder = tmp_path_factory.mktemp("mixed-")
    settings = f"replica.lag.time.max.ms=5000\n{SETTINGS[request.param]}"
    chroot = f"{zookeeper.address}/mixed-{time.monotonic_ns()}"
    with Cluster(kafka, chroot, folder, size=2, in_turn=True, settings=settings) as cluster:
        ours = OurBroker(OURS, cluster, settings)
        cluster.brokers[OURS] = ours
        ours.start()
        cluster.await_serving(OURS)
        yield cluster
    shutil.rmtree(folder)


def isrs(cluster: Cluster) -> list[set[int]]:
    return [set(cluster.state(TOPIC, number).get("isr", ())) for number in PARTITIONS]


def leaders(cluster: Cluster) -> list[int]:
    return [int(cluster.state(TOPIC, number).get("leader", -1)) for number in PARTITIONS]


def all_in_sync(cluster: Cluster) -> None:
    eventually(lambda: isrs(cluster) == [ALL] * 3, "all replicas to be in sync", 90)


def get_through(workload: Workload) -> None:
    """Some hundred messages more."""
    so_far = len(workload.acknowledged)
    eventually(
        lambda: len(workload.acknowledged) > so_far + 200, f"the producer to get through ({workload.failed})", 90
    )


def log_of(cluster: Cluster, broker: int, partition: int, kind: str = "*.log") -> bytes:
    folder: Path = cluster.folder / f"broker-{broker}" / "logs" / f"{TOPIC}-{partition}"
    return b"".join(path.read_bytes() for path in sorted(folder.glob(kind)))


def test_leadership_moves_between_java_and_ours_and_all_logs_stay_the_same(cluster: Cluster) -> None:
    commands = Commands(cluster)
    commands.create(TOPIC, ASSIGNMENT, min_insync_replicas="2", segment_bytes="200000")
    all_in_sync(cluster)
    assert leaders(cluster) == [1, 2, OURS]
    assert cluster.controller() == 1
    workload = Workload(cluster.bootstrap, TOPIC, 3)
    get_through(workload)

    with cluster.killed(OURS):
        get_through(workload)
    all_in_sync(cluster)
    with cluster.stopped(2):
        get_through(workload)
    all_in_sync(cluster)
    commands.elect_preferred(TOPIC, list(PARTITIONS))
    eventually(lambda: leaders(cluster) == [1, 2, OURS], "the preferred leaders")
    with cluster.stopped(OURS):
        assert OURS not in leaders(cluster)
        get_through(workload)
    all_in_sync(cluster)
    with cluster.killed(2):
        get_through(workload)
    all_in_sync(cluster)
    commands.elect_preferred(TOPIC, list(PARTITIONS))
    eventually(lambda: leaders(cluster) == [1, 2, OURS], "the preferred leaders")
    get_through(workload)

    workload.finish()
    assert not workload.failed
    assert workload.acknowledged == workload.arrived.keys(), workload.told
    assert set(workload.arrived.values()) == set(workload.places.values()) == {1}
    logs_are_the_same(cluster)


def logs_are_the_same(cluster: Cluster) -> None:
    for partition in PARTITIONS:
        eventually(
            lambda partition=partition: len({len(log_of(cluster, broker, partition)) for broker in ALL}) == 1,
            "all to have all",
        )
        logs = [log_of(cluster, broker, partition) for broker in ALL]
        assert logs[0], partition
        assert logs[0] == logs[1] == logs[2]
        histories = {log_of(cluster, broker, partition, "leader-epoch-checkpoint") for broker in ALL}
        assert len(histories) == 1


def test_kafkas_own_clients_write_to_and_read_from_ours(cluster: Cluster) -> None:
    commands = Commands(cluster)
    commands.create("alone", {0: (OURS, 2), 1: (OURS, 1)})
    eventually(lambda: cluster.state("alone", 1).get("isr") == [OURS, 1], "the topic")
    messages = [f"message {number}" for number in range(500)]
    commands.produce("alone", messages)
    assert sorted(commands.consume("alone", 500)) == sorted(messages)


def test_our_broker_rules_and_a_java_controller_takes_over(cluster: Cluster) -> None:
    """Each of the three is killed under it, and ours as the controller; each comes back."""
    topic, partitions = "ruled", range(3)

    def states(key: str) -> list[object]:
        return [cluster.state(topic, number).get(key) for number in partitions]

    def all_are_in_sync() -> bool:
        return [set(isr) if isinstance(isr, list) else None for isr in states("isr")] == [ALL] * 3

    commands = Commands(cluster)
    epoch = take_office(cluster, OURS)
    commands.create(topic, ASSIGNMENT, min_insync_replicas="2")
    eventually(all_are_in_sync, "all replicas to be in sync", 90)
    assert states("leader") == [1, 2, OURS]
    assert states("controller_epoch") == [epoch] * 3
    workload = Workload(cluster.bootstrap, topic, 3)
    get_through(workload)
    for java in (1, 2):
        with cluster.killed(java):
            eventually(lambda java=java: java not in states("leader"), "other leaders")
            get_through(workload)
        eventually(all_are_in_sync, "all replicas to be in sync", 90)
    commands.elect_preferred(topic, list(partitions))
    eventually(lambda: states("leader") == [1, 2, OURS], "the preferred leaders")
    a_topic_comes_and_goes(cluster, commands)
    assert int(cluster.text("/controller_epoch")) == epoch

    with cluster.killed(OURS):
        eventually(lambda: cluster.controller() in (1, 2), "a Java controller")
        eventually(lambda: OURS not in states("leader"), "other leaders")
        get_through(workload)
    eventually(all_are_in_sync, "all replicas to be in sync", 90)
    workload.finish()
    assert not workload.failed
    assert workload.acknowledged == workload.arrived.keys(), workload.told
    assert set(workload.arrived.values()) == {1}


def a_topic_comes_and_goes(cluster: Cluster, commands: Commands) -> None:
    commands.create("brief", {0: (1, 2), 1: (2, OURS)})
    eventually(lambda: all(cluster.state("brief", number) for number in (0, 1)), "leaders of the topic")
    commands.delete("brief")
    eventually(lambda: not cluster.text("/brokers/topics/brief"), "the topic to be deleted", 90)
    eventually(lambda: not any(broker.holds("brief") for broker in cluster.brokers.values()), "its folders to go")
