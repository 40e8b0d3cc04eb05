"""The moves of partitions and replicas with all that they write and send, as Kafka's state machine tests ask for it."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.context import Activity, BrokerAndEpoch, ControllerContext, Step
from model.controller.decide import ControllerState, Decision, decide
from model.controller.elections import ElectionStrategy
from model.controller.events_and_commands import (
    AskZooKeeper,
    LeaderAndIsrRequest,
    SendRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
    ZooKeeperAnswered,
)
from model.controller.generations import ControllerSettings
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import (
    PARTITIONS,
    REPLICAS,
    IllegalTransition,
    PartitionAndReplica,
    PartitionState,
    ReplicaState,
)
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.replicas import MoveReplicas
from model.controller.topics import Leadership, Partition, Topic, Topics
from model.znodes.topics import LeaderIsrAndControllerEpoch
from model.zookeeper import Answer, Code, Stat
from tests.model.controller.transaction_text import words_of

B, OTHER = 5, 6
"""The broker of Kafka's tests, and the other one."""
T0 = TopicPartition("t", 0)
PATH = "/brokers/topics/t/partitions/0"
EPOCH = 50


class Machines:
    """A controller with one partition, its copies and brokers, and what a move makes it ask and send."""

    def __init__(
        self,
        *replicas: int,
        live: tuple[int, ...] = (B, OTHER),
        shutting_down: tuple[int, ...] = (),
        state: PartitionState = PartitionState.ONLINE,
        replica_states: ReplicaState = ReplicaState.ONLINE,
        led: LeaderAndIsr | None = None,
    ) -> None:
        leadership = None if led is None else Leadership(led, EPOCH)
        states = dict.fromkeys(replicas, replica_states)
        partition = Partition(ReplicaAssignment(replicas), leadership, state, states)
        context = ControllerContext(
            ControllerSettings(broker_id=B),
            activity=Activity.ACTIVE,
            active_id=B,
            epoch=EPOCH,
            epoch_version=1,
            live={broker: BrokerAndEpoch(1, b"") for broker in live},
            shutting_down=frozenset(shutting_down),
            topics=Topics({"t": Topic(None, {0: partition})}),
        )
        self.state = ControllerState(context)
        self.asked: list[str] = []
        self.sent: list[SendRequest] = []

    def move(self, step: Step, *answers: tuple[Answer, ...]) -> Machines:
        """Take one step to its end; ZooKeeper gives these answers, question by question."""
        self._hear(
            decide(msgspec.structs.replace(self.state, agenda=(step,)), events_and_commands.TimerFired(timer=""))
        )
        for answer in answers:
            assert self.state.waiting is not None
            self._hear(decide(self.state, ZooKeeperAnswered(question=self.state.waiting.question, answers=answer)))
        assert self.state.idle
        return self

    def _hear(self, decision: Decision) -> None:
        self.state = decision.state
        for command in decision.commands:
            if isinstance(command, AskZooKeeper):
                self.asked += map(words_of, command.requests)
            elif isinstance(command, SendRequest):
                self.sent.append(command)

    @property
    def partition(self) -> Partition:
        found = self.state.context.topics.partition(T0)
        assert found is not None
        return found

    def served(self) -> list[tuple[int, int, int, tuple[int, ...], bool]]:
        """LeaderAndIsr: to whom, leader, leader epoch, ISR, is new."""
        return [
            (command.broker, entry.state.leader, entry.state.leader_epoch, entry.state.isr, entry.is_new)
            for command in self.sent
            if isinstance(command.request, LeaderAndIsrRequest)
            for entry in command.request.partitions
        ]

    def stopped(self) -> list[tuple[int, bool]]:
        """StopReplica: to whom, delete."""
        return [
            (command.broker, entry.delete)
            for command in self.sent
            if isinstance(command.request, StopReplicaRequest)
            for entry in command.request.partitions
        ]

    def told(self) -> list[int]:
        """UpdateMetadata: to whom."""
        return [command.broker for command in self.sent if isinstance(command.request, UpdateMetadataRequest)]


OK = Answer(parts=(Answer(), Answer(stat=Stat(version=0))))


def refused(code: Code) -> Answer:
    """A fenced write that fails."""
    return Answer(code, parts=(Answer(), Answer(code)))


def znode(leader: int, *isr: int, epoch: int = 0, version: int = 0, by: int = EPOCH) -> Answer:
    """What is read."""
    payload = LeaderIsrAndControllerEpoch(controller_epoch=by, leader=leader, leader_epoch=epoch, isr=isr)
    return Answer(data=payload.to_bytes(), stat=Stat(version=version))


