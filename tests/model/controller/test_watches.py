"""What a watch that fires means to a controller."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events
from model.controller.events import ZnodeChange, event_for


@pytest.mark.parametrize(
    ("path", "change", "event"),
    [
        ("/controller", ZnodeChange.DELETED, events.ControllerZnodeDeleted(at_ms=5)),
        ("/controller", ZnodeChange.CREATED, events.ControllerChanged(at_ms=5)),
        ("/brokers/ids", ZnodeChange.CHILDREN_CHANGED, events.BrokersChanged(at_ms=5)),
        ("/brokers/ids/7", ZnodeChange.DATA_CHANGED, events.BrokerModified(broker=7, at_ms=5)),
        ("/brokers/ids/7", ZnodeChange.DELETED, None),
        ("/brokers/topics/t", ZnodeChange.DATA_CHANGED, events.PartitionsModified(topic="t", at_ms=5)),
        ("/brokers/topics/t", ZnodeChange.DELETED, None),
        ("/admin/reassign_partitions", ZnodeChange.CREATED, events.ReassignmentZnodeCreated(at_ms=5)),
        ("/admin/reassign_partitions", ZnodeChange.DATA_CHANGED, None),
        (
            "/brokers/topics/t/partitions/3/state",
            ZnodeChange.DATA_CHANGED,
            events.ReassignedStateWritten(partition=TopicPartition("t", 3), at_ms=5),
        ),
        ("/somebody/elses", ZnodeChange.DATA_CHANGED, None),
    ],
)
def test_a_watch_stands_for_an_event(path: str, change: ZnodeChange, event: events.Event | None) -> None:
    assert event_for(path, change, 5) == event
