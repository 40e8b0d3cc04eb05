"""Which ISRs leaders ask for, and what they make of the answers."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.events import AlterPartitionReceived, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.requests import LeaderAndIsrRequest, PartitionToServe
from model.hosts.virtual.isr_changes import answered, asked, proposals, unanswered
from model.hosts.virtual.virtual_broker import VirtualBroker, receive

T0 = TopicPartition("t", 0)


def told(broker: int, epoch: int, isr: tuple[int, ...]) -> VirtualBroker:
    """A broker that was told that broker 1 leads."""
    state = LeaderAndIsr(1, epoch, isr, partition_epoch=4)
    entry = PartitionToServe(T0, state, 1, ReplicaAssignment((1, 2, 3)), is_new=False)
    request = LeaderAndIsrRequest(0, 1, (entry,), (1,), ())
    return receive(VirtualBroker(broker, epoch=9, live_brokers=(1, 2, 3)), request, 9)[0]


def cluster(isr: tuple[int, ...], *followers: VirtualBroker) -> tuple[VirtualBroker, dict[int, VirtualBroker]]:
    return told(1, 0, isr), {follower.id: follower for follower in followers}


def test_followers_in_this_leader_epoch_join_one_by_one_at_the_end() -> None:
    leader, peers = cluster((1,), told(2, 0, (1,)), told(3, 0, (1,)))
    assert proposals(leader, peers.get) == (ProposedIsr(T0, 0, 4, (1, 2)),)


def test_nobody_joins_who_cannot_be_reached_follows_another_epoch_or_is_not_known_to_be_live() -> None:
    leader, peers = cluster((1, 3), told(2, 1, (1, 3)))
    assert proposals(leader, peers.get) == ()
    assert proposals(leader, {}.get) == ()
    leader, peers = cluster((1, 3), told(2, 0, (1, 3)))
    assert proposals(leader.replace(live_brokers=(1, 3)), peers.get) == ()


def test_who_lags_leaves_but_never_the_leader_itself() -> None:
    leader, peers = cluster((2, 1, 3), told(2, 0, (2, 1, 3)), told(3, 0, (2, 1, 3)))
    assert proposals(leader, peers.get, {1, 2, 3}) == (ProposedIsr(T0, 0, 4, (1,)),)
    assert proposals(leader, peers.get, {3}) == (ProposedIsr(T0, 0, 4, (2, 1)),)


def test_one_change_of_a_partition_at_a_time() -> None:
    leader, peers = cluster((1,), told(2, 0, (1,)))
    wanted = proposals(leader, peers.get)
    waiting = asked(leader, wanted)
    assert proposals(waiting, peers.get) == ()
    request = AlterPartitionReceived(request=1, broker=1, broker_epoch=9, proposals=wanted)
    assert unanswered(waiting, request) == leader


@pytest.mark.parametrize(
    ("error", "asks_again"),
    [
        ("INELIGIBLE_REPLICA", True),
        ("OPERATION_NOT_ATTEMPTED", True),
        ("INVALID_UPDATE_VERSION", False),
        ("FENCED_LEADER_EPOCH", False),
        ("NOT_CONTROLLER", False),
    ],
)
def test_a_leader_that_is_out_of_date_waits_to_be_told(error: str, asks_again: bool) -> None:
    leader, peers = cluster((1,), told(2, 0, (1,)))
    wanted = proposals(leader, peers.get)
    request = AlterPartitionReceived(request=1, broker=1, broker_epoch=9, proposals=wanted)
    answer = AnswerRequest(1, partitions=(PartitionOutcome(T0, error),))
    after = answered(asked(leader, wanted), request, answer)
    assert bool(proposals(after, peers.get)) == asks_again
    assert after.replicas is leader.replicas


def test_a_success_is_remembered_and_the_next_follower_comes_under_its_version() -> None:
    leader, peers = cluster((1,), told(2, 0, (1,)), told(3, 0, (1,)))
    wanted = proposals(leader, peers.get)
    request = AlterPartitionReceived(request=1, broker=1, broker_epoch=9, proposals=wanted)
    state = LeaderAndIsr(1, 0, (1, 2), partition_epoch=5)
    after = answered(asked(leader, wanted), request, AnswerRequest(1, partitions=(PartitionOutcome(T0, state=state),)))
    assert proposals(after, peers.get) == (ProposedIsr(T0, 0, 5, (1, 2, 3)),)


def test_a_refusal_as_a_whole_is_asked_again() -> None:
    leader, peers = cluster((1,), told(2, 0, (1,)))
    wanted = proposals(leader, peers.get)
    request = AlterPartitionReceived(request=1, broker=1, broker_epoch=9, proposals=wanted)
    assert answered(asked(leader, wanted), request, AnswerRequest(1, "NOT_CONTROLLER")) == leader
