"""What a broker's answer to StopReplica sets off: copies that it names count, a refusal of the whole names none."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.context import Activity
from model.controller.decide import new_controller, steps_for
from model.controller.events_and_commands import BrokerAnswer, PartitionToStop, RequestAnswered, StopReplicaRequest
from model.controller.generations import ControllerSettings
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica
from model.controller.steps.controller_election import (
    UNREADABLE_EPOCH,
    RaiseEpoch,
    ReadEpoch,
    ReleaseController,
    Resign,
)
from model.controller.steps.deletion import ConfirmDeletions, FailDeletions, ForgetTopic
from model.controller.steps.topics import RestoreAssignment, WriteRestored
from model.controller.topics import Partition, Topic, Topics
from model.zookeeper import Answer, Code, Stat

IN_OFFICE = new_controller(ControllerSettings(broker_id=1)).context.replace(activity=Activity.ACTIVE)
FIRST, SECOND, KEPT = (TopicPartition("orders", number) for number in range(3))
SENT = StopReplicaRequest(
    1, 7, (PartitionToStop(FIRST, -2, True), PartitionToStop(SECOND, -2, True), PartitionToStop(KEPT, 5, False))
)


def copies(*partitions: TopicPartition) -> tuple[PartitionAndReplica, ...]:
    return tuple(PartitionAndReplica(partition, 2) for partition in partitions)


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        (BrokerAnswer(), (ConfirmDeletions(copies(FIRST, SECOND)),)),
        (
            BrokerAnswer(partition_errors=((FIRST, "KAFKA_STORAGE_ERROR"), (SECOND, "NONE"))),
            (FailDeletions(copies(FIRST)), ConfirmDeletions(copies(SECOND))),
        ),
        (BrokerAnswer("STALE_BROKER_EPOCH"), ()),
        (BrokerAnswer("STALE_CONTROLLER_EPOCH"), ()),
        (
            BrokerAnswer("CLUSTER_AUTHORIZATION_FAILED", ((FIRST, "CLUSTER_AUTHORIZATION_FAILED"),)),
            (FailDeletions(copies(FIRST)),),
        ),
    ],
)
def test_an_answer_to_stop_replica(answer: BrokerAnswer, steps: tuple[object, ...]) -> None:
    assert steps_for(RequestAnswered(broker=2, sent=SENT, answer=answer), IN_OFFICE) == steps


def test_nobody_but_the_controller_listens() -> None:
    event = RequestAnswered(broker=2, sent=SENT, answer=BrokerAnswer())
    assert steps_for(event, IN_OFFICE.replace(activity=Activity.INACTIVE)) == ()


def test_an_epoch_that_is_no_number_is_not_raised() -> None:
    """Up to 2.0, where the office was taken before the epoch was read."""
    [then] = ReadEpoch().resume(IN_OFFICE, (Answer(data=b"many"),)).then
    assert then == ReleaseController(UNREADABLE_EPOCH)
    assert ReadEpoch().resume(IN_OFFICE, (Answer(Code.NO_NODE),)).then == (RaiseEpoch(1, None),)
    stat = Stat(version=4)
    assert ReadEpoch().resume(IN_OFFICE, (Answer(data=b"7", stat=stat),)).then == (RaiseEpoch(8, 4),)


def test_what_was_added_to_a_topic_that_is_being_deleted_is_taken_out_again() -> None:
    assigned = {number: Partition(ReplicaAssignment((1,))) for number in range(3)}
    context = IN_OFFICE.replace(topics=Topics({"orders": Topic(None, assigned)}))
    found = RestoreAssignment("orders").resume(context, (Answer(names=("0", "2")),))
    assert found.then == (WriteRestored("orders", {0: ReplicaAssignment((1,)), 2: ReplicaAssignment((1,))}),)
    assert RestoreAssignment("orders").resume(context, (Answer(Code.NO_NODE),)).then == ()


def test_a_topic_that_is_deleted_is_forgotten_and_others_are_not() -> None:
    other = TopicPartition("kept", 0)
    topic = Topic(None, {0: Partition(ReplicaAssignment((1,)))})
    context = IN_OFFICE.replace(
        topics=Topics({"orders": topic, "kept": topic}), reassigning=frozenset({FIRST, SECOND, other})
    )
    after = ForgetTopic("orders").begin(context).context
    assert (set(after.topics.by_name), after.reassigning) == ({"kept"}, {other})


def test_who_resigns_still_knows_its_own_epoch_the_time_and_who_is_the_controller() -> None:
    context = IN_OFFICE.replace(active_id=2, epoch=5, now_ms=77, broker_epoch=40)
    after = Resign().begin(context).context
    assert (after.active_id, after.now_ms, after.broker_epoch) == (2, 77, 40)
    assert (after.activity, after.epoch) == (Activity.INACTIVE, 0)
