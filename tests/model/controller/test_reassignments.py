"""Reassignments as real 3.9.1 clusters carried them out: leader epochs, versions and topic writes (R01 to R10)."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.leader_and_isr import ReplicaAssignment
from model.zookeeper import Create, Delete
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import ZnodeWrite, by_path
from tests.model.controller.trace_scenarios import create_topic, reassign, reassign_by_znode

TOPIC = "/brokers/topics/t"
STATE = "/brokers/topics/t/partitions/0/state"
ZNODE = "/admin/reassign_partitions"


def cluster_with(*replicas: int) -> VirtualCluster:
    """Brokers 0 to 3 and a topic of one partition."""
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    for broker in range(4):
        cluster.start(broker)
    create_topic(cluster, "t", replicas)
    return cluster


def written_since(cluster: VirtualCluster, mark: int) -> dict[str, list[ZnodeWrite]]:
    return by_path(cluster.since(mark))


@pytest.mark.parametrize(
    ("before", "target", "epochs", "leader", "isr"),
    [
        pytest.param((1, 2, 3), (3, 1, 2), 1, 1, [1, 2, 3], id="R01: a new order; the leader stays"),
        pytest.param((1,), (1, 2), 2, 1, [1, 2], id="R02: one more"),
        pytest.param((1, 2, 3), (1,), 3, 1, [1], id="R03: two fewer"),
        pytest.param((1, 2, 3), (2, 3), 2, 2, [2, 3], id="R04: the leader leaves"),
        pytest.param((1, 2, 3), (3, 0), 4, 3, [3, 0], id="S10: one comes, two leave, the leader among them"),
        pytest.param((0,), (1,), 3, 1, [1], id="one for another"),
    ],
)
def test_a_reassignment_costs_as_many_leader_epochs_as_with_kafka(
    before: tuple[int, ...], target: tuple[int, ...], epochs: int, leader: int, isr: list[int]
) -> None:
    cluster = cluster_with(*before)
    mark = len(cluster.log)
    assert reassign(cluster, "t", 0, target) == "NONE"
    written = written_since(cluster, mark)
    last = written[STATE][-1].data
    assert (last["leader_epoch"], last["leader"], last["isr"]) == (epochs, leader, isr)
    assert [write.data["partitions"]["0"] for write in written[TOPIC]][-1] == list(target)
    assert len(written[TOPIC]) == 2
    assert not cluster.nodes[0].controller.context.reassigning


def test_a_dead_target_stalls_until_its_broker_starts() -> None:
    cluster = cluster_with(0)
    cluster.stop(1)
    reassign_by_znode(cluster, "t", 0, (1,))
    mark = len(cluster.log)
    cluster.start(1)
    written = written_since(cluster, mark)
    assert [write.data["leader_epoch"] for write in written[STATE]] == [2, 2, 3, 4]
    assert written["/admin/reassign_partitions"][-1].verb == "delete"


def test_a_new_goal_overrides_one_that_stalls() -> None:
    """R10."""
    cluster = cluster_with(1, 2)
    cluster.stop(3)
    reassign_by_znode(cluster, "t", 0, (1, 3))
    mark = len(cluster.log)
    assert reassign(cluster, "t", 0, (1, 0)) == "NONE"
    written = written_since(cluster, mark)
    assert [write.verb for write in written["/admin/reassign_partitions"]] == ["delete"]
    first, last = (write.data for write in written[TOPIC])
    assert (first["partitions"], first["adding_replicas"], first["removing_replicas"]) == (
        {"0": [1, 0, 2]},
        {"0": [0]},
        {"0": [2]},
    )
    assert last["partitions"] == {"0": [1, 0]}
    assert [(write.data["leader_epoch"], write.data["isr"]) for write in written[STATE]] == [
        (2, [1, 2]),
        (2, [1, 2, 0]),
        (3, [1, 2, 0]),
        (4, [1, 0]),
    ]


def test_a_reassignment_goes_on_under_the_next_controller() -> None:
    cluster = cluster_with(1, 2)
    cluster.stop(3)
    reassign_by_znode(cluster, "t", 0, (1, 3))
    cluster.kill(0)
    cluster.start(3)
    written = written_since(cluster, 0)
    assert written[TOPIC][-1].data["partitions"] == {"0": [1, 3]}
    assert written["/admin/reassign_partitions"][-1].verb == "delete"


def test_an_assignment_for_an_unknown_partition_is_taken_out_of_the_znode() -> None:
    cluster = cluster_with(1, 2)
    mark = len(cluster.log)
    reassign_by_znode(cluster, "gone", 0, (1,))
    assert [write.verb for write in written_since(cluster, mark)["/admin/reassign_partitions"]] == [
        "create[P]",
        "delete",
    ]


def test_replicas_that_left_are_deleted_on_their_brokers() -> None:
    cluster = cluster_with(1, 2)
    reassign(cluster, "t", 0, (0, 3))
    assert [broker for broker, node in cluster.nodes.items() if node.broker.held] == [0, 3]


def test_what_is_going_on_can_be_listed() -> None:
    cluster = cluster_with(1, 2)
    create_topic(cluster, "u", (0, 1))
    assert listed(cluster) == {}
    cluster.stop(3)
    reassign_by_znode(cluster, "t", 0, (1, 3))
    moving = {TopicPartition("t", 0): ReplicaAssignment((1, 3, 2), adding=(3,), removing=(2,))}
    assert listed(cluster) == moving
    assert listed(cluster, ("t", 0), ("u", 0), ("gone", 0)) == moving
    assert listed(cluster, ("u", 0)) == {}
    assert reassign(cluster, "t", 0, None) == "NONE"
    assert listed(cluster) == {}


def listed(cluster: VirtualCluster, *names: tuple[str, int]) -> dict[TopicPartition, ReplicaAssignment | None]:
    """ListPartitionReassignments."""
    wanted = tuple(TopicPartition(*name) for name in names) or None
    answer = cluster.ask(events_and_commands.ReassignmentListRequested, partitions=wanted)
    return {outcome.partition: outcome.assignment for outcome in answer.partitions}


def test_a_znode_written_after_one_was_deleted_by_hand_is_noticed_from_the_next_reassignment_that_ends() -> None:
    """Kafka's own write takes the watch; its look whether there is still a znode sets it again."""
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    for broker in range(3):
        cluster.start(broker)
    create_topic(cluster, "t", (0,), (0,), (0,))
    cluster.stop(2)
    moves = b'{"version":1,"partitions":[%s]}'
    move = b'{"topic":"t","partition":%d,"replicas":[%d]}'
    cluster.write(Create(ZNODE, moves % b",".join((move % (0, 1), move % (1, 2)))))
    cluster.write(Delete(ZNODE))
    cluster.start(2)
    cluster.write(Create(ZNODE, moves % (move % (2, 1))))
    assert [cluster.leader("t", partition) for partition in range(3)] == [1, 2, 1]
    assert not cluster.read(ZNODE).ok
