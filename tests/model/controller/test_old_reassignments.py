"""Reassignments by controllers that wrote no goal down (0.8.0 to 2.3), and those that did, in the same cases."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from model.controller import Refusal, events_and_commands
from model.controller.generations import generation_of
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.requests import reassign_unkept
from model.controller.znode_formats import FIRST_FORMATS
from model.zookeeper import Create, Delete, SetData
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import reassign_by_znode

TOPIC = "/brokers/topics/t"
STATE = "/brokers/topics/t/partitions/0/state"
REASSIGNMENTS = "/admin/reassign_partitions"


class Moved(NamedTuple):
    """What a reassignment wrote."""

    states: list[tuple[int, int, list[int]]]
    """Leader, leader epoch, ISR."""
    topic: list[list[int]]
    """Replicas."""
    is_done: bool


def cluster_with(release: str, *replicas: int) -> VirtualCluster:
    cluster = VirtualCluster(generation=generation_of(release), auto_leader_rebalance_enable=False)
    for broker in range(4):
        cluster.start(broker)
    cluster.write(Create("/admin"))  # there already but in 0.8.0, where the tool makes it
    cluster.write(Create(TOPIC, b'{"version":1,"partitions":{"0":%s}}' % str(list(replicas)).encode()))
    return cluster


def since(cluster: VirtualCluster, mark: int) -> Moved:
    written = by_path(cluster.since(mark))
    states = [(w.data["leader"], w.data["leader_epoch"], w.data["isr"]) for w in written.get(STATE, [])]
    done = not cluster.read(REASSIGNMENTS).ok
    return Moved(states, [write.data["partitions"]["0"] for write in written.get(TOPIC, [])], done)


def moved(cluster: VirtualCluster, *target: int) -> Moved:
    mark = len(cluster.log)
    reassign_by_znode(cluster, "t", 0, target)
    return since(cluster, mark)


@pytest.mark.parametrize(
    ("release", "states", "topic"),
    [
        ("0.8.1", [(1, 1, [1, 2]), (1, 1, [1, 2, 3]), (1, 2, [1, 2, 3]), (1, 3, [1, 3])], [[1, 3, 2], [1, 3]]),
        ("2.3", [(1, 1, [1, 2]), (1, 1, [1, 2, 3]), (1, 2, [1, 2, 3]), (1, 3, [1, 3])], [[1, 3, 2], [1, 3]]),
        ("2.4", [(1, 1, [1, 2]), (1, 1, [1, 2, 3]), (1, 2, [1, 2, 3]), (1, 3, [1, 3])], [[1, 3, 2], [1, 3]]),
        ("3.9", [(1, 1, [1, 2]), (1, 1, [1, 2, 3]), (1, 2, [1, 2, 3]), (1, 3, [1, 3])], [[1, 3, 2], [1, 3]]),
    ],
)
def test_one_replica_for_another(
    release: str, states: list[tuple[int, int, list[int]]], topic: list[list[int]]
) -> None:
    assert moved(cluster_with(release, 1, 2), 1, 3) == (states, topic, True)


def test_0_8_0_raises_no_epoch_and_says_nothing_in_the_topics_znode_until_it_is_done() -> None:
    cluster = cluster_with("0.8.0", 1, 2)
    assert moved(cluster, 1, 3) == ([], [], False)
    mark = len(cluster.log)
    joined = b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2,3]}'
    cluster.write(SetData(STATE, joined))  # as the leader does, whoever it is that fetches from it
    assert since(cluster, mark) == ([(1, 0, [1, 2, 3]), (1, 1, [1, 3])], [[1, 3]], True)


@pytest.mark.parametrize(
    ("release", "states", "topic"),
    [
        ("0.8.0", [], [[2, 1]]),
        ("0.8.2", [(1, 1, [1, 2])], [[2, 1]]),
        ("2.3", [(1, 1, [1, 2])], [[2, 1]]),
        ("3.9", [(1, 1, [1, 2])], [[2, 1], [2, 1]]),
    ],
)
def test_a_new_order(release: str, states: list[tuple[int, int, list[int]]], topic: list[list[int]]) -> None:
    """Up to 2.3 the goal is not written where it is in sync already."""
    assert moved(cluster_with(release, 1, 2), 2, 1) == (states, topic, True)


@pytest.mark.parametrize(("release", "waits"), [("0.10.1", True), ("2.3", True), ("2.4", False), ("3.9", False)])
def test_up_to_2_3_a_new_order_waits_for_the_dead(release: str, waits: bool) -> None:
    cluster = cluster_with(release, 1, 2)
    cluster.kill(2)
    assert moved(cluster, 2, 1).is_done != waits
    cluster.start(2)
    assert not cluster.read(REASSIGNMENTS).ok
    last = by_path(cluster.log)[TOPIC][-1].data["partitions"]["0"]
    assert last == [2, 1]


@pytest.mark.parametrize(("release", "runs"), [("0.8.2", False), ("2.3", False), ("2.4", True), ("3.9", True)])
def test_what_is_so_already_is_refused_up_to_2_3(release: str, runs: bool) -> None:
    found = moved(cluster_with(release, 1, 2), 1, 2)
    assert found == (([(1, 1, [1, 2])], [[1, 2]], True) if runs else ([], [], True))


@pytest.mark.parametrize(("release", "waits"), [("0.8.0", False), ("0.10.0", False), ("0.10.1", True), ("3.9", True)])
def test_a_dead_target_ended_it_up_to_0_10_0(release: str, waits: bool) -> None:
    cluster = cluster_with(release, 1, 2)
    cluster.kill(3)
    found = moved(cluster, 1, 3)
    assert found == (([(1, 1, [1, 2])], [[1, 3, 2]], False) if waits else ([], [], True))


@pytest.mark.parametrize("release", ["0.10.1", "1.1", "2.3"])
def test_a_broker_that_comes_lets_it_go_on(release: str) -> None:
    """The union and an epoch are written again, for nobody remembers that they were."""
    cluster = cluster_with(release, 1, 2)
    cluster.kill(3)
    moved(cluster, 1, 3)
    mark = len(cluster.log)
    cluster.start(3)
    assert since(cluster, mark) == (
        [(1, 2, [1, 2]), (1, 2, [1, 2, 3]), (1, 3, [1, 2, 3]), (1, 4, [1, 3])],
        [[1, 3, 2], [1, 3]],
        True,
    )


@pytest.mark.parametrize("release", ["0.10.1", "1.1", "2.3", "2.4", "3.9"])
def test_the_next_controller_goes_on_with_it(release: str) -> None:
    cluster = cluster_with(release, 1, 2)
    cluster.kill(3)
    moved(cluster, 1, 3)
    cluster.kill(0)
    mark = len(cluster.log)
    cluster.start(3)
    found = since(cluster, mark)
    assert (found.topic[-1], found.is_done) == ([1, 3], True)
    assert found.states[-1][0::2] == (1, [1, 3])


def test_without_a_goal_written_down_all_there_is_was_meant_to_be_there() -> None:
    """Up to 2.3: somebody takes the request away and makes another one, which the next controller finds."""
    cluster = cluster_with("1.1", 1, 2)
    cluster.kill(3)
    moved(cluster, 1, 3)
    cluster.write(Delete(REASSIGNMENTS))
    assert moved(cluster, 1, 2).topic == []
    mark = len(cluster.log)
    cluster.kill(0)
    assert since(cluster, mark).topic == [[1, 2]]
    assert since(cluster, mark).is_done


@pytest.mark.parametrize("release", ["1.1", "2.3"])
def test_before_2_4_nobody_takes_requests(release: str) -> None:
    cluster = cluster_with(release, 1, 2)
    assert cluster.ask(events_and_commands.ReassignmentsRequested, targets=()).error == "UNSUPPORTED_VERSION"


def test_a_partition_that_is_not_there_cannot_be_moved() -> None:
    rules = FIRST_FORMATS.reassigning
    for current, deleting in ((None, False), (ReplicaAssignment((1,)), True)):
        refused = reassign_unkept(current, (2,), rules, (1, 2), deleting=deleting)
        assert isinstance(refused, Refusal)
        assert refused.error == "UNKNOWN_TOPIC_OR_PARTITION"
