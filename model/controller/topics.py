"""Topics and partitions as a controller holds them in memory, and the queues of topics to be deleted.

Topics are the maps of `kafka.controller.ControllerContext` (3.9), turned around: one value per partition. They are
grouped by topic, so that a change copies one topic's mapping and never the cluster's.

Deletions are those of `kafka.controller.TopicDeletionManager`, 1.1 to 3.9, where delete.topic.enable is true. A
deletion waits while a replica is offline or a partition is being reassigned. It goes on when a broker comes back, a
reassignment is complete or a controller takes over. Once started it cannot be taken back. Here it is only said which
replicas are to be moved to another state; nothing is deleted.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica, PartitionState, ReplicaState


class Leadership(msgspec.Struct, frozen=True, gc=False):
    """A partition's state and which controller wrote it (`LeaderIsrAndControllerEpoch`)."""

    state: LeaderAndIsr
    controller_epoch: int


class Partition(msgspec.Struct, frozen=True, gc=False):
    """All a controller knows of a partition. `leadership` None: its state was never written, or not read yet."""

    assignment: ReplicaAssignment
    leadership: Leadership | None = None
    state: PartitionState = PartitionState.NON_EXISTENT
    replica_states: Mapping[int, ReplicaState] = {}

    def replica_state(self, replica: int) -> ReplicaState:
        """The state of the copy on this broker."""
        return self.replica_states.get(replica, ReplicaState.NON_EXISTENT)

    def with_replica_state(self, replica: int, state: ReplicaState) -> "Partition":
        """The same with one copy in another state."""
        return msgspec.structs.replace(self, replica_states={**self.replica_states, replica: state})

    def without_replica(self, replica: int) -> "Partition":
        """The same without a copy, in the assignment, too."""
        states = {broker: state for broker, state in self.replica_states.items() if broker != replica}
        return msgspec.structs.replace(self, assignment=self.assignment.remove(replica), replica_states=states)


class Topic(msgspec.Struct, frozen=True, gc=False):
    """A topic's id (None before 2.8) and partitions."""

    topic_id: str | None
    partitions: Mapping[int, Partition]


class Topics(msgspec.Struct, frozen=True):
    """All topics by name."""

    by_name: Mapping[str, Topic] = {}

    def partition(self, partition: TopicPartition) -> Partition | None:
        """What is known of a partition; None if nothing is."""
        topic = self.by_name.get(partition.topic)
        return None if topic is None else topic.partitions.get(partition.partition)

    def known(self, partitions: Iterable[TopicPartition]) -> Iterator[tuple[TopicPartition, Partition]]:
        by_name, current, found = self.by_name, None, _NOTHING
        for name in partitions:
            if name[0] is not current:  # most come topic by topic
                current = name[0]
                topic = by_name.get(current)
                found = _NOTHING if topic is None else topic.partitions
            partition = found.get(name[1])
            if partition is not None:
                yield name, partition

    def items(self) -> Iterator[tuple[TopicPartition, Partition]]:
        for name, topic in self.by_name.items():
            for number, partition in topic.partitions.items():
                yield TopicPartition(name, number), partition

    def of_topic(self, name: str) -> Iterator[tuple[TopicPartition, Partition]]:
        """Every partition of one topic; nothing for an unknown one."""
        topic = self.by_name.get(name)
        for number, partition in topic.partitions.items() if topic is not None else ():
            yield TopicPartition(name, number), partition

    def on_brokers(self, brokers: Collection[int]) -> Iterator[PartitionAndReplica]:
        wanted = frozenset(brokers)
        for name, topic in self.by_name.items():
            for number, partition in topic.partitions.items():
                replicas = partition.assignment.replicas
                if not wanted.isdisjoint(replicas):  # of a large cluster, few are
                    held = TopicPartition(name, number)
                    yield from (PartitionAndReplica(held, replica) for replica in replicas if replica in wanted)

    def led_besides(self, brokers: Collection[int]) -> Iterator[tuple[TopicPartition, Partition]]:
        """Partitions with a state whose leader is none of these brokers, also where there is none."""
        leaders = frozenset(brokers)
        for name, topic in self.by_name.items():
            for number, partition in topic.partitions.items():
                leadership = partition.leadership
                if leadership is not None and leadership.state.leader not in leaders:
                    yield TopicPartition(name, number), partition

    def not_online(self) -> Iterator[tuple[TopicPartition, Partition]]:
        """Partitions in any state but that of being online."""
        for name, topic in self.by_name.items():
            for number, partition in topic.partitions.items():
                if partition.state is not _ONLINE:
                    yield TopicPartition(name, number), partition

    def with_partitions(self, changes: Mapping[TopicPartition, Partition]) -> "Topics":
        """These partitions replaced or added; those of unknown topics are left out."""
        grouped: dict[str, dict[int, Partition]] = {}
        for name, partition in changes.items():
            grouped.setdefault(name.topic, {})[name.partition] = partition
        changed = {
            name: Topic(topic.topic_id, {**topic.partitions, **partitions})
            for name, partitions in grouped.items()
            if (topic := self.by_name.get(name)) is not None
        }
        return Topics({**self.by_name, **changed}) if changed else self

    def with_topics(self, added: Mapping[str, Topic]) -> "Topics":
        return Topics({**self.by_name, **added})

    def without(self, names: Iterable[str]) -> "Topics":
        gone = frozenset(names)
        return Topics({name: topic for name, topic in self.by_name.items() if name not in gone}) if gone else self


