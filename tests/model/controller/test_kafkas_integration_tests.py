"""What Kafka's ControllerIntegrationTest and DeleteTopicTest ask of a controller, beyond what failures show.

Broker 0 is the controller where nothing else is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.hosts.virtual.journal import RequestSent
from model.znodes.cluster import decode_broker
from model.zookeeper import Create, Delete, SetData
from tests.harness.virtual_cluster import VirtualCluster, registration
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import assignment, create_topic, elect, reassign, reassign_by_znode

T0 = TopicPartition("t", 0)
MARKER = "/admin/delete_topics/t"


def cluster_of(*brokers: int, **settings: Any) -> VirtualCluster:
    cluster = VirtualCluster(**{"auto_leader_rebalance_enable": False, **settings})
    for broker in brokers:
        cluster.start(broker)
    return cluster


def state(cluster: VirtualCluster, partition: int = 0, topic: str = "t") -> tuple[int, int, list[int]] | None:
    """Leader, leader epoch and ISR in ZooKeeper."""
    found = cluster.read(f"/brokers/topics/{topic}/partitions/{partition}/state")
    if not found.ok:
        return None
    payload = json.loads(found.data)
    return payload["leader"], payload["leader_epoch"], payload["isr"]


def there(cluster: VirtualCluster, path: str) -> bool:
    return cluster.read(path).ok


# New partitions


@pytest.mark.parametrize(("dead", "leader"), [(False, (1, 0, [1, 0])), (True, (0, 0, [0]))])
def test_a_partition_is_added_also_while_a_replica_is_dead(dead: bool, leader: tuple[int, int, list[int]]) -> None:
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (0,))
    if dead:
        cluster.kill(1)
    cluster.write(SetData("/brokers/topics/t", assignment("t", (0,), (1, 0))))
    assert state(cluster, partition=1) == leader


# Reassignment


def test_replicas_move_to_a_broker_with_a_failed_log_dir() -> None:
    """Another of its log dirs takes them, for they are new."""
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (0,))
    event = b'{"version":1,"broker":1,"event":1}'
    cluster.write(Create("/log_dir_event_notification/log_dir_event_", event, sequential=True))
    reassign_by_znode(cluster, "t", 0, (1,))
    assert state(cluster) == (1, 3, [1])
    assert not there(cluster, "/admin/reassign_partitions")


# Elections


def test_preferred_elections_twice_in_a_row() -> None:
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (1, 0))
    seen: list[tuple[int, int]] = []
    for _ in range(2):
        cluster.stop(1)
        cluster.start(1)
        assert elect(cluster, ("t", 0)) == ["NONE"]
        now = state(cluster)
        assert now is not None
        seen.append(now[:2])
    assert seen == [(1, 2), (1, 4)]


@pytest.mark.parametrize("by_default", [True, False])
def test_the_whole_isr_dies_and_unclean_elections_are_allowed(by_default: bool) -> None:
    """UncleanLeaderElectionTest: by the broker's configuration or by the topic's."""
    cluster = cluster_of(0, 1, 2, unclean_leader_election_enable=by_default)
    config = b"{}" if by_default else b'{"unclean.leader.election.enable":"true"}'
    create_topic(cluster, "t", (1, 2), config=config)
    cluster.kill(2)
    cluster.kill(1)
    assert state(cluster) == (-1, 2, [1])
    cluster.start(2)
    assert state(cluster) == (2, 3, [2])


def test_a_topic_says_no_where_the_broker_says_yes() -> None:
    cluster = cluster_of(0, 1, 2, unclean_leader_election_enable=True)
    create_topic(cluster, "t", (1, 2), config=b'{"unclean.leader.election.enable":"false"}')
    cluster.kill(2)
    cluster.kill(1)
    cluster.start(2)
    assert state(cluster) == (-1, 2, [1])


def test_leaders_go_back_while_another_partition_is_being_reassigned() -> None:
    """KAFKA-10149: up to 3.3 one that stalls kept all others from it."""
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=True)
    create_topic(cluster, "t", (1, 0))
    create_topic(cluster, "other", (0,))
    cluster.kill(2)
    reassign_by_znode(cluster, "other", 0, (2,))
    assert state(cluster, topic="other") == (0, 1, [0])
    cluster.stop(1)
    cluster.start(1)
    cluster.fire_timers()
    assert state(cluster) == (1, 2, [0, 1])
    assert state(cluster, topic="other") == (0, 1, [0])
    cluster.start(2)
    assert state(cluster, topic="other") == (2, 4, [2])


def test_leaders_go_back_in_a_partition_that_is_being_reassigned() -> None:
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=True)
    create_topic(cluster, "t", (0, 1))
    cluster.kill(2)
    reassign_by_znode(cluster, "t", 0, (1, 0, 2))
    assert state(cluster) == (0, 1, [0, 1])
    cluster.fire_timers()
    assert state(cluster) == (1, 2, [0, 1])
    mark = len(cluster.log)
    cluster.start(2)
    written = [write.data for write in by_path(cluster.since(mark))["/brokers/topics/t/partitions/0/state"]]
    assert [(found["leader"], found["leader_epoch"], found["isr"]) for found in written] == [
        (1, 3, [0, 1]),
        (1, 3, [0, 1, 2]),
        (1, 4, [0, 1, 2]),
    ]
    assert not there(cluster, "/admin/reassign_partitions")


# Controlled shutdown


def test_brokers_shut_down_one_after_the_other() -> None:
    """The answer names what is left to lead; the last one keeps it."""
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (0, 1, 2))
    assert cluster.ask(events_and_commands.ControlledShutdownRequested, broker=2).partitions == ()
    assert state(cluster) == (0, 1, [0, 1])
    assert cluster.ask(events_and_commands.ControlledShutdownRequested, broker=1).partitions == ()
    assert state(cluster) == (0, 2, [0])
    left = cluster.ask(events_and_commands.ControlledShutdownRequested, broker=0).partitions
    assert [outcome.partition for outcome in left] == [T0]
    assert state(cluster) == (0, 2, [0])


# The controller moves


@pytest.mark.parametrize(
    "act",
    [
        pytest.param({"path": "/brokers/topics/new", "data": assignment("new", (1,))}, id="create"),
        pytest.param({"path": MARKER, "data": b""}, id="delete"),
        pytest.param(
            {
                "path": "/admin/preferred_replica_election",
                "data": b'{"version":1,"partitions":[{"topic":"t","partition":0}]}',
            },
            id="preferred",
        ),
        pytest.param(
            {
                "path": "/admin/reassign_partitions",
                "data": b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[2]}]}',
            },
            id="reassign",
        ),
    ],
)
def test_a_controller_that_was_overtaken_writes_nothing_and_resigns(act: Mapping[str, Any]) -> None:
    """Somebody raised the epoch; it finds out at its next write."""
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.stop(1)
    cluster.start(1)
    cluster.write(SetData("/controller_epoch", b"7"))
    cluster.first = (1, 2, 0)
    mark = len(cluster.log)
    cluster.write(Create(act["path"], act["data"]))
    written = by_path(cluster.since(mark))
    assert {write.fenced_by for path in written for write in written[path]} <= {None}
    assert any("another controller" in why.lower() for why in cluster.reasons)
    cluster.write(Delete("/controller"))
    assert cluster.nodes[cluster.controller].controller.context.epoch == 8


# What brokers are told


def test_when_a_broker_changes_its_listeners_everybody_hears() -> None:
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (1, 0))
    mark = len(cluster.world.journal)
    moved = msgspec.structs.replace(decode_broker(registration(1)), endpoints=("PLAINTEXT://127.0.0.1:1",))
    cluster.write(SetData("/brokers/ids/1", moved.to_bytes()))
    told = [record for record in cluster.world.journal[mark:] if isinstance(record, RequestSent)]
    assert [(record.receiver, record.request.partitions) for record in told] == [(0, ()), (1, ())]
    assert cluster.nodes[0].controller.context.live[1].registration == moved.to_bytes()


def test_when_a_follower_dies_everybody_hears_which_replica_is_offline() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (0, 1, 2))
    cluster.kill(2)
    for broker in (0, 1):
        known = cluster.world.process(broker).broker.metadata[T0]
        assert (known.offline_replicas, known.state.isr, known.state.leader) == ((2,), (0, 1), 0)


def test_when_a_broker_without_replicas_leaves_everybody_hears_who_is_left() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (0, 1))
    cluster.stop(2)
    assert [cluster.nodes[broker].broker.live_brokers for broker in (0, 1)] == [(0, 1), (0, 1)]


# Deletion


def test_a_reassignment_of_a_topic_that_is_being_deleted_has_no_effect() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (0, 1))
    cluster.kill(1)
    cluster.write(Create(MARKER))
    reassign_by_znode(cluster, "t", 0, (2,))
    assert not there(cluster, "/admin/reassign_partitions")
    assert reassign(cluster, "t", 0, (2,)) == "UNKNOWN_TOPIC_OR_PARTITION"
    cluster.start(1)
    assert not there(cluster, "/brokers/topics/t")
    assert not there(cluster, MARKER)


def test_a_topic_is_deleted_while_partitions_are_added() -> None:
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (0, 1))
    cluster.patience = 0
    cluster.write(SetData("/brokers/topics/t", assignment("t", (0, 1), (1, 0))))
    cluster.write(Create(MARKER))
    cluster.patience = -1
    cluster.settle()
    assert not there(cluster, "/brokers/topics/t")


def test_a_topic_that_was_deleted_is_made_again() -> None:
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (0, 1))
    cluster.kill(1)
    cluster.start(1)
    cluster.write(Create(MARKER))
    assert state(cluster) is None
    create_topic(cluster, "t", (1, 0))
    assert state(cluster) == (1, 0, [1, 0])
    assert set(cluster.nodes[0].broker.held) == {T0}


def test_the_deletion_of_a_topic_that_is_half_gone_ends() -> None:
    """A controller died while it removed its znodes."""
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (0, 1), (1, 0))
    cluster.kill(0, 1)
    for path in ("/state", ""):
        cluster.write(Delete(f"/brokers/topics/t/partitions/0{path}"))
    cluster.write(Create(MARKER))
    cluster.start(0)
    cluster.start(1)
    assert not there(cluster, "/brokers/topics/t")
    assert not there(cluster, MARKER)


def test_a_second_marker_changes_nothing() -> None:
    cluster = cluster_of(0, 1)
    create_topic(cluster, "t", (0, 1))
    create_topic(cluster, "u", (0, 1))
    cluster.kill(1)
    cluster.write(Create(MARKER))
    cluster.write(Create("/admin/delete_topics/u"))
    cluster.write(Create(MARKER))
    cluster.start(1)
    assert not there(cluster, "/brokers/topics/t")
    assert not there(cluster, "/brokers/topics/u")
