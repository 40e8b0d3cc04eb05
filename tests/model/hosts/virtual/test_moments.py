"""Going back in time, and beginning in the middle of a cluster's life."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.hosts.virtual import journal
from model.hosts.virtual.virtual_cluster import VirtualCluster
from tests.harness.virtual_cluster import LONG_MS, boot, cluster_of, create_topic, plain_registration, records, state


def test_a_moment_can_be_gone_back_to_as_often_as_one_likes() -> None:
    cluster = cluster_of(0, 1, 2)
    create_topic(cluster, "t", (1, 2), (2, 1))
    cluster.crash(1)
    moment, at_ms = cluster.snapshot(), cluster.now_ms
    leaders, journals = [], []
    for victim in (2, 0, 2):
        cluster.restore(moment)
        assert cluster.now_ms == at_ms
        cluster.crash(victim)
        assert cluster.run_until_quiet(LONG_MS)
        leaders.append(state(cluster, "t").leader)
        journals.append(list(cluster.journal))
    assert leaders == [-1, 2, -1]
    assert journals[0] == journals[2] != journals[1]


def test_the_same_calls_give_the_same_journal() -> None:
    first, second = cluster_of(0, 1, 2), cluster_of(0, 1, 2)
    for cluster in (first, second):
        create_topic(cluster, "t", (1, 2), (0, 1))
        cluster.crash(0)
        assert cluster.run_until_quiet(LONG_MS)
    assert list(first.journal) == list(second.journal)


def adopted(original: VirtualCluster) -> VirtualCluster:
    """Another cluster that begins where this one is, with nothing but its values."""
    cluster = VirtualCluster(original.assumptions, original.zookeeper)
    for broker in original.brokers:
        process = original.process(broker)
        cluster.adopt(process.broker, process.session, process.controller, plain_registration(broker))
    return cluster


def test_adopted_brokers_live_on_as_if_nothing_had_happened() -> None:
    original = cluster_of(0, 1, 2)
    create_topic(original, "t", (1, 2), (2, 1))
    cluster = adopted(original)
    assert cluster.at_rest
    assert cluster.controllers == (0,)
    for each in (original, cluster):
        each.crash(1)
        assert each.run_until_quiet(LONG_MS)
        boot(each, 1)
    for partition in (0, 1):
        assert state(cluster, "t", partition) == state(original, "t", partition)
    assert cluster.process(2).broker.leads(TopicPartition("t", 1)) is not None


def test_an_adopted_controller_that_dies_is_succeeded() -> None:
    cluster = adopted(cluster_of(0, 1, 2))
    cluster.crash(0)
    assert cluster.run_until_quiet(LONG_MS)
    assert [record.epoch for record in records(cluster, journal.ControllerElected)] == [2]
    assert cluster.controllers in ((1,), (2,))


def test_an_adopted_broker_needs_its_session() -> None:
    original = cluster_of(0)
    process = original.process(0)
    cluster = VirtualCluster()
    with pytest.raises(ValueError, match="broker 0 has no session"):
        cluster.adopt(process.broker, 99, process.controller, plain_registration(0))
