"""Topics and partitions as a controller holds them in memory. A change gives another value; nothing is decided here.

Source: the maps of `kafka.controller.ControllerContext` (3.9), turned around: one value per partition. They are grouped
by topic, so that a change copies one topic's mapping and never the cluster's.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.partition_states import PartitionState
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.replica_states import PartitionAndReplica, ReplicaState


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
        """These partitions, without those that are not known."""
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
        """Every partition."""
        for name, topic in self.by_name.items():
            for number, partition in topic.partitions.items():
                yield TopicPartition(name, number), partition

    def of_topic(self, name: str) -> Iterator[tuple[TopicPartition, Partition]]:
        """Every partition of one topic; nothing for an unknown one."""
        topic = self.by_name.get(name)
        for number, partition in topic.partitions.items() if topic is not None else ():
            yield TopicPartition(name, number), partition

    def on_brokers(self, brokers: Collection[int]) -> Iterator[PartitionAndReplica]:
        """Every copy on these brokers."""
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
        """These topics replaced or added."""
        return Topics({**self.by_name, **added})

    def without(self, names: Iterable[str]) -> "Topics":
        """The topics that are not among these."""
        gone = frozenset(names)
        return Topics({name: topic for name, topic in self.by_name.items() if name not in gone}) if gone else self


_NOTHING: Mapping[int, Partition] = {}
_ONLINE = PartitionState.ONLINE  # to look up a member of an enumeration takes longer than to compare it
