"""Our controller rules real Java brokers 3.9.1 over the wire, until a Java controller takes over again.

A cluster of its own in ZooKeeper mode. All the while a producer with acks=all and a consumer run: nothing that was
acknowledged is lost, and nothing comes twice.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator

import pytest

from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.znodes.topics import TopicAssignment
from tests.conformance.kafka.commands import Assignment, Commands
from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.kafka.workload import Workload
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import OurController, take_office
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

ALL = {1, 2, 3}


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers for this test alone."""
    kafka = install_or_skip("3.9.1")
    zookeeper: EmbeddedZooKeeper = request.getfixturevalue("zookeeper_server")
    folder = tmp_path_factory.mktemp("ruled-")
    settings = "offsets.topic.replication.factor=3\n"  # one of them may be on ours, which keeps no logs
    with Cluster(kafka, f"{zookeeper.address}/ruled-{time.monotonic_ns()}", folder, settings=settings) as cluster:
        yield cluster
    shutil.rmtree(folder)


@pytest.fixture
def ours(cluster: Cluster) -> Iterator[OurController]:
    controller = OurController(cluster)
    yield controller
    controller.kill()


def create(cluster: Cluster, topic: str, assignment: Assignment, topic_id: str) -> None:
    """As AdminZkClient does."""
    config = {"version": 1, "config": {"min.insync.replicas": "2"}}
    cluster.write(f"/config/topics/{topic}", json.dumps(config))
    partitions = {number: tuple(replicas) for number, replicas in assignment.items()}
    payload = TopicAssignment(partitions=partitions, topic_id=topic_id, version=3).to_bytes().decode()
    cluster.write(f"/brokers/topics/{topic}", payload)


def isrs(cluster: Cluster, topic: str, partitions: int) -> list[set[int]]:
    return [set(cluster.state(topic, number).get("isr", ())) for number in range(partitions)]


def leaders(cluster: Cluster, topic: str, partitions: int) -> list[int]:
    return [cluster.state(topic, number).get("leader", -1) for number in range(partitions)]


def test_our_controller_rules_java_brokers_and_a_java_controller_takes_over(
    cluster: Cluster, ours: OurController
) -> None:
    commands = Commands(cluster)
    epoch = take_office(cluster, ours.id)
    topics_are_created(cluster, commands, epoch)
    workload = Workload(cluster.bootstrap, "orders", 3)
    eventually(lambda: len(workload.acknowledged) > 100, "the producer to get through")
    assert "gets producer ids 0 to 999" in ours.log

    a_broker_is_killed_and_comes_back(cluster, workload)
    commands.elect_preferred("orders", [1])
    eventually(lambda: leaders(cluster, "orders", 3) == [1, 2, 3], "the preferred leader")
    replicas_move(cluster, commands)
    a_topic_is_deleted(cluster, commands)
    with cluster.stopped(3):
        assert "Broker 3 shuts down: " in ours.log
        assert 3 not in leaders(cluster, "orders", 3)
    eventually(lambda: all(isr == ALL for isr in isrs(cluster, "orders", 3)), "ISRs with broker 3 again")
    assert int(cluster.text("/controller_epoch")) == epoch

    ours.kill()
    a_java_controller_takes_over(cluster, commands, epoch)
    goes_on(workload, "under the Java controller")
    workload.finish()
    assert workload.failed == {}
    assert workload.acknowledged - workload.arrived.keys() == set(), workload.told
    assert [number for number, times in workload.arrived.items() if times > 1] == []
    assert max(workload.places.values()) == 1


def topics_are_created(cluster: Cluster, commands: Commands, epoch: int) -> None:
    """One in ZooKeeper, as AdminZkClient does, one by Kafka's tool, which asks our controller."""
    create(cluster, "orders", {0: (1, 2, 3), 1: (2, 3, 1), 2: (3, 1, 2)}, "gcf0J66hS7OMD5Anom956Q")
    commands.create("moves", {0: (1, 2), 1: (2, 3)})
    eventually(lambda: leaders(cluster, "orders", 3) == [1, 2, 3], "leaders of orders")
    assert {cluster.state("orders", number)["controller_epoch"] for number in range(3)} == {epoch}
    # Kafka's consumer has a group, for which a broker makes a topic in ZooKeeper.
    commands.produce("moves", ["one", "two"])
    assert sorted(eventually(lambda: consumed(commands, "moves", 2), "a coordinator that keeps logs")) == ["one", "two"]
    assert cluster.state("__consumer_offsets", 0)["controller_epoch"] == epoch


def consumed(commands: Commands, topic: str, count: int) -> list[str]:
    """Nothing where the consumer gave up on ours: first in the ISR it leads, until it has said that it has no logs."""
    try:
        return commands.consume(topic, count)
    except RuntimeError as error:
        if "The node does not support JOIN_GROUP" not in str(error):
            raise
        return []


def a_broker_is_killed_and_comes_back(cluster: Cluster, workload: Workload) -> None:
    with cluster.killed(2):
        eventually(lambda: all(isr == ALL - {2} for isr in isrs(cluster, "orders", 3)), "ISRs without broker 2")
        assert leaders(cluster, "orders", 3) == [1, 3, 3]
        goes_on(workload, "without broker 2")
    eventually(lambda: all(isr == ALL for isr in isrs(cluster, "orders", 3)), "ISRs with broker 2 again")


def replicas_move(cluster: Cluster, commands: Commands) -> None:
    """Once by the znode and once by Kafka's tool."""
    move = {"version": 1, "partitions": [{"topic": "moves", "partition": 0, "replicas": [3, 1]}]}
    cluster.write("/admin/reassign_partitions", json.dumps(move))
    eventually(lambda: not cluster.text("/admin/reassign_partitions"), "the reassignment by znode")
    commands.reassign("moves", {1: (1, 2)})  # Kafka's tool refuses while another goes on
    eventually(lambda: isrs(cluster, "moves", 2) == [{3, 1}, {1, 2}], "the ISRs after the moves")
    moved = {"0": [3, 1], "1": [1, 2]}
    eventually(lambda: cluster.read("/brokers/topics/moves")["partitions"] == moved, "the end of both moves")
    eventually(lambda: not cluster.brokers[3].holds("moves-1"), "broker 3 to delete what it gave away")


def a_topic_is_deleted(cluster: Cluster, commands: Commands) -> None:
    commands.delete("moves")
    eventually(lambda: not cluster.text("/brokers/topics/moves"), "the topic to be deleted")
    eventually(lambda: not any(broker.holds("moves") for broker in cluster.brokers.values()), "its folders to go")
    assert cluster.children("/admin/delete_topics") == []


def a_java_controller_takes_over(cluster: Cluster, commands: Commands, epoch: int) -> None:
    eventually(lambda: cluster.controller() in ALL, "a Java controller")
    assert int(cluster.text("/controller_epoch")) > epoch
    commands.create("late", {0: (2, 3)})
    commands.produce("late", ["still", "works"])
    assert commands.consume("late", 2) == ["still", "works"]


def goes_on(workload: Workload, when: str) -> None:
    so_far = len(workload.acknowledged)
    eventually(lambda: len(workload.acknowledged) > so_far + 100, f"the producer to go on {when}")