def written(version: int) -> Answer:
    return Answer(parts=(Answer(), Answer(stat=Stat(version=version))))


def to_online(strategy: ElectionStrategy = ElectionStrategy.OFFLINE, *, unclean: bool = False) -> MovePartitions:
    return MovePartitions((T0,), PartitionState.ONLINE, strategy, unclean)


# Partitions


def test_new_to_online_creates_the_state_and_tells_the_isr_that_it_is_new() -> None:
    machines = Machines(B, live=(B,), state=PartitionState.NEW).move(to_online(), (OK,), (OK,), (OK,))
    assert machines.asked[-1] == (
        f"multi{{check /controller_epoch v2 ; create[P] {PATH}/state "
        f'{{"controller_epoch":{EPOCH},"leader":{B},"version":1,"leader_epoch":0,"isr":[{B}]}}}}'
    )
    assert machines.served() == [(B, B, 0, (B,), True)]
    assert machines.told() == [B]
    assert machines.partition.state is PartitionState.ONLINE


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([refused(Code.OTHER)], id="ZooKeeper refuses"),
        pytest.param([refused(Code.NODE_EXISTS), znode(B, B, by=EPOCH - 1)], id="another controller was first"),
    ],
)
def test_new_to_online_fails_and_it_stays_new(answers: list[Answer]) -> None:
    machines = Machines(B, live=(B,), state=PartitionState.NEW)
    machines.move(to_online(), (OK,), (OK,), *((answer,) for answer in answers))
    assert machines.partition.state is PartitionState.NEW
    assert machines.sent == []


def test_online_to_online_by_the_preferred_replica() -> None:
    machines = Machines(B, OTHER, led=LeaderAndIsr(OTHER, 0, (OTHER, B)))
    machines.move(to_online(ElectionStrategy.PREFERRED), (znode(OTHER, OTHER, B, version=4),), (written(5),))
    assert len(machines.asked) == 2
    assert machines.served() == [(B, B, 1, (OTHER, B), False), (OTHER, B, 1, (OTHER, B), False)]
    assert machines.partition.leadership == Leadership(LeaderAndIsr(B, 1, (OTHER, B), partition_epoch=5), EPOCH)


def test_online_to_online_as_a_broker_shuts_down() -> None:
    machines = Machines(B, OTHER, shutting_down=(B,), led=LeaderAndIsr(B, 0, (B, OTHER)))
    machines.move(to_online(ElectionStrategy.CONTROLLED_SHUTDOWN), (znode(B, B, OTHER),), (written(1),))
    assert machines.served() == [(B, OTHER, 1, (OTHER,), False), (OTHER, OTHER, 1, (OTHER,), False)]


@pytest.mark.parametrize("answer", [znode(B, B), znode(-1, B, epoch=3)])
def test_offline_to_online(answer: Answer) -> None:
    machines = Machines(B, live=(B,), state=PartitionState.OFFLINE, led=LeaderAndIsr(-1, 0, (B,)))
    machines.move(to_online(), (answer,), (written(1),))
    assert machines.partition.state is PartitionState.ONLINE
    assert machines.partition.leadership is not None
    assert machines.partition.leadership.state.leader == B


def test_offline_to_online_by_an_unclean_election() -> None:
    machines = Machines(B, OTHER, live=(OTHER,), state=PartitionState.OFFLINE, led=LeaderAndIsr(-1, 0, (B,)))
    machines.move(to_online(unclean=True), (znode(-1, B),), (written(1),))
    assert machines.partition.leadership is not None
    assert machines.partition.leadership.state == LeaderAndIsr(OTHER, 1, (OTHER,), recovering=True, partition_epoch=1)


@pytest.mark.parametrize("code", [Code.NO_NODE, Code.OTHER])
def test_without_a_readable_state_it_stays_offline(code: Code) -> None:
    machines = Machines(B, live=(B,), state=PartitionState.OFFLINE, led=LeaderAndIsr(-1, 0, (B,)))
    machines.move(to_online(), (Answer(code),))
    assert machines.partition.state is PartitionState.OFFLINE
    assert machines.sent == []


