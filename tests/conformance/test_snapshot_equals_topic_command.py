"""What `kdrill snapshot` says of a cluster is what Kafka's own TopicCommand --describe says, on each release.

Each test changes the cluster by Kafka's own means, waits for ZooKeeper to show the effect, and compares.
"""

from __future__ import annotations

import time

import pytest

from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.describe import NO_LEADER, Partitions, PartitionView
from tests.conformance.our_view import partitions_of, snapshot_of
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually
from tests.harness.zookeeper import NO_CONTROLLER

pytestmark = pytest.mark.conformance

SETTLE_TIMEOUT_S = 30


def agreed(cluster: Cluster, commands: Commands) -> Partitions:
    """Both views, once they are the same; brokers of 2.x and newer answer from a cache that runs behind."""
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while True:
        theirs = commands.describe()
        ours = partitions_of(cluster.source_url)
        if ours == theirs or time.monotonic() > deadline:
            assert ours == theirs
            return ours


def view(leader: int, replicas: tuple[int, ...], isr: tuple[int, ...]) -> PartitionView:
    return PartitionView(leader, replicas, frozenset(isr))


def await_leaders(cluster: Cluster, topic: str, leaders: dict[int, int]) -> None:
    eventually(
        lambda: all(cluster.state(topic, p).get("leader") == leader for p, leader in leaders.items()),
        f"the leaders of {topic} to be {leaders}",
    )


def test_a_topic_is_created_grows_and_is_deleted(cluster: Cluster, commands: Commands) -> None:
    commands.create("orders", {0: [1, 2], 1: [3, 1]}, retention_ms="3600000")
    await_leaders(cluster, "orders", {0: 1, 1: 3})
    assert agreed(cluster, commands)["orders"] == {
        0: view(1, (1, 2), isr=(1, 2)),
        1: view(3, (3, 1), isr=(1, 3)),
    }
    assert snapshot_of(cluster.source_url)["topics"]["orders"]["config"] == {"retention.ms": "3600000"}

    commands.add_partitions("orders", 4)
    eventually(lambda: cluster.state("orders", 3), "partition 3")
    assert agreed(cluster, commands)["orders"].keys() == {0, 1, 2, 3}

    commands.delete("orders")
    eventually(lambda: "orders" not in cluster.children("/brokers/topics"), "the end of the topic")
    assert "orders" not in agreed(cluster, commands)


def test_a_broker_is_killed_comes_back_and_leads_again(cluster: Cluster, commands: Commands) -> None:
    # Not the controller: whether a new one cleans the ISRs of the dead differs between releases.
    killed, second, third = sorted(cluster.brokers, key=lambda number: number == cluster.controller())
    commands.create("payments", {0: [killed, second, third], 1: [second, third, killed]})
    commands.create("notes", {0: [killed]})
    await_leaders(cluster, "payments", {0: killed, 1: second})
    await_leaders(cluster, "notes", {0: killed})

    with cluster.killed(killed):
        await_leaders(cluster, "payments", {0: second})
        await_leaders(cluster, "notes", {0: NO_LEADER})
        seen = agreed(cluster, commands)
        assert seen["payments"][0].leader == second
        assert seen["payments"][0].isr == {second, third}
        assert seen["notes"][0].leader == NO_LEADER
        assert {broker["id"] for broker in snapshot_of(cluster.source_url)["brokers"]} == {second, third}

    eventually(lambda: all(killed in cluster.state("payments", p)["isr"] for p in (0, 1)), "its return to the ISRs")
    await_leaders(cluster, "notes", {0: killed})
    assert agreed(cluster, commands)["payments"][0].leader == second

    commands.elect_preferred("payments", [0])
    await_leaders(cluster, "payments", {0: killed})
    assert agreed(cluster, commands)["payments"][0].leader == killed


def test_the_controller_is_killed_and_another_takes_over(cluster: Cluster, commands: Commands) -> None:
    first = cluster.controller()
    other = next(number for number in cluster.brokers if number != first)
    commands.create("audit", {0: [first, other]})
    await_leaders(cluster, "audit", {0: first})
    epoch = snapshot_of(cluster.source_url)["controller"]["epoch"]

    with cluster.killed(first):
        eventually(lambda: cluster.controller() not in (NO_CONTROLLER, first), "another controller")
        await_leaders(cluster, "audit", {0: other})
        assert agreed(cluster, commands)["audit"][0].leader == other
        controller = snapshot_of(cluster.source_url)["controller"]
        assert controller["broker"] == cluster.controller()
        assert controller["epoch"] == epoch + 1


def test_a_broker_shuts_down_in_order(cluster: Cluster, commands: Commands) -> None:
    commands.create("carts", {0: [3, 1], 1: [1, 3]})
    await_leaders(cluster, "carts", {0: 3, 1: 1})

    with cluster.stopped(3):
        await_leaders(cluster, "carts", {0: 1, 1: 1})
        eventually(lambda: all(cluster.state("carts", p)["isr"] == [1] for p in (0, 1)), "broker 3 to leave the ISRs")
        assert agreed(cluster, commands)["carts"] == {0: view(1, (3, 1), isr=(1,)), 1: view(1, (1, 3), isr=(1,))}


def test_partitions_are_reassigned(cluster: Cluster, commands: Commands) -> None:
    commands.create("clicks", {0: [1, 2], 1: [2, 3]})
    await_leaders(cluster, "clicks", {0: 1, 1: 2})

    commands.reassign("clicks", {0: [3, 2], 1: [1, 2, 3]})
    eventually(
        lambda: (
            cluster.read("/brokers/topics/clicks")["partitions"] == {"0": [3, 2], "1": [1, 2, 3]}
            and not cluster.read("/admin/reassign_partitions")
        ),
        "the reassignment to end",
    )
    eventually(lambda: len(cluster.state("clicks", 1)["isr"]) == 3, "the new replica to be in sync")
    assert agreed(cluster, commands)["clicks"] == {
        0: view(3, (3, 2), isr=(2, 3)),
        1: view(2, (1, 2, 3), isr=(1, 2, 3)),
    }
