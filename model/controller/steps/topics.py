"""Topics and partitions that come and go, their assignments in `/brokers/topics/T`, and ids for topics without one.

Replica lists that are edited in ZooKeeper are ignored: reassign instead. A cluster that was upgraded has topics
without ids, and old tools go on creating such topics; ids are drawn from the controller's seed and not at random.

Source: `KafkaController.processTopicChange`, `processPartitionModifications`, `onNewPartitionCreation`,
`processTopicIds`, `KafkaZkClient.setTopicIds`, `kafka.zk.TopicZNode`, `org.apache.kafka.common.Uuid.randomUuid` (3.9);
KIP-516 (2.8).
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import count
from uuid import UUID

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted, listed
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica, PartitionState, ReplicaState
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.znodes import fence, reads, states_read
from model.controller.topics import Partition, Topic, Topics
from model.znodes.paths import TOPICS, partitions_path, topic_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import TopicAssignment, decode_topic
from model.zookeeper import Answer, GetChildren, GetData, SetData


def topics_in(names: Sequence[str], answers: Sequence[Answer]) -> dict[str, Topic]:
    """The topics that were read; what is missing or unreadable is left out."""
    found: dict[str, Topic] = {}
    for name, answer in zip(names, answers, strict=True):
        payload = _topic_payload(answer)
        if payload is not None:
            partitions = {number: Partition(assignment) for number, assignment in _assignments(payload).items()}
            found[name] = Topic(payload.topic_id, partitions)
    return found


def assignments_in(topic: str, answer: Answer) -> dict[TopicPartition, ReplicaAssignment]:
    """The assignments in one topic's znode; nothing if it cannot be read."""
    payload = _topic_payload(answer)
    assignments = {} if payload is None else _assignments(payload)
    return {TopicPartition(topic, number): assignment for number, assignment in assignments.items()}


def encode_assignments(topic_id: str | None, assignments: Mapping[int, ReplicaAssignment], version: int) -> bytes:
    """The payload of a topic's znode; only from version 2 on does it say what is added and removed."""
    ordered = dict(sorted(assignments.items()))
    if version == 1:
        ordered = {number: ReplicaAssignment(assignment.replicas) for number, assignment in ordered.items()}
    return TopicAssignment(
        partitions={number: assignment.replicas for number, assignment in ordered.items()},
        topic_id=topic_id,
        adding_replicas={number: assignment.adding for number, assignment in ordered.items() if assignment.adding},
        removing_replicas={
            number: assignment.removing for number, assignment in ordered.items() if assignment.removing
        },
        version=version,
    ).to_bytes()


def _assignments(payload: TopicAssignment) -> dict[int, ReplicaAssignment]:
    adding, removing = payload.adding_replicas, payload.removing_replicas
    return {
        number: ReplicaAssignment(replicas, adding.get(number, ()), removing.get(number, ()))
        for number, replicas in payload.partitions.items()
    }


def _topic_payload(answer: Answer) -> TopicAssignment | None:
    if not answer.ok:
        return None
    try:
        return decode_topic(answer.data)
    except UnusablePayloadError:
        return None


