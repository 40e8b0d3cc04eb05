"""What a scenario expects of a cluster, looked up in images of it."""

import pytest

from model.cluster.records import ClusterRecord, ControllerElected, ControllerLost
from model.sandbox.scenario import Expectation
from model.sandbox.scenario_run import BeforeFault, SeenCluster, before_in, unmet
from tests.model.cluster.build import brokers, image, state, topic, written

HEALTHY = image(*brokers(1, 2, 3), *topic("orders", (1, 2, 3), partitions=2))
BEFORE = before_in(HEALTHY)
ALL = frozenset({1, 2, 3})


def reason(expect: str, *records: ClusterRecord, running: frozenset[int] = ALL, **details: object) -> str:
    """Why a healthy cluster is not as expected, after these records."""
    expectation = Expectation(expect=expect, **details)  # pyright: ignore[reportArgumentType]
    return unmet(expectation, SeenCluster(image(*records, base=HEALTHY), running), BEFORE)


def test_a_healthy_cluster():
    assert not reason("led")
    assert not reason("in-sync")
    assert not reason("controller")
    assert not reason("leader", partition="orders-0", broker=1)


def test_a_leader_whose_process_is_gone_is_none_though_zookeeper_has_not_missed_it_yet():
    dead = frozenset({2, 3})
    assert reason("led", running=dead) == "without a leader that runs: orders-0, orders-1"
    assert reason("in-sync", running=dead)
    assert reason("controller", running=dead) == "there is no controller that runs"
    assert reason("leader", running=dead, partition="orders-0") == "orders-0 has no leader that runs"


def test_a_partition_without_a_leader():
    offline = written("orders", state(0, -1, [1]))
    assert reason("led", offline) == "without a leader that runs: orders-0"
    assert not reason("offline", offline, partition="orders-0")
    assert reason("offline", offline, partition="orders-1") == "orders-1 is led by broker 1"


def test_a_follower_that_is_behind():
    assert reason("in-sync", written("orders", state(1, 1, [1, 3]))) == "with replicas out of sync: orders-1"


@pytest.mark.parametrize(("leader", "why"), [(1, "orders-0 is led by broker 1"), (2, "")])
def test_a_leader_that_is_to_have_moved(leader: int, why: str):
    assert reason("leader", written("orders", state(0, leader, [2])), partition="orders-0", moved=True) == why


def test_a_controller_that_is_to_have_moved():
    assert reason("controller", moved=True) == "broker 1 is the controller still"
    assert not reason("controller", ControllerElected(broker=2), moved=True)
    assert reason("controller", ControllerElected(broker=2), broker=3) == "broker 2 is the controller"
    assert reason("controller", ControllerLost()) == "there is no controller that runs"


def test_nobody_has_moved_before_anything_was_done():
    seen = SeenCluster(HEALTHY, ALL)
    assert not unmet(Expectation(expect="controller", moved=True), seen, BeforeFault())
