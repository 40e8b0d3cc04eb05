"""Requests are gathered per broker, and what was once said to be new or to be deleted stays so."""

from __future__ import annotations

from model.cluster.ids import TopicPartition
from model.controller.context import RequestBatch
from model.controller.events_and_commands import PartitionToServe, PartitionToStop
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment

T0 = TopicPartition("t", 0)


def serve(epoch: int, is_new: bool) -> PartitionToServe:
    return PartitionToServe(T0, LeaderAndIsr(1, epoch, (1,)), 1, ReplicaAssignment((1, 2)), is_new)


def test_a_newer_state_replaces_an_older_one_but_a_new_partition_stays_new() -> None:
    batch = RequestBatch().serving([(serve(0, True), (1, 2))]).serving([(serve(1, False), (2,))])
    assert batch.serve == {1: {T0: serve(0, True)}, 2: {T0: serve(1, True)}}


def test_a_copy_to_delete_stays_to_delete() -> None:
    batch = RequestBatch().stopping([(PartitionToStop(T0, 3, True), 1)]).stopping([(PartitionToStop(T0, 4, False), 1)])
    assert batch.stop == {1: {T0: PartitionToStop(T0, 4, True)}}


def test_gathering_leaves_the_batch_of_before_as_it_was() -> None:
    before = RequestBatch().serving([(serve(0, True), (1,))])
    before.serving([(serve(1, False), (1, 2))])
    assert before.serve == {1: {T0: serve(0, True)}}


def test_what_one_broker_is_to_serve_is_gathered_as_for_many() -> None:
    for before in (RequestBatch(), RequestBatch().serving([(serve(0, True), (1, 2))])):
        assert before.serving_on(1, {T0: serve(1, False)}) == before.serving([(serve(1, False), (1,))])
