"""When leaders ask for other ISRs, whom, and what comes of it. The rules are tested in `tests.model.broker`."""

from __future__ import annotations

from typing import Any

import pytest

from model.broker.controller_requests import BrokerEpochs
from model.cluster.ids import TopicPartition
from model.controller.decide import new_controller
from model.controller.events_and_commands import (
    AlterPartitionReceived,
    AnswerRequest,
    LeaderAndIsrRequest,
    PartitionOutcome,
    PartitionToServe,
    ProposedIsr,
)
from model.controller.generations import ControllerSettings, generation_of
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.virtual import journal
from model.hosts.virtual.leaders import hear_outcome, look, look_soon
from model.hosts.virtual.scheduled_events import LeaderLooks, TimingAssumptions, perfect
from model.hosts.virtual.virtual_broker import VirtualBroker, receive
from model.hosts.virtual.world import Process, World
from model.zookeeper import Create, SetData
from tests.harness.virtual_cluster import LONG_MS, VirtualCluster, cluster_of, records, state
from tests.harness.virtual_cluster import create_topic as make_topic
from tests.model.controller.golden_trace import by_path
from tests.model.controller.trace_scenarios import create_topic

T0 = TopicPartition("t", 0)
STATE = "/brokers/topics/t/partitions/0/state"


class Ruled:
    """Brokers 1, 2 and 3 of a world without ZooKeeper and controller: both are we. Broker 1 leads `t-0` in epoch 5."""

    def __init__(self, isr: tuple[int, ...], **assumed: Any) -> None:
        self.world = World(TimingAssumptions(**assumed), None, perfect)
        for broker in (1, 2, 3):
            self.tell(broker, isr=isr)

    def tell(self, broker: int, *, isr: tuple[int, ...], epoch: int = 5) -> None:
        before = self.world.processes.get(broker)
        fresh = VirtualBroker(BrokerEpochs(broker, 9), controller=0, live_brokers=(1, 2, 3))
        leads = LeaderAndIsr(1, epoch, isr, partition_epoch=4)
        entry = PartitionToServe(T0, leads, 1, ReplicaAssignment((1, 2, 3)), is_new=False)
        request = LeaderAndIsrRequest(0, 1, (entry,), (1,), ())
        memory, _ = receive(fresh if before is None else before.broker, request, 9, self.world.time_ms)
        process = before or Process(broker, memory, b"", new_controller(ControllerSettings(broker_id=broker)), 0)
        self.world.put(process.replace(broker=memory))

    @property
    def leader(self) -> Process:
        return self.world.processes[1]

    def asked(self) -> list[tuple[int, ...]]:
        """The ISRs that the leader asks for when it looks; each request is answered by `answer` only."""
        mark = len(self.world.journal)
        look(self.world, self.leader, LeaderLooks(1, 1))
        new = [record for record in self.world.journal[mark:] if isinstance(record, journal.ControllerAsked)]
        return [proposal.isr for record in new for proposal in _proposals(record)]

    def answer(self, answer: AnswerRequest | None) -> None:
        sent = [record for record in self.world.journal if isinstance(record, journal.ControllerAsked)][-1]
        assert isinstance(sent.request, AlterPartitionReceived)
        hear_outcome(self.world, self.leader, sent.request, answer)


def _proposals(record: journal.ControllerAsked) -> tuple[ProposedIsr, ...]:
    assert isinstance(record.request, AlterPartitionReceived)
    return record.request.proposals


def test_followers_in_this_leader_epoch_join_one_by_one_at_the_end() -> None:
    ruled = Ruled((1,))
    assert ruled.asked() == [(1, 2)]
    accepted = LeaderAndIsr(1, 5, (1, 2), partition_epoch=5)
    ruled.answer(AnswerRequest(1, partitions=(PartitionOutcome(T0, state=accepted),)))
    assert ruled.asked() == [(1, 2, 3)]


def test_nobody_joins_who_is_gone_paused_cut_off_or_in_another_epoch() -> None:
    ruled = Ruled((1,))
    del ruled.world.processes[3]
    ruled.tell(2, isr=(1,), epoch=6)
    assert ruled.asked() == []
    ruled = Ruled((1, 3))
    ruled.world.put(ruled.world.processes[2].replace(paused=True))
    assert ruled.asked() == []
    ruled = Ruled((1, 3))
    ruled.world.cuts = frozenset({(1, 2)})
    assert ruled.asked() == []


def test_one_change_of_a_partition_at_a_time() -> None:
    ruled = Ruled((1,))
    assert ruled.asked() == [(1, 2)]
    assert ruled.asked() == []


