"""What Kafka's own integration tests ask of a controller when things fail, as (leader, leader epoch) of a partition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.topics import Partition
from model.zookeeper import Create, Delete, SetData
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import assignment, create_topic, elect

STATE = "/brokers/topics/t/partitions/0/state"
T0 = TopicPartition("t", 0)


def cluster_of(*brokers: int, **settings: Any) -> VirtualCluster:
    cluster = VirtualCluster(**settings)
    for broker in brokers:
        cluster.start(broker)
    return cluster


def state(cluster: VirtualCluster) -> tuple[int, int, list[int]]:
    """Leader, leader epoch and ISR in ZooKeeper."""
    znode = cluster.read(STATE)
    assert znode.ok
    found = json.loads(znode.data)
    return found["leader"], found["leader_epoch"], found["isr"]


def epoch(cluster: VirtualCluster) -> int:
    znode = cluster.read("/controller_epoch")
    assert znode.ok
    return int(znode.data)


def test_a_leader_that_is_the_controller_too_costs_two_leader_epochs() -> None:
    """LeaderElectionTest: 0, 2, 4."""
    cluster = cluster_of(0, 1, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (0, 1))
    assert state(cluster) == (0, 0, [0, 1])
    cluster.kill(0)
    assert state(cluster) == (1, 2, [1])
    cluster.start(0)
    cluster.kill(1)
    assert state(cluster) == (0, 4, [0])


def test_an_epoch_per_controller_and_none_for_controllers_that_only_die() -> None:
    cluster = cluster_of(0)
    assert epoch(cluster) == 1
    cluster.kill(0)
    assert epoch(cluster) == 1
    cluster.start(0)
    assert epoch(cluster) == 2


def test_a_new_partition_with_a_dead_replica_is_led_by_a_live_one() -> None:
    cluster = cluster_of(0, 1)
    cluster.kill(1)
    create_topic(cluster, "t", (1, 0))
    assert state(cluster) == (0, 0, [0])


def test_without_any_live_replica_a_new_partition_waits_for_one() -> None:
    cluster = cluster_of(0, 1)
    cluster.kill(1)
    create_topic(cluster, "t", (1,))
    assert not cluster.read(STATE).ok
    assert cluster.leader("t") == -1
    cluster.start(1)
    assert state(cluster) == (1, 0, [1])


def test_the_last_member_of_an_isr_stays_in_it_and_another_does_not_take_over() -> None:
    """E10."""
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    assert state(cluster) == (1, 1, [1])
    cluster.kill(1)
    assert state(cluster) == (-1, 2, [1])
    mark = len(cluster.log)
    cluster.start(2)
    assert STATE not in by_path(cluster.since(mark))
    cluster.start(1)
    assert state(cluster) == (1, 3, [1, 2])


def test_an_offline_partition_is_written_anew_at_every_failover() -> None:
    cluster = cluster_of(0, 2, 1, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1,))
    cluster.kill(1)
    assert state(cluster) == (-1, 1, [1])
    cluster.kill(0)
    assert state(cluster) == (-1, 2, [1])


def test_unclean_elections_once_the_topic_allows_them() -> None:
    """R09."""
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    cluster.kill(1)
    cluster.start(2)
    config = b'{"version":1,"config":{"unclean.leader.election.enable":"true"}}'
    cluster.write(SetData("/config/topics/t", config))
    cluster.tell(0, events_and_commands.UncleanElectionAllowed(topic="t"))
    cluster.settle()
    assert state(cluster) == (2, 3, [2])
    assert '"leader_recovery_state":1' in cluster.log[-1]


def test_no_election_is_unclean_while_a_member_of_the_isr_is_online() -> None:
    """Not even if it is no replica, the topic's other partition needs such an election, or an operator asks for it."""
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False, unclean_leader_election_enable=True)
    create_topic(cluster, "t", (1, 2), (1, 2))
    cluster.kill(2)
    cluster.kill(1)
    cluster.write(SetData(STATE, b'{"version":1,"controller_epoch":1,"leader":-1,"leader_epoch":2,"isr":[0]}'))
    cluster.start(2)
    assert state(cluster) == (-1, 2, [0])
    assert cluster.leader("t", 1) == 2
    assert elect(cluster, ("t", 0), unclean=True) == ["ELIGIBLE_LEADERS_NOT_AVAILABLE"]
    assert state(cluster) == (-1, 2, [0])


def test_leaders_go_back_by_themselves_and_the_isr_stays_in_its_order() -> None:
    """R13."""
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(1)
    cluster.start(1)
    assert state(cluster) == (2, 1, [2, 1])
    cluster.fire_timers()
    assert state(cluster) == (1, 2, [2, 1])
    assert cluster.nodes[0].timers == {"auto-leader-rebalance": 300_000}


def test_a_preferred_replica_that_is_dead_cannot_lead() -> None:
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(1)
    assert elect(cluster, ("t", 0), ("t", 7)) == ["PREFERRED_LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION"]
    assert state(cluster) == (2, 1, [2])


def test_the_last_in_sync_replica_keeps_the_lead_through_a_controlled_shutdown() -> None:
    """E9."""
    cluster = cluster_of(0, 1, 2, 3, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (3, 1, 2))
    cluster.stop(3)
    cluster.stop(2)
    before = state(cluster)
    assert before[2] == [1]
    assert [outcome.partition for outcome in cluster.stop(1).partitions] == [T0]
    assert state(cluster) == (-1, before[1] + 1, [1])