_NOTHING: Mapping[int, Partition] = {}
_ONLINE = PartitionState.ONLINE  # to look up a member of an enumeration takes longer than to compare it


ReplicaStates = Mapping[PartitionAndReplica, ReplicaState]
"""The states of all replicas of a topic."""


class DeletionQueues(msgspec.Struct, frozen=True, gc=False):
    """Topics by how far their deletion is. `queued` contains the others; `ineligible` ones have to wait."""

    queued: frozenset[str] = frozenset()
    started: frozenset[str] = frozenset()
    ineligible: frozenset[str] = frozenset()

    def enqueue(self, topics: Iterable[str]) -> "DeletionQueues":
        return msgspec.structs.replace(self, queued=self.queued | set(topics))

    def halt(self, topics: Iterable[str]) -> "DeletionQueues":
        """Topics that cannot be deleted now. One that is not queued is none of ours, also if it is queued next."""
        return msgspec.structs.replace(self, ineligible=self.ineligible | (self.queued & set(topics)))

    def lift(self, topics: Iterable[str]) -> "DeletionQueues":
        """Topics whose deletion may be tried again (`resumeDeletionForTopics`)."""
        return msgspec.structs.replace(self, ineligible=self.ineligible - (self.queued & set(topics)))

    def finish(self, topics: Iterable[str]) -> "DeletionQueues":
        gone = set(topics)
        return DeletionQueues(self.queued - gone, self.started - gone, self.ineligible - gone)


class Resumption(msgspec.Struct, frozen=True, gc=False):
    """What to do about queued topics, by name and in this order."""

    complete: tuple[str, ...]
    """All replicas are deleted: forget the topic and remove its znodes, the marker last."""
    retry: tuple[str, ...]
    """Every replica that was tried has answered, and some could not be deleted: these go back to OfflineReplica."""
    start: tuple[str, ...]
    """Deletion starts, or starts again for what is left."""


class DeletionStart(msgspec.Struct, frozen=True, gc=False):
    """What starting the deletion of topics takes, in this order."""

    unseen: tuple[str, ...]
    """Topics that start for the first time: their partitions go Offline, then NonExistent."""
    dead: tuple[PartitionAndReplica, ...]
    """To ReplicaDeletionIneligible."""
    deletable: tuple[PartitionAndReplica, ...]
    """To OfflineReplica, then ReplicaDeletionStarted."""
    queues: DeletionQueues
    """Afterwards. A topic with a dead replica is ineligible from now on."""


def resume_deletions(queues: DeletionQueues, states: Mapping[str, Collection[ReplicaState]]) -> Resumption:
    """Look at every queued topic (`resumeDeletions`), given the states of its replicas.

    A topic of which no replica is known is complete.
    """
    complete: list[str] = []
    retry: list[str] = []
    start: list[str] = []
    for topic in sorted(queues.queued):
        present = set(states.get(topic, ()))
        if present <= {ReplicaState.DELETION_SUCCESSFUL}:
            complete.append(topic)
        elif ReplicaState.DELETION_STARTED not in present:
            if ReplicaState.DELETION_INELIGIBLE in present:
                retry.append(topic)
            if topic not in queues.ineligible:
                start.append(topic)
    return Resumption(tuple(complete), tuple(retry), tuple(start))


def replicas_to_retry(states: ReplicaStates) -> tuple[PartitionAndReplica, ...]:
    """Replicas that go back to OfflineReplica when deletion is tried again."""
    return tuple(replica for replica, state in states.items() if state is ReplicaState.DELETION_INELIGIBLE)


def start_deletion(
    queues: DeletionQueues, topics: Mapping[str, ReplicaStates], online: Callable[[PartitionAndReplica], bool]
) -> DeletionStart:
    """Start, or start again, the deletion of these topics (`onTopicDeletion`), given their replicas' states."""
    replicas = [
        (replica, state, online(replica)) for topic in sorted(topics) for replica, state in topics[topic].items()
    ]
    left = [(replica, alive) for replica, state, alive in replicas if state is not ReplicaState.DELETION_SUCCESSFUL]
    started = msgspec.structs.replace(queues, started=queues.started | set(topics))
    return DeletionStart(
        unseen=tuple(sorted(set(topics) - queues.started)),
        dead=tuple(replica for replica, alive in left if not alive),
        deletable=tuple(replica for replica, alive in left if alive),
        # Also a replica that was deleted before its broker died makes the topic wait, as in Kafka.
        queues=started.halt(replica.partition.topic for replica, _, alive in replicas if not alive),
    )


def fail_deletions(
    queues: DeletionQueues, replicas: Iterable[PartitionAndReplica]
) -> tuple[tuple[PartitionAndReplica, ...], DeletionQueues]:
    """Replicas that could not be deleted, or whose broker died: those that go to ReplicaDeletionIneligible, and the
    queues, in which their topics now wait. Replicas of topics that are not queued are left alone.
    """
    failed = tuple(replica for replica in replicas if replica.partition.topic in queues.queued)
    return failed, queues.halt(replica.partition.topic for replica in failed)
