"""What a broker in a virtual cluster keeps of what was decided. The decisions are tested in `tests.model.broker`."""

from __future__ import annotations

from model.broker.controller_requests import BrokerEpochs
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.virtual.virtual_broker import VirtualBroker, lose, receive

T0 = TopicPartition("t", 0)
EPOCH = 7


def serve(
    leader: int, epoch: int, isr: tuple[int, ...] = (1, 2), topic_id: str | None = "id", controller_epoch: int = 1
) -> LeaderAndIsrRequest:
    state = LeaderAndIsr(leader, epoch, isr, partition_epoch=epoch)
    entry = PartitionToServe(T0, state, controller_epoch, ReplicaAssignment((1, 2)), is_new=False)
    return LeaderAndIsrRequest(0, controller_epoch, (entry,), (leader,), (("t", topic_id),))


def know(*live: int, leader: int = 1, epoch: int = 0) -> UpdateMetadataRequest:
    entry = PartitionToKnow(T0, LeaderAndIsr(leader, epoch, (1, 2)), 1, (1, 2), ())
    return UpdateMetadataRequest(0, 1, (entry,), live, ())


def stop(epoch: int, *, delete: bool = False) -> StopReplicaRequest:
    return StopReplicaRequest(0, 1, (PartitionToStop(T0, epoch, delete),))


def broker(*requests: BrokerRequest) -> VirtualBroker:
    """Broker 1, once it was told these."""
    told = VirtualBroker(BrokerEpochs(1, EPOCH), live_brokers=(1, 2))
    for request in requests:
        told, answer = receive(told, request, EPOCH, 0)
        assert answer == BrokerAnswer()
    return told


def test_a_request_that_is_refused_changes_nothing() -> None:
    before = broker(know(1, 2), serve(1, 1, controller_epoch=3))
    other_life = receive(before, serve(2, 2, controller_epoch=3), EPOCH - 1, 0)
    assert other_life == (before, BrokerAnswer("STALE_BROKER_EPOCH"))
    for request in (know(1), stop(1), serve(2, 2)):
        assert receive(before, request, EPOCH, 0) == (before, BrokerAnswer("STALE_CONTROLLER_EPOCH"))
    after, answer = receive(before, serve(2, 1, controller_epoch=3), EPOCH, 0)
    assert answer.partition_errors == ((T0, "STALE_CONTROLLER_EPOCH"),)
    assert after == before


def test_a_topic_id_that_comes_with_the_same_leader_epoch_is_taken() -> None:
    """Kafka 3.9.1 answers so: see `tests.conformance.test_broker_decisions`."""
    upgraded = broker(serve(1, 1, topic_id=None), serve(1, 1))
    found = upgraded.leads(T0)
    assert found is not None
    assert (found.topic_id, found.state.leader_epoch) == ("id", 1)


def test_a_copy_that_is_stopped_keeps_its_role_and_is_gone_when_it_is_deleted() -> None:
    assert broker(serve(1, 1), stop(1)).leads(T0) is not None
    assert broker(serve(1, 1), stop(1, delete=True)).held.get(T0) is None
    assert broker(stop(1, delete=True)).held.get(T0) is None


def test_only_what_is_followed_is_fetched() -> None:
    following = broker(serve(2, 1))
    fetched = following.fetched.get(T0)
    assert fetched is not None
    assert (fetched.leader, fetched.leader_epoch) == (2, 1)
    for request in (stop(1), stop(1, delete=True), serve(1, 2)):
        assert receive(following, request, EPOCH, 0)[0].fetched.get(T0) is None
    leaving = following.with_epochs(shutting_down=True)
    assert receive(leaving, serve(2, 2), EPOCH, 0)[0].fetched.get(T0) is None


def test_a_broken_log_dir_takes_its_copies_with_it() -> None:
    after = lose(broker(serve(2, 1)), [T0])
    assert (after.held.get(T0), after.fetched.get(T0)) == (None, None)
    for request in (serve(1, 2), stop(2)):
        assert receive(after, request, EPOCH, 0)[1].partition_errors == ((T0, "KAFKA_STORAGE_ERROR"),)


def test_metadata_adds_up_but_for_live_brokers_and_for_what_is_deleted() -> None:
    told = broker(know(1, 2), know(1, leader=2, epoch=1))
    assert (told.live_brokers, told.controller) == ((1,), 0)
    assert told.metadata[T0].state.leader == 2
    assert broker(know(1, 2), know(1, 2, leader=-2)).metadata == {}


def test_leaders_know_whose_isr_is_not_complete() -> None:
    assert broker(serve(1, 0)).joinable == frozenset()
    assert broker(serve(1, 0, isr=(1,))).joinable == {T0}
    assert broker(serve(1, 0, isr=(1,)), serve(2, 1)).joinable == frozenset()
    assert broker(serve(1, 0, isr=(1,)), stop(0, delete=True)).joinable == frozenset()