def new_topic_id(seed: bytes, now_ms: int, topic: str) -> str:
    """22 characters of base64url: the same for the same arguments, and never one that starts like an option (`-`)."""
    for attempt in count():
        drawn = blake2b(f"{now_ms}\n{attempt}\n{topic}".encode(), key=seed[:64], digest_size=16).digest()
        text = urlsafe_b64encode(UUID(bytes=drawn, version=4).bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
    raise AssertionError("unreachable")


TOPIC_IDS_FROM = 3
"""The first payload version of a topic's znode that has an id."""


class AssignTopicIds(Step, frozen=True):
    """Draw an id for each of these topics and write it."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        seed, now_ms = context.settings.seed, context.now_ms
        return StepOutcome(
            context, then=(WriteTopicIds(tuple((t, new_topic_id(seed, now_ms, t)) for t in self.topics)),)
        )


class WriteTopicIds(Step, frozen=True):
    """Write each assignment with the id; only what was written is remembered."""

    ids: tuple[tuple[str, str], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        version = context.settings.forms.topic_version
        writes: list[SetData] = []
        for topic, topic_id in self.ids:
            assignments = {name.partition: known.assignment for name, known in context.topics.of_topic(topic)}
            writes.append(SetData(topic_path(topic), encode_assignments(topic_id, assignments, version)))
        return StepOutcome(context, ask=fence(context, writes))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        known = context.topics.by_name
        written = {
            topic: msgspec.structs.replace(known[topic], topic_id=topic_id)
            for (topic, topic_id), answer in zip(self.ids, answers, strict=True)
            if answer.ok and topic in known
        }
        why = f"{counted(len(written), 'topic')} had no id and got one: {listed(written)}." if written else ""
        return StepOutcome(context.replace(topics=context.topics.with_topics(written)), why=why)


class ReadAllTopics(Step, frozen=True):
    """After a failover: list all topics."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(TOPICS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        context = context.replace(topics=Topics(), reassigning=frozenset[TopicPartition]())
        return StepOutcome(context, then=(ReadAssignments(answers[0].names),))


class ReadAssignments(Step, frozen=True):
    """Read the assignments of topics; partitions with replicas to add or remove are being reassigned."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(GetData(topic_path(topic), watch=True) for topic in self.topics))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        found = topics_in(self.topics, answers)
        context = context.replace(topics=context.topics.with_topics(found))
        moving = frozenset(
            TopicPartition(name, number)
            for name, topic in found.items()
            for number, partition in topic.partitions.items()
            if partition.assignment.is_being_reassigned
        )
        unread = [topic for topic in self.topics if topic not in found]
        why = f"Left alone, because the assignment is missing or cannot be read: {listed(unread)}." if unread else ""
        nameless = tuple(name for name, topic in found.items() if topic.topic_id is None)
        wants_ids = nameless and context.settings.forms.topic_version >= TOPIC_IDS_FROM
        then = (AssignTopicIds(nameless),) if wants_ids else ()
        return StepOutcome(context.replace(reassigning=context.reassigning | moving), then=then, why=why)


class ReadStates(Step, frozen=True):
    """After a failover: read the state of every partition."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=reads(name for name, _ in context.topics.items()))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        read = states_read([name for name, _ in context.topics.items()], answers)
        why = f"Read {counted(len(read.states), 'partition state')} of {counted(len(context.topics.by_name), 'topic')}."
        return StepOutcome(context.with_leaderships(read.states), why=why)


class CompareTopics(Step, frozen=True):
    """The list of topics changed: forget those that are gone, read those that are new."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(TOPICS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        known, there = context.topics.by_name.keys(), answers[0].names
        context = context.replace(topics=context.topics.without(known - set(there)))
        new = tuple(name for name in there if name not in known)
        return StepOutcome(context, then=(ReadAssignments(new), CreatePartitionsOf(new)) if new else ())


class CreatePartitionsOf(Step, frozen=True):
    """All partitions of these topics are new."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        partitions = tuple(name for topic in self.topics for name, _ in context.topics.of_topic(topic))
        read = [topic for topic in self.topics if topic in context.topics.by_name]
        why = f"New topics: {listed(read)}." if read else ""
        return StepOutcome(context, then=creation_of(context, partitions), why=why)


class CompareAssignment(Step, frozen=True):
    """A topic's assignment was written: only partitions that were not known count."""

    topic: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetData(topic_path(self.topic), watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        found = assignments_in(self.topic, answers[0])
        topic = context.topics.by_name.get(self.topic)
        new = {name: Partition(assignment) for name, assignment in found.items() if not context.topics.partition(name)}
        if topic is None or not new:
            return StepOutcome(context)
        if context.deleting(self.topic):
            restored = (RestoreAssignment(self.topic),) if context.settings.forms.restores_assignments else ()
            return StepOutcome(context, then=restored)
        context = context.with_partitions(new)
        why = f"{counted(len(new), 'partition')} added to {self.topic}."
        return StepOutcome(context, then=creation_of(context, tuple(new)), why=why)


class RestoreAssignment(Step, frozen=True):
    """Partitions were added to a topic that is being deleted: take them out again, unless its partitions are gone."""

    topic: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(partitions_path(self.topic)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        there = frozenset(answers[0].names)
        kept: dict[int, ReplicaAssignment] = {
            name.partition: partition.assignment
            for name, partition in context.topics.of_topic(self.topic)
            if str(name.partition) in there
        }
        if not kept:
            return StepOutcome(context)
        return StepOutcome(context, then=(WriteRestored(self.topic, kept),))


class WriteRestored(Step, frozen=True):
    """Write the assignment from before."""

    topic: str
    assignments: Mapping[int, ReplicaAssignment]

    def begin(self, context: ControllerContext) -> StepOutcome:
        version = context.settings.forms.topic_version
        payload = encode_assignments(context.topics.by_name[self.topic].topic_id, self.assignments, version)
        return StepOutcome(context, ask=fence(context, [SetData(topic_path(self.topic), payload)]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        why = f"No partitions can be added to {self.topic}, which is being deleted: its assignment is restored."
        return StepOutcome(context, why=why)


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
