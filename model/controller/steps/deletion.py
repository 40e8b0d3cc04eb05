"""Deleting topics: copies first, broker by broker; when all have confirmed, the znodes, the marker last.

Source: `kafka.controller.TopicDeletionManager` (3.9). Which topic may go on is decided in `model.controller.topics`.
"""

from collections.abc import Iterable

from model.cluster.ids import TopicPartition
from model.cluster.texts import listed
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.state_machines import PartitionAndReplica, PartitionState, ReplicaState
from model.controller.steps.broker_requests import SendMetadata
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.znodes import DeleteTree, DeleteZnodes
from model.controller.topics import (
    DeletionQueues,
    ReplicaStates,
    fail_deletions,
    replicas_to_retry,
    resume_deletions,
    start_deletion,
)
from model.znodes.paths import DELETIONS, config_path, delete_topic_path, topic_path
from model.zookeeper import Answer, GetChildren


class ReadMarkers(Step, frozen=True):
    """Topics were marked for deletion, or markers went away."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(DELETIONS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return deletions_marked(context, answers[0].names)


class ResumeDeletionsOf(Step, frozen=True):
    """What kept these topics from being deleted is over."""

    topics: frozenset[str]

    def begin(self, context: ControllerContext) -> StepOutcome:
        queued = self.topics & context.deletion.queued
        if not queued:
            return StepOutcome(context)
        return StepOutcome(context.replace(deletion=context.deletion.lift(queued)), then=(ResumeDeletions(),))


class ResumeDeletions(Step, frozen=True):
    """Look at every queued topic: complete it, try it again, start it, or leave it waiting."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        states = {topic: _replica_states(context, topic) for topic in context.deletion.queued}
        what = resume_deletions(context.deletion, {topic: tuple(by.values()) for topic, by in states.items()})
        then: list[Step] = [step for topic in what.complete for step in _completing(states[topic], topic)]
        retried = tuple(copy for topic in what.retry for copy in replicas_to_retry(states[topic]))
        if retried:
            then.append(MoveReplicas(retried, ReplicaState.OFFLINE))
        if what.start:
            then.append(StartDeletions(what.start))
        return StepOutcome(context, then=tuple(then))


class StartDeletions(Step, frozen=True):
    """Brokers stop serving these topics, then delete their copies; topics with dead replicas wait."""

    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        states = {topic: _replica_states(context, topic) for topic in self.topics}
        start = start_deletion(context.deletion, states, lambda copy: context.online(copy.partition, copy.replica))
        unseen = _partitions(context, start.unseen)
        then = (
            MovePartitions(unseen, PartitionState.OFFLINE),
            MovePartitions(unseen, PartitionState.NON_EXISTENT),
            SetQueues(start.queues),
            SendMetadata(_partitions(context, self.topics)),
            MoveReplicas(start.dead, ReplicaState.DELETION_INELIGIBLE),
            MoveReplicas(start.deletable, ReplicaState.OFFLINE),
            MoveReplicas(start.deletable, ReplicaState.DELETION_STARTED),
        )
        waiting = start.queues.ineligible & frozenset(self.topics)
        why = f"Deletion starts: {listed(self.topics)}."
        return StepOutcome(
            context, then=then, why=why + f" Waiting for dead replicas: {listed(sorted(waiting))}." * bool(waiting)
        )


class SetQueues(Step, frozen=True):
    """The queues as they are from now on."""

    queues: DeletionQueues

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context.replace(deletion=self.queues))


class FailDeletions(Step, frozen=True):
    """Copies could not be deleted, or their broker died: their topics wait."""

    copies: tuple[PartitionAndReplica, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        failed, queues = fail_deletions(context.deletion, self.copies)
        if not failed:
            return StepOutcome(context)
        why = (
            f"Deletion halts for {listed(sorted({copy.partition.topic for copy in failed}))}: a replica is not deleted."
        )
        then = (MoveReplicas(failed, ReplicaState.DELETION_INELIGIBLE), SetQueues(queues), ResumeDeletions())
        return StepOutcome(context, then=then, why=why)


class ConfirmDeletions(Step, frozen=True):
    """Copies are deleted."""

    copies: tuple[PartitionAndReplica, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        copies = tuple(copy for copy in self.copies if context.deleting(copy.partition.topic))
        if not copies:
            return StepOutcome(context)
        return StepOutcome(context, then=(MoveReplicas(copies, ReplicaState.DELETION_SUCCESSFUL), ResumeDeletions()))


class ForgetTopic(Step, frozen=True):
    """A topic is deleted."""

    topic: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        context = context.replace(
            topics=context.topics.without([self.topic]),
            deletion=context.deletion.finish([self.topic]),
            reassigning=frozenset(name for name in context.reassigning if name.topic != self.topic),
        )
        return StepOutcome(context, why=f"{self.topic} is deleted: every replica confirmed, the marker went last.")


def deletions_marked(context: ControllerContext, marked: Iterable[str]) -> StepOutcome:
    """What follows from markers: unknown topics lose theirs, and all do where deletion is disabled."""
    names = tuple(marked)
    if not context.settings.delete_topic_enable and not context.settings.forms.drops_disabled_markers:
        return StepOutcome(context)
    known = frozenset(name for name in names if name in context.topics.by_name)
    dropped = tuple(name for name in names if name not in known or not context.settings.delete_topic_enable)
    then: list[Step] = [DeleteZnodes(tuple(map(delete_topic_path, dropped)))] if dropped else []
    if known and context.settings.delete_topic_enable:
        moving = {name.topic for name in context.reassigning}
        # Kafka halts before it enqueues, so that a topic marked just now does not wait for its reassignment.
        context = context.replace(deletion=context.deletion.halt(known & moving).enqueue(known))
        then.append(ResumeDeletions())
    why = f"Markers removed, because there is nothing to delete: {listed(dropped)}." if dropped else ""
    return StepOutcome(context, then=tuple(then), why=why)


def _completing(states: ReplicaStates, topic: str) -> tuple[Step, ...]:
    return (
        MoveReplicas(tuple(states), ReplicaState.NON_EXISTENT),
        DeleteTree(topic_path(topic)),
        DeleteZnodes((config_path(f"topics/{topic}"), delete_topic_path(topic))),
        ForgetTopic(topic),
    )


def _replica_states(context: ControllerContext, topic: str) -> ReplicaStates:
    return {
        PartitionAndReplica(name, replica): partition.replica_state(replica)
        for name, partition in context.topics.of_topic(topic)
        for replica in partition.assignment.replicas
    }


def _partitions(context: ControllerContext, topics: Iterable[str]) -> tuple[TopicPartition, ...]:
    return tuple(name for topic in topics for name, _ in context.topics.of_topic(topic))
