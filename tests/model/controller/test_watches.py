"""What a watch that fires means to a controller."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.events_and_commands import event_for
from model.zookeeper import EventKind


@pytest.mark.parametrize(
    ("path", "change", "event"),
    [
        ("/controller", EventKind.DELETED, events_and_commands.ControllerZnodeDeleted(at_ms=5)),
        ("/controller", EventKind.CREATED, events_and_commands.ControllerChanged(at_ms=5)),
        ("/brokers/ids", EventKind.CHILDREN_CHANGED, events_and_commands.BrokersChanged(at_ms=5)),
        ("/brokers/ids/7", EventKind.DATA_CHANGED, events_and_commands.BrokerModified(broker=7, at_ms=5)),
        ("/brokers/ids/7", EventKind.DELETED, None),
        ("/brokers/topics/t", EventKind.DATA_CHANGED, events_and_commands.PartitionsModified(topic="t", at_ms=5)),
        ("/brokers/topics/t", EventKind.DELETED, None),
        ("/admin/reassign_partitions", EventKind.CREATED, events_and_commands.ReassignmentZnodeCreated(at_ms=5)),
        ("/admin/reassign_partitions", EventKind.DATA_CHANGED, None),
        (
            "/brokers/topics/t/partitions/3/state",
            EventKind.DATA_CHANGED,
            events_and_commands.ReassignedStateWritten(partition=TopicPartition("t", 3), at_ms=5),
        ),
        ("/somebody/elses", EventKind.DATA_CHANGED, None),
    ],
)
def test_a_watch_stands_for_an_event(path: str, change: EventKind, event: events_and_commands.Event | None) -> None:
    assert event_for(path, change, 5) == event
