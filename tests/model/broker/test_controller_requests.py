"""What a broker does about a controller's requests (Kafka's ReplicaManagerTest, BrokerEpochIntegrationTest)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from model.broker.commands import (
    AssignTopicId,
    Command,
    CreateLog,
    DeleteLog,
    StartFetching,
    StartLeaderEpoch,
    StopFetching,
)
from model.broker.controller_requests import (
    BrokerEpochs,
    Replicas,
    RequestOutcome,
    lose_log_dir,
    serve_leader_and_isr,
    serve_stop_replica,
    with_storage_errors,
)
from model.broker.partition import Conditions, LogPositions, Partition
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    LeaderAndIsrRequest,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
)
from tests.model.broker.partitions import NAME, at, follower_of, leader_of, log_to, order

OTHER = TopicPartition("orders", 1)
STANDING = BrokerEpochs(broker=1, broker_epoch=40, controller_epoch=7)


def serve(
    *told: PartitionToServe,
    held: Mapping[TopicPartition, Partition] | None = None,
    offline: frozenset[TopicPartition] = frozenset(),
    logs: Mapping[TopicPartition, LogPositions] | None = None,
    topic_id: str | None = None,
    broker_epoch: int = 40,
    controller_epoch: int = 7,
    epochs: BrokerEpochs = STANDING,
    conditions: Conditions | None = None,
) -> RequestOutcome:
    request = LeaderAndIsrRequest(9, controller_epoch, told, (), (("orders", topic_id),))
    replicas = Replicas(held or {}, offline, (logs or {}).get)
    return serve_leader_and_isr(request, broker_epoch, epochs, replicas, lambda _: conditions or at())


def stop(
    *told: PartitionToStop,
    held: Mapping[TopicPartition, Partition] | None = None,
    offline: frozenset[TopicPartition] = frozenset(),
    controller_epoch: int = 7,
    broker_epoch: int = 40,
) -> RequestOutcome:
    request = StopReplicaRequest(9, controller_epoch, told)
    return serve_stop_replica(request, broker_epoch, STANDING, held or {}, offline)


def kinds(served: RequestOutcome) -> list[type[Command]]:
    return [type(command) for command in served.commands]


@pytest.mark.parametrize(
    ("broker_epoch", "error"), [(39, "STALE_BROKER_EPOCH"), (40, "NONE"), (41, "NONE"), (-1, "NONE")]
)
def test_a_request_for_an_earlier_life_is_refused(broker_epoch: int, error: str) -> None:
    assert serve(order(1), broker_epoch=broker_epoch).answer.error == error
    assert stop(PartitionToStop(NAME, 0, True), broker_epoch=broker_epoch).answer.error == error


def test_a_request_of_an_earlier_controller_is_refused_and_changes_nothing() -> None:
    served = serve(order(1), controller_epoch=6)
    assert served == RequestOutcome(
        BrokerAnswer("STALE_CONTROLLER_EPOCH"),
        STANDING,
        reasons=("A request of controller epoch 6 is refused: 7 rules.",),
    )
    assert stop(PartitionToStop(NAME, 0, True), controller_epoch=6).commands == ()


def test_the_newest_controller_epoch_is_remembered() -> None:
    assert serve(order(1), controller_epoch=8).epochs.controller_epoch == 8
    assert stop(controller_epoch=9).epochs.controller_epoch == 9


def test_a_new_partition_gets_its_log_and_its_leader() -> None:
    served = serve(order(1, is_new=True), topic_id="id-1")
    assert served.answer == BrokerAnswer()
    assert served.commands == (
        CreateLog(NAME, "id-1", True),
        StopFetching(NAME),
        StartLeaderEpoch(NAME, 0, 0),
    )
    assert served.changed[0].leads
    assert served.changed[0].topic_id == "id-1"


def test_a_follower_starts_fetching() -> None:
    served = serve(order(2), logs={NAME: log_to(5, (0, 0))})
    assert kinds(served) == [StopFetching, StartFetching]
    assert not served.changed[0].leads


def test_on_its_way_down_it_follows_nobody() -> None:
    leaving = msgspec.structs.replace(STANDING, shutting_down=True)
    served = serve(order(2), logs={NAME: log_to(5)}, epochs=leaving)
    assert kinds(served) == [StopFetching]
    assert served.changed[0].state.leader == 2


@pytest.mark.parametrize("leader", [2, -1])
def test_a_leader_that_is_not_live_is_not_followed_but_the_log_is_made(leader: int) -> None:
    alone = msgspec.structs.replace(at(), live_brokers=frozenset({1}))
    served = serve(order(leader, 3), conditions=alone)
    assert served.answer == BrokerAnswer()
    assert kinds(served) == [CreateLog]
    # So the same order holds again once the leader is known.
    again = serve(order(leader, 3), held={NAME: served.changed[0]}, logs={NAME: log_to(0)}, conditions=alone)
    assert again.answer == BrokerAnswer()
    assert served.reasons == (
        f"orders-0: broker {leader} cannot be followed, it is not live: the next LeaderAndIsr decides.",
    )


@pytest.mark.parametrize(
    ("leader_epoch", "error"), [(2, "STALE_CONTROLLER_EPOCH"), (3, "STALE_CONTROLLER_EPOCH"), (4, None)]
)
def test_only_a_newer_leader_epoch_changes_a_partition(leader_epoch: int, error: str | None) -> None:
    log = log_to(5, (3, 0))
    held = {NAME: leader_of(log, leader_epoch=3)}
    served = serve(order(2, leader_epoch), held=held, logs={NAME: log})
    assert dict(served.answer.partition_errors).get(NAME) == error
    assert bool(served.changed) == (error is None)
    # A controller that has taken over repeats what holds: that is no news.
    assert served.reasons[:1] == {
        2: ("orders-0: LeaderAndIsr refused, because leader epoch 2 is older than 3, which holds here.",),
        3: (),
        4: ("orders-0: broker 1 follows broker 2 in epoch 4.",),
    }.get(leader_epoch)


def test_each_partition_has_its_own_error() -> None:
    log = log_to(5)
    served = serve(
        order(1, 0),
        order(1, 0, partition=OTHER),
        order(2, 0, replicas=(2, 3), partition=TopicPartition("orders", 2)),
        held={NAME: leader_of(log)},
        offline=frozenset({OTHER}),
        logs={NAME: log},
    )
    assert served.answer.error == "NONE"
    assert served.answer.partition_errors == (
        (NAME, "STALE_CONTROLLER_EPOCH"),
        (OTHER, "KAFKA_STORAGE_ERROR"),
        (TopicPartition("orders", 2), "UNKNOWN_TOPIC_OR_PARTITION"),
    )
    assert served.reasons == (
        "orders-1: LeaderAndIsr refused, because its log dir has failed.",
        "orders-2: LeaderAndIsr refused, because broker 1 is none of its replicas 2,3.",
    )


def test_another_topic_of_the_same_name_is_refused() -> None:
    held = msgspec.structs.replace(leader_of(log_to(5)), topic_id="id-1")
    served = serve(order(1, 1), held={NAME: held}, logs={NAME: log_to(5)}, topic_id="id-2")
    assert served.answer.partition_errors == ((NAME, "INCONSISTENT_TOPIC_ID"),)
    without = serve(order(1, 1, partition_epoch=1), held={NAME: held}, logs={NAME: log_to(5)})
    assert without.answer == BrokerAnswer()
    assert without.changed[0].topic_id == "id-1"


def test_after_a_restart_the_id_of_the_topic_is_the_one_on_disk() -> None:
    on_disk = msgspec.structs.replace(log_to(5), topic_id="id-1")
    refused = serve(order(1, 1), logs={NAME: on_disk}, topic_id="id-2")
    assert refused.answer.partition_errors == ((NAME, "INCONSISTENT_TOPIC_ID"),)
    assert refused.reasons == (
        "orders-0: LeaderAndIsr refused, because the controller says topic id id-2 and the log here has id-1.",
    )
    assert serve(order(1, 1), logs={NAME: on_disk}).changed[0].topic_id == "id-1"
    without = serve(order(1, 1), logs={NAME: log_to(5)}, topic_id="id-1")
    assert without.commands[0] == AssignTopicId(NAME, "id-1")


def test_an_upgraded_controller_gives_a_topic_its_id_without_a_new_epoch() -> None:
    held = {NAME: leader_of(log_to(5))}
    served = serve(order(1, 0), held=held, logs={NAME: log_to(5)}, topic_id="id-1")
    assert served.answer == BrokerAnswer()
    assert served.commands == (AssignTopicId(NAME, "id-1"),)
    assert served.changed == (msgspec.structs.replace(held[NAME], topic_id="id-1"),)


@pytest.mark.parametrize(
    ("leader_epoch", "error"), [(-2, None), (-1, None), (2, "FENCED_LEADER_EPOCH"), (3, None), (4, None)]
)
def test_a_replica_is_stopped_by_an_epoch_that_is_not_older(leader_epoch: int, error: str | None) -> None:
    held = {NAME: follower_of(2, log_to(5), broker=1, leader_epoch=3)}
    served = stop(PartitionToStop(NAME, leader_epoch, True), held=held)
    assert dict(served.answer.partition_errors).get(NAME) == error
    assert kinds(served) == ([StopFetching, DeleteLog] if error is None else [])
    assert served.removed == ((NAME,) if error is None else ())
    assert served.reasons == (
        ("orders-0: its log is deleted.",)
        if error is None
        else ("orders-0: StopReplica refused, because leader epoch 2 is older than 3, which holds here.",)
    )


def test_a_replica_that_is_only_stopped_is_kept() -> None:
    held = {NAME: follower_of(2, log_to(5), broker=1)}
    served = stop(PartitionToStop(NAME, 0, False), held=held)
    assert kinds(served) == [StopFetching]
    assert served.removed == ()


def test_an_unknown_replica_is_deleted_and_an_offline_one_is_not() -> None:
    served = stop(PartitionToStop(NAME, 0, True), PartitionToStop(OTHER, 0, True), offline=frozenset({OTHER}))
    assert served.answer.partition_errors == ((OTHER, "KAFKA_STORAGE_ERROR"),)
    assert served.commands == (StopFetching(NAME), DeleteLog(NAME))
    assert served.removed == ()


def test_a_failed_log_dir_takes_its_partitions_with_it() -> None:
    held = {NAME: leader_of(log_to(5))}
    lost = lose_log_dir({NAME, OTHER}, held, frozenset({OTHER}))
    assert lost.offline == {NAME, OTHER}
    assert lost.removed == (NAME,)
    assert lost.commands == (StopFetching(NAME),)
    answer = with_storage_errors(BrokerAnswer(partition_errors=((OTHER, "STALE_CONTROLLER_EPOCH"),)), {NAME})
    assert dict(answer.partition_errors) == {OTHER: "STALE_CONTROLLER_EPOCH", NAME: "KAFKA_STORAGE_ERROR"}


def test_what_a_failed_log_dir_had_is_told_in_order() -> None:
    names = [TopicPartition("t", number) for number in range(9)]
    lost = lose_log_dir(set(names), {}, frozenset())
    assert [reason.partition(":")[0] for reason in lost.reasons] == [str(name) for name in names]


def test_a_log_that_could_not_be_created_has_that_error_and_no_other() -> None:
    before = BrokerAnswer(partition_errors=((NAME, "NONE"), (OTHER, "STALE_CONTROLLER_EPOCH")))
    assert with_storage_errors(before, {NAME}).partition_errors == (
        (OTHER, "STALE_CONTROLLER_EPOCH"),
        (NAME, "KAFKA_STORAGE_ERROR"),
    )