@pytest.mark.parametrize(("source", "target"), list(product(PartitionState, PartitionState)))
def test_every_other_move_of_a_partition_is_memory_only_or_none(source: PartitionState, target: PartitionState) -> None:
    if target is PartitionState.ONLINE and source is not PartitionState.NON_EXISTENT:
        return
    legal = not isinstance(PARTITIONS.action(source, target), IllegalTransition)
    machines = Machines(B, state=source, led=LeaderAndIsr(B, 0, (B,))).move(MovePartitions((T0,), target))
    assert machines.partition.state is (target if legal else source)
    assert machines.asked == []
    assert machines.sent == []


# Replicas


def to_state(target: ReplicaState, broker: int = B) -> MoveReplicas:
    return MoveReplicas((PartitionAndReplica(T0, broker),), target)


@pytest.mark.parametrize(("source", "target"), list(product(ReplicaState, ReplicaState)))
def test_every_move_of_a_replica(source: ReplicaState, target: ReplicaState) -> None:
    """All 49 of a copy that neither leads nor is in the ISR: legal ones are made, others leave everything as it was."""
    legal = not isinstance(REPLICAS.action(source, target), IllegalTransition)
    machines = Machines(B, OTHER, replica_states=source, led=LeaderAndIsr(OTHER, 0, (OTHER,)))
    machines.move(to_state(target), *([(znode(OTHER, OTHER),)] if legal and target is ReplicaState.OFFLINE else []))
    if not legal:
        assert machines.partition.replica_state(B) is source
        assert machines.sent == []
        return
    assert machines.partition.replica_state(B) is target
    refreshed = target is ReplicaState.ONLINE and source is not ReplicaState.NEW
    expected = {
        ReplicaState.NEW: [(B, OTHER, 0, (OTHER,), True)],
        ReplicaState.ONLINE: [(B, OTHER, 0, (OTHER,), False)] if refreshed else [],
        ReplicaState.OFFLINE: [(OTHER, OTHER, 0, (OTHER,), False)],
    }
    assert machines.served() == expected.get(target, [])
    stops = {ReplicaState.OFFLINE: [(B, False)], ReplicaState.DELETION_STARTED: [(B, True)]}
    assert machines.stopped() == stops.get(target, [])
    assert (B in machines.partition.assignment.replicas) == (target is not ReplicaState.NON_EXISTENT)


def test_a_leader_that_goes_offline_leaves_leadership_and_isr() -> None:
    machines = Machines(B, OTHER, led=LeaderAndIsr(B, 0, (B, OTHER)))
    machines.move(to_state(ReplicaState.OFFLINE), (znode(B, B, OTHER, version=2),), (written(3),))
    assert machines.asked[-1] == (
        f"multi{{check /controller_epoch v2 ; set {PATH}/state v3 "
        f'{{"controller_epoch":{EPOCH},"leader":-1,"version":1,"leader_epoch":1,"isr":[{OTHER}]}}}}'
    )
    assert machines.stopped() == [(B, False)]
    assert machines.served() == [(OTHER, -1, 1, (OTHER,), False)]


def test_a_leader_is_not_started_as_a_new_replica() -> None:
    machines = Machines(B, replica_states=ReplicaState.NON_EXISTENT, led=LeaderAndIsr(B, 0, (B,)))
    machines.move(to_state(ReplicaState.NEW))
    assert machines.partition.replica_state(B) is ReplicaState.NON_EXISTENT
    assert machines.sent == []


def test_a_new_replica_that_is_not_assigned_yet_is_appended_once_online() -> None:
    machines = Machines(OTHER, led=LeaderAndIsr(OTHER, 0, (OTHER,)))
    machines.move(to_state(ReplicaState.NEW)).move(to_state(ReplicaState.ONLINE))
    assert machines.partition.assignment.replicas == (OTHER, B)


def test_without_a_leader_an_offline_replica_is_only_stopped_and_all_are_told_of_the_brokers() -> None:
    machines = Machines(B, OTHER).move(to_state(ReplicaState.OFFLINE))
    assert machines.stopped() == [(B, False)]
    assert machines.told() == [B, OTHER]
    assert machines.asked == []


def test_a_state_that_was_written_in_between_is_read_again() -> None:
    machines = Machines(B, OTHER, led=LeaderAndIsr(OTHER, 0, (OTHER, B)))
    conflict = refused(Code.BAD_VERSION)
    machines.move(
        to_state(ReplicaState.OFFLINE),
        (znode(OTHER, OTHER, B, version=1),),
        (conflict,),
        (znode(OTHER, B, OTHER, version=2),),
        (written(3),),
    )
    assert machines.served() == [(OTHER, OTHER, 1, (OTHER,), False)]