def test_a_controlled_shutdown_of_a_broker_that_has_come_back_since_is_stale() -> None:
    cluster = cluster_of(0, 1)
    epoch_before = cluster.nodes[0].controller.context.live[1].epoch
    cluster.kill(1)
    cluster.start(1)
    request = {"broker": 1, "broker_epoch": epoch_before}
    assert cluster.ask(events_and_commands.ControlledShutdownRequested, **request).error == "STALE_BROKER_EPOCH"
    assert cluster.ask(events_and_commands.ControlledShutdownRequested, broker=9).error == "BROKER_NOT_AVAILABLE"


def test_a_zombie_controller_writes_nothing_any_more() -> None:
    """R08."""
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1, 2))
    cluster.tell(0, events_and_commands.ControlledShutdownRequested(request=900, broker=1))
    cluster.patience = 1
    cluster.settle()
    cluster.patience = -1
    cluster.pause(0)
    cluster.settle()
    mark = len(cluster.log)
    cluster.resume(0)
    assert cluster.controller in (1, 2)
    assert set(by_path(cluster.since(mark))) == {"/brokers/ids/0"}


def test_a_controller_that_was_deposed_by_hand_resigns_and_another_epoch_begins() -> None:
    cluster = cluster_of(0, 1, 2)
    cluster.write(Delete("/controller"))
    assert epoch(cluster) == 2
    assert [node.controller.context.active for node in cluster.nodes.values()].count(True) == 1


def test_a_broker_that_bounced_unnoticed_is_told_everything_again() -> None:
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1, 2))
    cluster.world.pause(0)
    cluster.kill(1)
    cluster.start(1)
    assert not cluster.nodes[1].broker.metadata
    cluster.resume(0)
    assert cluster.nodes[1].broker.metadata == {T0: 2}
    assert cluster.nodes[1].broker.live_brokers == (0, 1, 2)
    assert state(cluster) == (2, 1, [2, 1])


def test_a_failed_log_dir_costs_the_leadership_but_not_the_broker() -> None:
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (1, 2))
    cluster.world.fail_log_dir(1, [T0])
    cluster.settle()
    assert state(cluster) == (2, 1, [2])
    assert 1 in cluster.nodes[0].controller.context.live
    assert by_path(cluster.log)["/log_dir_event_notification/log_dir_event_0000000000"][-1].verb == "delete"


def test_a_topic_cannot_grow_while_it_is_deleted() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    cluster.write(Create("/admin/delete_topics/t"))
    cluster.write(SetData("/brokers/topics/t", assignment("t", (1, 2), (0, 1))))
    assert list(by_path(cluster.log)["/brokers/topics/t"][-1].data["partitions"]) == ["0"]
    cluster.start(2)
    assert "t" not in cluster.nodes[0].controller.context.topics.by_name


def test_a_marker_for_a_topic_that_is_not_there_is_removed() -> None:
    cluster = cluster_of(0)
    cluster.write(Create("/admin/delete_topics/nope"))
    assert by_path(cluster.log)["/admin/delete_topics/nope"][-1].verb == "delete"


def test_where_deletion_is_disabled_the_marker_goes_and_the_topic_stays() -> None:
    cluster = cluster_of(0, 1, delete_topic_enable=False)
    create_topic(cluster, "t", (1,))
    cluster.write(Create("/admin/delete_topics/t"))
    assert by_path(cluster.log)["/admin/delete_topics/t"][-1].verb == "delete"
    assert state(cluster) == (1, 0, [1])


def test_a_deletion_goes_on_under_the_next_controller() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    cluster.write(Create("/admin/delete_topics/t"))
    cluster.kill(0)
    cluster.start(2)
    assert "t" not in cluster.nodes[cluster.controller].controller.context.topics.by_name
    assert by_path(cluster.log)["/admin/delete_topics/t"][-1].verb == "delete"


@pytest.mark.parametrize("events_decided", range(1, 60, 2))
def test_a_controller_that_dies_in_the_middle_of_a_failover_leaves_nothing_undone(events_decided: int) -> None:
    cluster = cluster_of(0, 1, 2, auto_leader_rebalance_enable=False)
    create_topic(cluster, "t", (0, 1, 2), (1, 2))
    create_topic(cluster, "gone", (1, 2))
    cluster.patience = 0
    cluster.write(Create("/admin/delete_topics/gone"))
    cluster.kill(0)
    cluster.patience = events_decided
    cluster.settle()
    active = [broker for broker, node in cluster.nodes.items() if node.controller.context.active]
    cluster.patience = -1
    cluster.kill(active[0] if active else 1)
    cluster.settle()
    for broker in (0, 1, 2):
        if broker not in cluster.nodes:
            cluster.start(broker)
    topics = cluster.nodes[cluster.controller].controller.context.topics
    assert set(topics.by_name) == {"t"}
    assert all(sorted(isr_of(partition)) == sorted(partition.assignment.replicas) for _, partition in topics.items())


def isr_of(partition: Partition) -> tuple[int, ...]:
    return () if partition.leadership is None else partition.leadership.state.isr


def test_a_topic_whose_broker_dies_before_it_confirms_is_deleted_once_the_broker_is_back() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.world.pause(2)
    cluster.write(Create("/admin/delete_topics/t"))
    cluster.expire(2)
    assert "Deletion halts for t: a replica is not deleted." in cluster.reasons
    assert cluster.read("/brokers/topics/t").ok
    cluster.resume(2)
    assert not cluster.read("/brokers/topics/t").ok
    assert by_path(cluster.log)["/admin/delete_topics/t"][-1].verb == "delete"
