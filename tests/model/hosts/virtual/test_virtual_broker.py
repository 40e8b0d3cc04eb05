"""What a broker does with what a controller tells it: Kafka's checks, in Kafka's order."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.requests import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.virtual.virtual_broker import VirtualBroker, receive

T0 = TopicPartition("t", 0)
EPOCH = 7


def serve(leader: int, epoch: int, isr: tuple[int, ...] = (1, 2), controller_epoch: int = 1) -> LeaderAndIsrRequest:
    state = LeaderAndIsr(leader, epoch, isr, partition_epoch=epoch)
    entry = PartitionToServe(T0, state, controller_epoch, ReplicaAssignment((1, 2)), is_new=False)
    return LeaderAndIsrRequest(0, controller_epoch, (entry,), (leader,), (("t", "id"),))


def know(*live: int, leader: int = 1, epoch: int = 0) -> UpdateMetadataRequest:
    entry = PartitionToKnow(T0, LeaderAndIsr(leader, epoch, (1, 2)), 1, (1, 2), ())
    return UpdateMetadataRequest(0, 1, (entry,), live, ())


def stop(epoch: int, *, delete: bool = False) -> StopReplicaRequest:
    return StopReplicaRequest(0, 1, (PartitionToStop(T0, epoch, delete),))


def broker(*requests: BrokerRequest) -> VirtualBroker:
    """Broker 1, once it was told these."""
    told = VirtualBroker(1, epoch=EPOCH, live_brokers=(1, 2))
    for request in requests:
        told, answer = receive(told, request, EPOCH)
        assert answer == BrokerAnswer()
    return told


def test_a_request_for_the_process_before_this_one_is_refused() -> None:
    before = broker()
    assert receive(before, serve(1, 0), EPOCH - 1) == (before, BrokerAnswer("STALE_BROKER_EPOCH"))
    after, answer = receive(before, serve(1, 0), EPOCH + 1)
    assert answer == BrokerAnswer()
    assert after.leads(T0) is not None


def test_a_controller_of_an_older_epoch_is_refused() -> None:
    before = broker(serve(1, 0, controller_epoch=3))
    assert receive(before, stop(0), EPOCH) == (before, BrokerAnswer("STALE_CONTROLLER_EPOCH"))


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_leader_epoch_that_is_not_newer_is_refused_and_changes_nothing(epoch: int) -> None:
    before = broker(serve(1, 1))
    after, answer = receive(before, serve(2, epoch), EPOCH)
    assert answer.partition_errors == ((T0, "STALE_CONTROLLER_EPOCH"),)
    assert after == before


def test_a_leader_that_is_not_known_to_be_live_is_not_followed() -> None:
    after = broker(serve(9, 0))
    assert after.replicas.get(T0) is None


def test_another_topic_of_the_same_name_is_refused() -> None:
    request = serve(1, 5)
    other = LeaderAndIsrRequest(0, 1, request.partitions, request.live_leaders, (("t", "another id"),))
    _, answer = receive(broker(serve(1, 0)), other, EPOCH)
    assert answer.partition_errors == ((T0, "INCONSISTENT_TOPIC_ID"),)


def test_a_broken_log_dir_and_somebody_elses_partition() -> None:
    _, answer = receive(broker().replace(failed=frozenset({T0})), serve(1, 0), EPOCH)
    assert answer.partition_errors == ((T0, "KAFKA_STORAGE_ERROR"),)
    _, answer = receive(VirtualBroker(3, epoch=EPOCH, live_brokers=(1, 2, 3)), serve(1, 0), EPOCH)
    assert answer.partition_errors == ((T0, "UNKNOWN_TOPIC_OR_PARTITION"),)


@pytest.mark.parametrize(("epoch", "error"), [(0, "FENCED_LEADER_EPOCH"), (1, None), (2, None), (-1, None), (-2, None)])
def test_a_stop_needs_the_leader_epoch_or_a_reason_to_do_without(epoch: int, error: str | None) -> None:
    after, answer = receive(broker(serve(1, 1)), stop(epoch), EPOCH)
    assert answer.partition_errors == (((T0, error),) if error else ())
    assert (after.leads(T0) is None) == (error is None)


def test_a_copy_is_kept_when_it_is_stopped_and_gone_when_it_is_deleted() -> None:
    assert broker(serve(1, 1), stop(1)).replicas.get(T0) is not None
    assert broker(serve(1, 1), stop(1, delete=True)).replicas.get(T0) is None
    assert broker(stop(1, delete=True)).replicas.get(T0) is None


def test_metadata_adds_up_but_for_live_brokers_and_for_what_is_deleted() -> None:
    told = broker(know(1, 2), know(1, leader=2, epoch=1))
    assert told.live_brokers == (1,)
    assert told.metadata[T0].state.leader == 2
    assert broker(know(1, 2), know(1, 2, leader=-2)).metadata == {}


def test_leaders_know_whose_isr_is_not_complete() -> None:
    assert broker(serve(1, 0)).behind == frozenset()
    assert broker(serve(1, 0, isr=(1,))).behind == {T0}
    assert broker(serve(1, 0, isr=(1,)), serve(2, 1)).behind == frozenset()
