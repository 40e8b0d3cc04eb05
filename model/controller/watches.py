"""What a ZooKeeper watch that fires means to a controller. A table: hosts look up, and decide nothing.

Source: the ZNodeChangeHandlers and ZNodeChildChangeHandlers of `kafka.controller.KafkaController` (3.9). Deletions
other than that of `/controller` mean nothing: whoever waits for a znode to appear looks again by itself.
"""

from enum import Enum

from model.cluster.ids import TopicPartition
from model.controller import events, zookeeper
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import recognise


class ZnodeChange(Enum):
    """`org.apache.zookeeper.Watcher.Event.EventType`."""

    CREATED = 1
    DELETED = 2
    DATA_CHANGED = 3
    CHILDREN_CHANGED = 4


_MEANING: dict[tuple[str, ZnodeChange], type[events.Event]] = {
    (zookeeper.CONTROLLER, ZnodeChange.CREATED): events.ControllerChanged,
    (zookeeper.CONTROLLER, ZnodeChange.DATA_CHANGED): events.ControllerChanged,
    (zookeeper.CONTROLLER, ZnodeChange.DELETED): events.ControllerZnodeDeleted,
    (zookeeper.BROKER_IDS, ZnodeChange.CHILDREN_CHANGED): events.BrokersChanged,
    (zookeeper.TOPICS, ZnodeChange.CHILDREN_CHANGED): events.TopicsChanged,
    (zookeeper.DELETIONS, ZnodeChange.CHILDREN_CHANGED): events.DeletionsRequested,
    (zookeeper.REASSIGNMENTS, ZnodeChange.CREATED): events.ReassignmentZnodeCreated,
    (zookeeper.PREFERRED_ELECTION, ZnodeChange.CREATED): events.PreferredElectionZnodeCreated,
    (zookeeper.ISR_CHANGES, ZnodeChange.CHILDREN_CHANGED): events.IsrChangesNotified,
    (zookeeper.LOG_DIR_EVENTS, ZnodeChange.CHILDREN_CHANGED): events.LogDirsFailed,
}


def event_for(path: str, change: ZnodeChange, at_ms: int) -> events.Event | None:
    """The event that a watch stands for; None if a controller does not care."""
    known = _MEANING.get((path, change))
    if known is not None:
        return known(at_ms=at_ms)
    if change is not ZnodeChange.DATA_CHANGED:
        return None
    znode = recognise(path)
    if znode.kind is ZnodeKind.BROKER:
        return events.BrokerModified(broker=znode.broker_id, at_ms=at_ms)
    if znode.kind is ZnodeKind.TOPIC:
        return events.PartitionsModified(topic=znode.topic, at_ms=at_ms)
    if znode.kind is ZnodeKind.PARTITION_STATE:
        return events.ReassignedStateWritten(partition=TopicPartition(znode.topic, znode.partition), at_ms=at_ms)
    return None
