"""Leaders that want their ISRs changed, as ControllerIntegrationTest asks for it: writes, requests and answers."""

from __future__ import annotations

import json

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.events_and_commands import AnswerRequest, ProposedIsr
from model.controller.generations import generation_of
from model.zookeeper import SetData
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.trace_scenarios import create_topic

STATE = "/brokers/topics/t/partitions/0/state"
T0 = TopicPartition("t", 0)


def cluster_of_three() -> VirtualCluster:
    """Broker 0 is the controller; 1 leads a partition on all of them."""
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    for broker in range(3):
        cluster.start(broker)
    create_topic(cluster, "t", (1, 2, 0))
    return cluster


def state(cluster: VirtualCluster) -> tuple[int, list[int], int, int]:
    """Leader epoch, ISR, recovery state and version."""
    found = cluster.read(STATE)
    assert found.ok
    payload = json.loads(found.data)
    recovery = payload.get("leader_recovery_state", 0)
    return payload["leader_epoch"], payload["isr"], recovery, found.stat.version


def propose(
    cluster: VirtualCluster,
    *isr: int,
    broker: int = 1,
    older_by: int = 0,
    leader_epoch: int = 0,
    version: int = 0,
    recovering: bool = False,
) -> AnswerRequest:
    live = cluster.nodes[0].controller.context.live.get(broker)
    epoch = 0 if live is None else live.epoch - older_by
    proposal = ProposedIsr(T0, leader_epoch, version, isr, recovering)
    return cluster.ask(
        events_and_commands.AlterPartitionReceived, broker=broker, broker_epoch=epoch, proposals=(proposal,)
    )


def errors(answer: AnswerRequest) -> list[str]:
    return [answer.error, *(outcome.error for outcome in answer.partitions)]


def test_an_isr_is_written_under_the_same_leader_epoch_and_everybody_hears() -> None:
    cluster = cluster_of_three()
    answer = propose(cluster, 1, 2)
    assert errors(answer) == ["NONE", "NONE"]
    assert answer.partitions[0].state is not None
    assert (answer.partitions[0].state.isr, answer.partitions[0].state.partition_epoch) == ((1, 2), 1)
    assert state(cluster) == (0, [1, 2], 0, 1)
    assert [cluster.world.process(broker).broker.metadata[T0].state.isr for broker in range(3)] == [(1, 2)] * 3


def test_what_is_so_already_is_not_written_again() -> None:
    cluster = cluster_of_three()
    mark = len(cluster.log)
    assert errors(propose(cluster, 1, 2, 0)) == ["NONE", "NONE"]
    assert cluster.since(mark) == []


def test_a_broker_that_shuts_down_does_not_join() -> None:
    cluster = cluster_of_three()
    propose(cluster, 1, 0)
    cluster.world.ask(events_and_commands.ControlledShutdownRequested(request=0, broker=2), 0)
    cluster.settle()
    assert errors(propose(cluster, 1, 0, 2, version=1)) == ["NONE", "INELIGIBLE_REPLICA"]


def test_up_to_3_2_nobody_asked_who_is_shutting_down() -> None:
    cluster = VirtualCluster(auto_leader_rebalance_enable=False, generation=generation_of("3.2"))
    for broker in range(3):
        cluster.start(broker)
    create_topic(cluster, "t", (1, 0, 2))
    cluster.world.ask(events_and_commands.ControlledShutdownRequested(request=0, broker=2), 0)
    cluster.settle()
    epoch, isr, _, version = state(cluster)
    assert isr == [1, 0]
    assert errors(propose(cluster, 1, 0, 2, leader_epoch=epoch, version=version)) == ["NONE", "NONE"]
    assert state(cluster)[1] == [1, 0, 2]


def test_only_a_live_broker_in_its_present_life_is_heard() -> None:
    cluster = cluster_of_three()
    assert errors(propose(cluster, 1, 2, older_by=1)) == ["STALE_BROKER_EPOCH"]
    assert errors(propose(cluster, 1, 2, older_by=-1)) == ["STALE_BROKER_EPOCH"]
    assert errors(propose(cluster, 1, 2, broker=99)) == ["STALE_BROKER_EPOCH"]
    assert state(cluster) == (0, [1, 2, 0], 0, 0)


def test_whoever_wrote_in_between_wins() -> None:
    cluster = cluster_of_three()
    payload = b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}'
    cluster.write(SetData(STATE, payload))
    assert errors(propose(cluster, 1, 2)) == ["NONE", "INVALID_UPDATE_VERSION"]
    assert state(cluster) == (0, [1], 0, 1)


def test_after_an_unclean_election_the_leader_recovers_first() -> None:
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    for broker in range(3):
        cluster.start(broker)
    create_topic(cluster, "t", (1, 2), config=b'{"unclean.leader.election.enable":"true"}')
    cluster.kill(2)
    cluster.kill(1)
    cluster.start(2)
    epoch, isr, recovery, version = state(cluster)
    assert (epoch, isr, recovery) == (3, [2], 1)

    def leader_proposes(*isr: int, recovering: bool) -> list[str]:
        now = state(cluster)
        return errors(propose(cluster, *isr, broker=2, leader_epoch=now[0], version=now[3], recovering=recovering))

    assert leader_proposes(2, 1, recovering=True) == ["NONE", "INVALID_REQUEST"]
    assert leader_proposes(2, recovering=False) == ["NONE", "NONE"]
    assert state(cluster) == (3, [2], 0, version + 1)
    assert leader_proposes(2, recovering=True) == ["NONE", "INVALID_REQUEST"]


def test_why_an_isr_is_refused_is_said_and_nothing_where_it_is_not() -> None:
    cluster = cluster_of_three()
    mark = len(cluster.reasons)
    propose(cluster, 1, 2)
    assert not [line for line in cluster.reasons[mark:] if line.startswith("Refused")]
    propose(cluster, 1)
    assert cluster.reasons[-1] == "Refused ISRs of leader 1: t-0 (INVALID_UPDATE_VERSION)."
