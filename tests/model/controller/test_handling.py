"""What a broker's answer to StopReplica sets off: copies that it names count, a refusal of the whole names none."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.context import Activity
from model.controller.decide import new_controller, steps_for
from model.controller.events_and_commands import BrokerAnswer, PartitionToStop, RequestAnswered, StopReplicaRequest
from model.controller.generations import Settings
from model.controller.state_machines import PartitionAndReplica
from model.controller.steps.deletion import ConfirmDeletions, FailDeletions

IN_OFFICE = new_controller(Settings(broker_id=1)).context.replace(activity=Activity.ACTIVE)
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
