"""What goes into requests to brokers, as Kafka's ControllerChannelManagerTest asks for it."""

from __future__ import annotations

from typing import TypeVar

import pytest

from model.cluster.ids import LEADER_DURING_DELETE, TopicPartition
from model.controller.context import BrokerAndEpoch, ControllerContext
from model.controller.events_and_commands import (
    EPOCH_DURING_DELETE,
    NO_EPOCH,
    LeaderAndIsrRequest,
    SendRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.generations import ControllerSettings
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica
from model.controller.steps.broker_requests import send, serve, stop, tell
from model.controller.topics import DeletionQueues, Leadership, Partition, Topic, Topics

T = TypeVar("T")
FOO_0, FOO_1, BAR_1 = TopicPartition("foo", 0), TopicPartition("foo", 1), TopicPartition("bar", 1)


def context_of(*live: int, **changes: object) -> ControllerContext:
    """Two topics with replicas on 1, 2, 3, all led by 1 in epoch 4 but for foo-1, which never had a leader."""
    led = Partition(ReplicaAssignment((1, 2, 3)), Leadership(LeaderAndIsr(1, 4, (1, 2)), 9))
    unled = Partition(ReplicaAssignment((1, 2, 3)))
    topics = Topics({"foo": Topic("foo-id", {0: led, 1: unled}), "bar": Topic(None, {1: led})})
    brokers = {broker: BrokerAndEpoch(100 + broker, b"") for broker in live}
    return ControllerContext(ControllerSettings(broker_id=1), epoch=9, live=brokers, topics=topics).replace(**changes)


def requests(context: ControllerContext, kind: type[T]) -> dict[int, T]:
    """The requests of a kind, by receiver."""
    _, commands = send(context)
    sent = [command for command in commands if isinstance(command, SendRequest)]
    assert all(command.broker_epoch == 100 + command.broker for command in sent)
    return {command.broker: command.request for command in sent if isinstance(command.request, kind)}


def test_leader_and_isr_says_who_is_new_and_who_the_live_leaders_are() -> None:
    context = serve(context_of(1, 2, 3), [(FOO_0, (2,), True), (BAR_1, (2, 3), False)])
    found = requests(context, LeaderAndIsrRequest)
    assert {broker: [(e.partition, e.is_new) for e in request.partitions] for broker, request in found.items()} == {
        2: [(FOO_0, True), (BAR_1, False)],
        3: [(BAR_1, False)],
    }
    assert found[2].live_leaders == (1,)
    assert found[2].topic_ids == (("foo", "foo-id"), ("bar", None))
    assert (found[2].controller, found[2].controller_epoch) == (1, 9)
    assert sorted(requests(context, UpdateMetadataRequest)) == [1, 2, 3]


@pytest.mark.parametrize(("live", "shutting_down"), [((1, 2), ()), ((1, 2), (2,))])
def test_requests_go_to_live_and_shutting_down_brokers_only(
    live: tuple[int, ...], shutting_down: tuple[int, ...]
) -> None:
    context = context_of(*live, shutting_down=frozenset(shutting_down))
    context = serve(context, [(FOO_0, (1, 2, 3), False)])
    context = stop(context, [PartitionAndReplica(FOO_0, broker) for broker in (1, 2, 3)], delete=False)
    for kind in (LeaderAndIsrRequest, UpdateMetadataRequest, StopReplicaRequest):
        assert sorted(requests(context, kind)) == [1, 2]


def test_metadata_leaves_out_who_never_had_a_leader_and_names_offline_replicas() -> None:
    found = requests(tell(context_of(1, 2), [FOO_0, FOO_1]), UpdateMetadataRequest)[1]
    assert [entry.partition for entry in found.partitions] == [FOO_0]
    assert found.partitions[0].offline_replicas == (3,)
    assert found.live_brokers == (1, 2)


def test_metadata_without_partitions_tells_who_is_live() -> None:
    found = requests(tell(context_of(1, 2), []), UpdateMetadataRequest)
    assert {broker: (request.partitions, request.live_brokers) for broker, request in found.items()} == {
        1: ((), (1, 2)),
        2: ((), (1, 2)),
    }


def test_a_topic_that_is_being_deleted_has_leader_minus_two_and_keeps_its_isr() -> None:
    context = context_of(1, deletion=DeletionQueues(queued=frozenset({"foo"})))
    entry = requests(tell(context, [FOO_0]), UpdateMetadataRequest)[1].partitions[0]
    assert (entry.state.leader, entry.state.leader_epoch, entry.state.isr) == (LEADER_DURING_DELETE, 0, (1, 2))


@pytest.mark.parametrize(
    ("partition", "started", "epoch"),
    [(FOO_0, False, 4), (FOO_1, False, NO_EPOCH), (FOO_0, True, EPOCH_DURING_DELETE)],
)
def test_the_leader_epoch_of_a_stop(partition: TopicPartition, started: bool, epoch: int) -> None:
    topics = frozenset({"foo"} if started else ())
    context = context_of(1, deletion=DeletionQueues(queued=topics, started=topics))
    stopped = stop(context, [PartitionAndReplica(partition, 1)], delete=True)
    assert requests(stopped, StopReplicaRequest)[1].partitions[0].leader_epoch == epoch


def test_stops_are_grouped_by_broker_and_a_copy_to_delete_stays_to_delete() -> None:
    context = context_of(1, 2, 3)
    context = stop(context, [PartitionAndReplica(FOO_0, 1), PartitionAndReplica(BAR_1, 1)], delete=True)
    context = stop(context, [PartitionAndReplica(FOO_0, 1), PartitionAndReplica(FOO_0, 2)], delete=False)
    found = requests(context, StopReplicaRequest)
    assert {broker: [(e.partition, e.delete) for e in request.partitions] for broker, request in found.items()} == {
        1: [(FOO_0, True), (BAR_1, True)],
        2: [(FOO_0, False)],
    }


def test_what_was_sent_is_not_sent_again() -> None:
    context, _ = send(serve(context_of(1, 2, 3), [(FOO_0, (2,), True)]))
    assert send(context) == (context, ())
