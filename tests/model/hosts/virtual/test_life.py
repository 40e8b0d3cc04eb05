"""Brokers come and go: when their sessions end, who rules, and what becomes of what they led."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.generations import ControllerSettings
from model.hosts.virtual import journal
from model.hosts.virtual.virtual_cluster import VirtualCluster
from tests.harness.virtual_cluster import LONG_MS, boot, cluster_of, create_topic, plain_registration, records, state


def test_the_first_broker_registers_and_becomes_the_controller() -> None:
    cluster = cluster_of(0, 1)
    assert cluster.brokers == (0, 1)
    assert cluster.controllers == (0,)
    assert [(record.broker, record.epoch) for record in records(cluster, journal.ControllerElected)] == [(0, 1)]
    assert cluster.process(1).broker.live_brokers == (0, 1)


def test_a_crash_is_noticed_when_the_session_times_out_and_no_sooner() -> None:
    cluster = cluster_of(0, 1, 2, session_timeout_ms=6_000)
    create_topic(cluster, "t", (1, 2))
    crashed_ms, mark = cluster.now_ms, len(cluster.journal)
    cluster.crash(1)
    cluster.run_until(crashed_ms + 5_999)
    assert state(cluster, "t").leader == 1
    assert cluster.run_until_quiet(LONG_MS)
    assert [record.at_ms for record in records(cluster, journal.SessionEnded, mark)] == [crashed_ms + 6_000]
    assert (state(cluster, "t").leader, state(cluster, "t").leader_epoch) == (2, 1)


def test_a_broker_that_comes_back_catches_up_and_joins() -> None:
    cluster = cluster_of(0, 1, 2, catch_up_ms=300)
    create_topic(cluster, "t", (1, 2))
    cluster.crash(2)
    assert cluster.run_until_quiet(LONG_MS)
    assert state(cluster, "t").isr == (1,)
    boot(cluster, 2)
    assert state(cluster, "t").isr == (1, 2)
    led = cluster.process(1).broker.leads(TopicPartition("t", 0))
    assert led is not None
    assert led.state.isr == (1, 2)


def test_a_controlled_shutdown_hands_over_first_and_ends_the_session_at_once() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    begun_ms, mark = cluster.now_ms, len(cluster.journal)
    cluster.shut_down(1)
    assert cluster.run_until_quiet(LONG_MS)
    stopped = next(records(cluster, journal.BrokerStopped, mark))
    ended = next(records(cluster, journal.SessionEnded, mark))
    assert (stopped.broker, stopped.controlled, ended.expired) == (1, True, False)
    assert ended.at_ms - begun_ms < 100
    assert (state(cluster, "t").leader, state(cluster, "t").isr) == (2, (2,))


def test_a_broker_that_nobody_can_take_over_from_asks_as_often_as_it_is_set_to_and_leaves() -> None:
    cluster = cluster_of(0, 1, 2, shutdown_retries=3, shutdown_backoff_ms=1_000)
    create_topic(cluster, "t", (1, 2))
    cluster.crash(2)
    assert cluster.run_until_quiet(LONG_MS)
    mark = len(cluster.journal)
    cluster.shut_down(1)
    assert cluster.run_until_quiet(LONG_MS)
    asked = [record.request for record in records(cluster, journal.ControllerAsked, mark)]
    assert [type(request) for request in asked] == [events_and_commands.ControlledShutdownRequested] * 3
    assert [record.controlled for record in records(cluster, journal.BrokerStopped, mark)] == [False]
    assert state(cluster, "t").leader == -1


def test_a_second_process_of_one_id_is_refused_and_so_is_one_without_zookeeper() -> None:
    cluster = cluster_of(0)
    with pytest.raises(ValueError, match="broker 0 runs already"):
        cluster.boot(0, plain_registration(0), ControllerSettings(broker_id=0))
    cluster.cut(1, -1)
    with pytest.raises(ValueError, match="broker 1 cannot start without ZooKeeper"):
        cluster.boot(1, plain_registration(1), ControllerSettings(broker_id=1))


def test_a_broker_that_loses_its_first_session_before_it_registered_exits() -> None:
    cluster = VirtualCluster()
    cluster.boot(0, plain_registration(0), ControllerSettings(broker_id=0))
    cluster.expire(0)
    assert cluster.run_until_quiet(LONG_MS)
    assert cluster.brokers == ()


def test_a_failed_log_dir_is_told_through_zookeeper_and_costs_the_leadership() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    cluster.fail_log_dir(1, [TopicPartition("t", 0)])
    assert cluster.run_until_quiet(LONG_MS)
    assert (state(cluster, "t").leader, state(cluster, "t").isr) == (2, (2,))
    assert cluster.brokers == (0, 1, 2)


def test_operators_ask_the_controller_that_zookeeper_names() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2))
    name = TopicPartition("t", 0)
    number = cluster.ask(events_and_commands.ElectionRequested(request=0, partitions=(name,)))
    refused = cluster.ask(events_and_commands.ElectionRequested(request=0, partitions=(name,)), broker=1)
    nobody = cluster.ask(events_and_commands.ElectionRequested(request=0, partitions=(name,)), broker=9)
    assert cluster.answer(number) is None
    assert cluster.run_until_quiet(LONG_MS)
    answer, refusal = cluster.answer(number), cluster.answer(refused)
    assert answer is not None
    assert [outcome.error for outcome in answer.partitions] == ["ELECTION_NOT_NEEDED"]
    assert refusal is not None
    assert refusal.error == "NOT_CONTROLLER"
    assert cluster.answer(nobody) is None
