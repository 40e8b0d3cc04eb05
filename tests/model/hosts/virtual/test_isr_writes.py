"""Leaders that write their ISRs themselves, as up to 2.6."""

from __future__ import annotations

from model.controller.generations import generation_of
from model.hosts.memory_zookeeper.operations import Create, SetData
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import create_topic
from tests.model.controller.virtual_cluster import VirtualCluster

STATE = "/brokers/topics/t/partitions/0/state"


def test_a_write_under_an_old_version_is_given_up_until_the_controller_speaks_again() -> None:
    cluster = VirtualCluster(generation=generation_of("1.1"), auto_leader_rebalance_enable=False)
    for broker in (1, 2):
        cluster.start(broker)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    cluster.write(SetData(STATE, b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":1,"isr":[1]}'))
    mark = len(cluster.log)
    cluster.start(2)
    assert "error -103" in cluster.since(mark)
    assert not [path for path in by_path(cluster.since(mark)) if path in (STATE, "/isr_change_notification")]
    election = b'{"version":1,"partitions":[{"topic":"t","partition":0}]}'
    cluster.write(Create("/admin/preferred_replica_election", election))
    written = [(write.data["leader_epoch"], write.data["isr"]) for write in by_path(cluster.since(mark))[STATE]]
    assert written == [(2, [1]), (2, [1, 2])]


def test_the_epoch_in_it_is_that_of_the_controller_that_spoke_last() -> None:
    cluster = VirtualCluster(generation=generation_of("1.1"), auto_leader_rebalance_enable=False)
    for broker in (0, 1, 2):
        cluster.start(broker)
    create_topic(cluster, "t", (1, 2))
    cluster.kill(2)
    cluster.kill(0)
    cluster.start(2)
    last = by_path(cluster.log)[STATE][-1].data
    assert (last["isr"], last["controller_epoch"]) == ([1, 2], 2)