@pytest.mark.parametrize(
    ("error", "again"),
    [
        ("NOT_CONTROLLER", [(1, 2)]),
        ("UNKNOWN_SERVER_ERROR", [(1, 2)]),
        ("INELIGIBLE_REPLICA", [(1, 2)]),
        ("INVALID_UPDATE_VERSION", []),
        ("FENCED_LEADER_EPOCH", []),
    ],
)
def test_an_error_that_is_not_known_for_final_is_asked_again(error: str, again: list[tuple[int, ...]]) -> None:
    """Kafka 3.9.1 does so: see `tests.conformance.test_broker_decisions`."""
    ruled = Ruled((1,))
    ruled.asked()
    ruled.answer(AnswerRequest(1, partitions=(PartitionOutcome(T0, error),)))
    look_soon(ruled.world)
    assert (ruled.leader.looking is not None) == bool(again)
    assert ruled.asked() == again


@pytest.mark.parametrize("answer", [None, AnswerRequest(1, "NOT_CONTROLLER"), AnswerRequest(1)])
def test_what_has_no_answer_is_asked_again(answer: AnswerRequest | None) -> None:
    ruled = Ruled((1,))
    ruled.asked()
    ruled.answer(answer)
    assert ruled.asked() == [(1, 2)]


def test_a_follower_that_falls_silent_leaves_when_it_has_lagged_for_too_long() -> None:
    cluster = cluster_of(0, 1, 2, 3, replica_lag_ms=3_000, catch_up_ms=100)
    make_topic(cluster, "t", (1, 2, 3))
    cut_ms = cluster.now_ms
    cluster.cut(1, 3)
    cluster.run_until(cut_ms + 3_000)
    assert state(cluster, "t").isr == (1, 2, 3)
    assert cluster.run_until_quiet(LONG_MS)
    assert state(cluster, "t").isr == (1, 2)
    cluster.mend(1, 3)
    assert cluster.run_until_quiet(LONG_MS)
    assert state(cluster, "t").isr == (1, 2, 3)


def test_a_new_leader_gives_silent_followers_the_time_that_it_gives_anybody() -> None:
    """Source: `kafka.cluster.Replica.resetReplicaState` (3.9)."""
    cluster = cluster_of(0, 1, 2, 3, replica_lag_ms=5_000, catch_up_ms=100)
    make_topic(cluster, "t", (1, 2, 3))
    cluster.cut(2, 3)  # while nobody cares
    cluster.run_until(cluster.now_ms + 60_000)
    mark = len(cluster.journal)
    cluster.shut_down(1)
    cluster.run_until(cluster.now_ms + 4_900)
    assert (state(cluster, "t").leader, state(cluster, "t").isr) == (2, (2, 3))
    assert cluster.run_until_quiet(LONG_MS)
    assert state(cluster, "t").isr == (2,)
    assert len(list(records(cluster, journal.BrokerStopped, mark))) == 1


# Leaders that write their ISRs themselves, as up to 2.6.


def old_cluster(*brokers: int) -> VirtualCluster:
    cluster = VirtualCluster(generation=generation_of("1.1"), auto_leader_rebalance_enable=False)
    for broker in brokers:
        cluster.start(broker)
    create_topic(cluster, "t", (1, 2))
    return cluster


def test_up_to_3_2_a_leader_takes_in_a_follower_that_nobody_told_it_is_live() -> None:
    """Kafka 1.1.1 does so: see `tests.conformance.test_broker_decisions`."""
    cluster = old_cluster(0, 1, 2)
    cluster.kill(2)
    assert cluster.world.process(1).broker.live_brokers == (0, 1)
    cluster.world.cut(0, 1)
    mark = len(cluster.log)
    cluster.start(2)
    assert cluster.world.process(1).broker.live_brokers == (0, 1)
    assert [write.data["isr"] for write in by_path(cluster.since(mark))[STATE]] == [[1, 2]]


def test_a_write_under_an_old_version_changes_nothing_until_the_controller_speaks_again() -> None:
    cluster = old_cluster(1, 2)
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


def test_the_epoch_in_it_is_that_of_the_controller_that_made_it_the_leader() -> None:
    """Kafka 1.1.1 does so: see `tests.conformance.test_broker_decisions`."""
    cluster = old_cluster(0, 1, 2)
    cluster.kill(2)
    cluster.kill(0)
    cluster.start(2)
    last = by_path(cluster.log)[STATE][-1].data
    assert (last["isr"], last["controller_epoch"]) == ([1, 2], 1)
