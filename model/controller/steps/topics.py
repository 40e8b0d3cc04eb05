"""Topics and partitions that come and go. Replica lists that are edited in ZooKeeper are ignored: reassign instead.

Source: `KafkaController.processTopicChange`, `processPartitionModifications`, `onNewPartitionCreation` (3.9).
"""

from collections.abc import Mapping

from model.cluster.ids import TopicPartition
from model.cluster.words import counted, listed
from model.controller.context import ControllerContext
from model.controller.partition_states import PartitionState
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.replica_states import PartitionAndReplica, ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.assignments import assignments_in, encode_assignments, topics_in
from model.controller.steps.fencing import fence
from model.controller.steps.leadership import reads, states_read
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.topic_ids import TOPIC_IDS_FROM, AssignTopicIds
from model.controller.topics import Partition, Topics
from model.controller.zookeeper import TOPICS, Answer, Children, Read, SetData
from model.znodes.paths import partitions_path, topic_path


class ReadAllTopics(Step, frozen=True):
    """After a failover: list all topics."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Children(TOPICS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        context = context.replace(topics=Topics(), reassigning=frozenset[TopicPartition]())
        return Outcome(context, then=(ReadAssignments(answers[0].names),))


class ReadAssignments(Step, frozen=True):
    """Read the assignments of topics; partitions with replicas to add or remove are being reassigned."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(Read(topic_path(topic), watch=True) for topic in self.topics))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        found = topics_in(self.topics, answers)
        context = context.replace(topics=context.topics.with_topics(found))
        moving = frozenset(
            TopicPartition(name, number)
            for name, topic in found.items()
            for number, partition in topic.partitions.items()
            if partition.assignment.is_being_reassigned
        )
        unread = [topic for topic in self.topics if topic not in found]
        why = f"Left alone, for the assignment is missing or cannot be read: {listed(unread)}." if unread else ""
        nameless = tuple(name for name, topic in found.items() if topic.topic_id is None)
        wants_ids = nameless and context.settings.forms.topic_version >= TOPIC_IDS_FROM
        then = (AssignTopicIds(nameless),) if wants_ids else ()
        return Outcome(context.replace(reassigning=context.reassigning | moving), then=then, why=why)


class ReadStates(Step, frozen=True):
    """After a failover: read the state of every partition."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=reads(name for name, _ in context.topics.items()))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        read = states_read([name for name, _ in context.topics.items()], answers)
        why = f"Read {counted(len(read.states), 'partition state')} of {counted(len(context.topics.by_name), 'topic')}."
        return Outcome(context.with_leaderships(read.states), why=why)


class CompareTopics(Step, frozen=True):
    """The list of topics changed: forget those that are gone, read those that are new."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Children(TOPICS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        known, there = context.topics.by_name.keys(), answers[0].names
        context = context.replace(topics=context.topics.without(known - set(there)))
        new = tuple(name for name in there if name not in known)
        return Outcome(context, then=(ReadAssignments(new), CreatePartitionsOf(new)) if new else ())


class CreatePartitionsOf(Step, frozen=True):
    """All partitions of these topics are new."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        partitions = tuple(name for topic in self.topics for name, _ in context.topics.of_topic(topic))
        return Outcome(context, then=creation_of(context, partitions), why=f"New topics: {listed(self.topics)}.")


class CompareAssignment(Step, frozen=True):
    """A topic's assignment was written: only partitions that were not known count."""

    topic: str

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Read(topic_path(self.topic), watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        found = assignments_in(self.topic, answers[0])
        topic = context.topics.by_name.get(self.topic)
        new = {name: Partition(assignment) for name, assignment in found.items() if not context.topics.partition(name)}
        if topic is None or not new:
            return Outcome(context)
        if context.deleting(self.topic):
            restored = (RestoreAssignment(self.topic),) if context.settings.forms.restores_assignments else ()
            return Outcome(context, then=restored)
        context = context.with_partitions(new)
        why = f"{counted(len(new), 'partition')} added to {self.topic}."
        return Outcome(context, then=creation_of(context, tuple(new)), why=why)


class RestoreAssignment(Step, frozen=True):
    """Partitions were added to a topic that is being deleted: take them out again, unless its partitions are gone."""

    topic: str

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Children(partitions_path(self.topic)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        there = frozenset(answers[0].names)
        kept: dict[int, ReplicaAssignment] = {
            name.partition: partition.assignment
            for name, partition in context.topics.of_topic(self.topic)
            if str(name.partition) in there
        }
        if not kept:
            return Outcome(context)
        return Outcome(context, then=(WriteRestored(self.topic, kept),))


class WriteRestored(Step, frozen=True):
    """Write the assignment from before."""

    topic: str
    assignments: Mapping[int, ReplicaAssignment]

    def begin(self, context: ControllerContext) -> Outcome:
        version = context.settings.forms.topic_version
        payload = encode_assignments(context.topics.by_name[self.topic].topic_id, self.assignments, version)
        return Outcome(context, ask=fence(context, [SetData(topic_path(self.topic), payload)]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        why = f"No partitions can be added to {self.topic}, which is being deleted: its assignment is restored."
        return Outcome(context, why=why)


def creation_of(context: ControllerContext, partitions: tuple[TopicPartition, ...]) -> tuple[Step, ...]:
    """The way of new partitions and their copies to being online."""
    copies = tuple(
        PartitionAndReplica(name, replica)
        for name, partition in context.topics.known(partitions)
        for replica in partition.assignment.replicas
    )
    return (
        MovePartitions(partitions, PartitionState.NEW),
        MoveReplicas(copies, ReplicaState.NEW),
        MovePartitions(partitions, PartitionState.ONLINE),
        MoveReplicas(copies, ReplicaState.ONLINE),
    )
