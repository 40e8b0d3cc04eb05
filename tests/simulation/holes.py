"""What Kafka's own controller does not make good, each with its source, and how to see it in a history.

Promises and endings are let off here and nowhere else. Where an operator can mend it, the history has one do so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.state_machines import PartitionState
from model.hosts.virtual.journal import (
    BrokerBooted,
    ConnectionLost,
    ControllerElected,
    SessionEnded,
    Transaction,
    znode_writes,
)
from model.hosts.virtual.world import Process
from model.znodes.paths import partition_state_path
from model.znodes.topics import LeaderIsrAndControllerEpoch, decode_partition_state
from tests.simulation.znodes import partition_state, partitions

if TYPE_CHECKING:
    from tests.simulation.history import History


def lost_connection(history: History) -> bool:
    """Whether a connection to ZooKeeper broke. What Kafka's controller wrote but was not told of, it does not make
    good: a state that it created itself fails with NODE_EXISTS, an ISR with BADVERSION, until another one reads it.
    """
    return any(isinstance(record, ConnectionLost) for record in history.cluster.journal)


def is_lost(history: History, name: TopicPartition, replicas: tuple[int, ...]) -> bool:
    """Whether nobody is in sync who is still a replica.

    Kafka drops what an overridden reassignment had added, even if nobody else is in sync. Up to 2.6 leaders write ISRs
    by themselves: one that takes the whole target out after the controller has seen it in sync
    (`KafkaController.isReassignmentComplete`) stays in the ISR alone, and is no replica any more.
    """
    found = partition_state(history.cluster.zookeeper, name)
    if found is None or set(found[0].isr) & set(replicas):
        return False
    return name in history.operation.overridden or _was_taken_out(history, name, replicas)


def _was_taken_out(history: History, name: TopicPartition, target: tuple[int, ...]) -> bool:
    """Whether all of a target were in sync once, where leaders write ISRs."""
    path = partition_state_path(name.topic, name.partition)
    records = (each for each in history.cluster.journal if isinstance(each, Transaction))
    writes = (write for each in records for write in znode_writes(each) if write.path == path and write.error == "NONE")
    isrs = (decode_partition_state(write.data).isr for write in writes if write.verb != "delete")
    return history.scenario.generation.forms.leaders_write_isrs and any(set(isr) >= set(target) for isr in isrs)


def is_forgotten(history: History, name: TopicPartition, replicas: tuple[int, ...]) -> bool:
    """Where the replica that was dropped led, nobody does, but the partition stays an OnlinePartition:
    `stopRemovedReplicasOfReassignedPartition` moves replicas only, and the election that follows fails. When replicas
    come back, `triggerOnlinePartitionStateChange` looks at OfflinePartition and NewPartition alone (2.4 to 3.9); with
    the next controller, or once another broker fails, it is elected.
    """
    found = partition_state(history.cluster.zookeeper, name)
    if name not in history.operation.overridden or found is None or len(history.cluster.controllers) != 1:
        return False
    known = history.cluster.process(history.cluster.controllers[0]).controller.context.topics.partition(name)
    is_online = known is not None and known.state is PartitionState.ONLINE
    return found[0].leader == NO_LEADER and is_online and not is_lost(history, name, replicas)


def leaders_left_behind(history: History) -> set[int]:
    """Leaders that go by replicas of before, because a controller died after it wrote the topic and before it raised
    the leader epoch. Its successor takes the goal for reached (`maybeTriggerPartitionReassignment`, up to 2.3), or sees
    nothing being moved (a cancellation, from 2.4 on); what it tells under the epoch of before is refused
    (`ReplicaManager.becomeLeaderOrFollower`: STALE_CONTROLLER_EPOCH). The next election gets the leader told.
    """
    behind: set[int] = set()
    for name, replicas in partitions(history.cluster.zookeeper):
        leadership = _leadership(history, name)
        outdated = frozenset[int]()
        if leadership is not None:
            outdated = history.promises.announcements.outdated(name, leadership.leader_epoch)
        if leadership is not None and outdated and outdated != set(replicas):
            behind.add(leadership.leader)
    return behind


def leaders_of_strays(history: History) -> set[int]:
    """Leaders that hold a copy of a topic that had the name before (see `may_have_strays`), and refused to lead: the
    leader epochs of a new topic are lower (up to 2.7), or its id is another one (`ReplicaManager`:
    STALE_CONTROLLER_EPOCH, INCONSISTENT_TOPIC_ID). A new process has no such copy.
    """
    strays: set[int] = set()
    for name, _ in partitions(history.cluster.zookeeper):
        leadership = _leadership(history, name)
        if leadership is not None and not history.promises.announcements.is_led(name):
            process = history.cluster.process(leadership.leader)
            if process.broker.held.get(name) is not None and may_have_strays(history, process):
                strays.add(leadership.leader)
    return strays


def may_have_strays(history: History, process: Process) -> bool:
    """Kafka tells a broker only once to drop a copy or a topic. If that got lost with a session or a controller, the
    broker keeps it until its process ends, and refuses the topic that takes that name next.
    """
    for record in reversed(history.cluster.journal):
        if isinstance(record, BrokerBooted) and record.broker == process.id:
            return False
        if isinstance(record, ControllerElected) or (isinstance(record, SessionEnded) and record.broker == process.id):
            return True
    return False


def _leadership(history: History, name: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
    """The partition's state, if its leader runs."""
    found = partition_state(history.cluster.zookeeper, name)
    return None if found is None or found[0].leader not in history.cluster.brokers else found[0]
