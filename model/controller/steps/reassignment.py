"""Moving replicas of a partition: write the goal, start new copies, wait until they are in sync, drop the old ones.

Source: `KafkaController.onPartitionReassignment` (3.9); the letters are those of its comment (U, A, B). KIP-455. Which
goals are accepted is decided in `reassignment_request`; requests are taken in `reassignment_requests`.
"""

from collections.abc import Collection

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import replicas
from model.controller.ballot import Strategy
from model.controller.context import ControllerContext
from model.controller.partition_states import PartitionState
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.replica_states import PartitionAndReplica, ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.assignments import encode_assignments
from model.controller.steps.deletion import ResumeDeletionsOf
from model.controller.steps.epochs import RaiseLeaderEpoch
from model.controller.steps.fencing import fence
from model.controller.steps.leadership import reads, states_read
from model.controller.steps.metadata import SendMetadata
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.reassignment_znode import RemoveFromZnode
from model.controller.steps.replicas import MoveReplicas
from model.controller.zookeeper import Answer, SetData
from model.znodes.paths import topic_path


class Reassign(Step, frozen=True):
    """Set out for an assignment, or go on towards it."""

    partition: TopicPartition
    to: ReplicaAssignment

    def begin(self, context: ControllerContext) -> Outcome:
        partition = context.topics.partition(self.partition)
        if partition is None:
            return Outcome(context)
        context = context.replace(deletion=context.deletion.halt([self.partition.topic]))
        advance = Advance(self.partition)
        if partition.assignment == self.to:
            return Outcome(context, then=(advance,))
        dropped = self.to.dropped_from(partition.assignment)
        after = (*dropping(self.partition, dropped), advance)
        why = (
            f"{self.partition}: replicas {replicas(partition.assignment.replicas)} shall be {replicas(self.to.target)}."
        )
        return Outcome(context, then=(WriteAssignment(self.partition, self.to, after),), why=why)


class WriteAssignment(Step, frozen=True):
    """U: write the topic's assignment with this one in it, and remember it. Without the znode, nothing else is done."""

    partition: TopicPartition
    assignment: ReplicaAssignment
    after: tuple[Step, ...] = ()

    def begin(self, context: ControllerContext) -> Outcome:
        name = self.partition.topic
        topic = context.topics.by_name.get(name)
        assignments = {number.partition: known.assignment for number, known in context.topics.of_topic(name)}
        payload = encode_assignments(
            topic.topic_id if topic else None, {**assignments, self.partition.partition: self.assignment}
        )
        return Outcome(context, ask=fence(context, [SetData(topic_path(name), payload)]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if not answers[0].ok:
            return Outcome(
                context, why=f"{self.partition}: its assignment could not be written, the reassignment stops."
            )
        return Outcome(assigned(context, self.partition, self.assignment), then=self.after)


class Advance(Step, frozen=True):
    """Look at the ISR: complete the reassignment if the goal is in sync, else start the new copies (A)."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> Outcome:
        context = context.replace(reassigning=context.reassigning | {self.partition})
        return Outcome(context, ask=reads([self.partition]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        partition = context.topics.partition(self.partition)
        if partition is None:
            return Outcome(context)
        assignment = partition.assignment
        found = states_read([self.partition], answers).states.get(self.partition)
        isr = () if found is None else found.state.isr
        if assignment.is_complete(isr):
            return Outcome(
                context, then=completing(self.partition, assignment), why=_completed(self.partition, assignment)
            )
        new = tuple(PartitionAndReplica(self.partition, replica) for replica in assignment.adding)
        missing = replicas(replica for replica in assignment.target if replica not in isr)
        why = f"{self.partition}: waiting until {missing} joins the ISR {replicas(isr)}."
        return Outcome(context, then=(RaiseLeaderEpoch(self.partition), MoveReplicas(new, ReplicaState.NEW)), why=why)


class CompleteIfInSync(Step, frozen=True):
    """An ISR changed: see whether that is what a reassignment waited for."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> Outcome:
        partition = context.topics.partition(self.partition)
        if partition is None or partition.leadership is None or not partition.assignment.is_being_reassigned:
            return Outcome(context)
        in_sync = partition.assignment.is_complete(partition.leadership.state.isr)
        return Outcome(context, then=(Reassign(self.partition, partition.assignment),) if in_sync else ())


class SetAssignment(Step, frozen=True):
    """B2: remember the goal as all there is."""

    partition: TopicPartition
    assignment: ReplicaAssignment

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(assigned(context, self.partition, self.assignment))


class MoveLeader(Step, frozen=True):
    """B3: elect another leader if this one is leaving or dead; else tell it by a higher epoch."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> Outcome:
        partition = context.topics.partition(self.partition)
        leader = context.leader_of(self.partition)
        if partition is None:
            return Outcome(context)
        if leader in partition.assignment.replicas and context.online(self.partition, leader):
            return Outcome(context, then=(RaiseLeaderEpoch(self.partition),))
        return Outcome(context, then=(MovePartitions((self.partition,), PartitionState.ONLINE, Strategy.REASSIGN),))


class FinishReassignment(Step, frozen=True):
    """It is not being reassigned any more."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context.replace(reassigning=context.reassigning - {self.partition}))


class ResumeReassignments(Step, frozen=True):
    """Go on with reassignments: all but `besides`, or those that wait for one of the brokers `to`."""

    besides: frozenset[TopicPartition] = frozenset()
    to: frozenset[int] | None = None

    def begin(self, context: ControllerContext) -> Outcome:
        steps = tuple(
            Reassign(name, partition.assignment)
            for name, partition in context.topics.known(sorted(context.reassigning - self.besides))
            if self.to is None or not self.to.isdisjoint(partition.assignment.target)
        )
        return Outcome(context, then=steps)


def dropping(partition: TopicPartition, gone: Collection[int]) -> tuple[Step, ...]:
    """Copies that nobody needs any more, on their way out. Nobody waits for the brokers to confirm."""
    copies = tuple(PartitionAndReplica(partition, replica) for replica in gone)
    if not copies:
        return ()
    way = (
        ReplicaState.OFFLINE,
        ReplicaState.DELETION_STARTED,
        ReplicaState.DELETION_SUCCESSFUL,
        ReplicaState.NON_EXISTENT,
    )
    return tuple(MoveReplicas(copies, state) for state in way)


def completing(partition: TopicPartition, assignment: ReplicaAssignment) -> tuple[Step, ...]:
    """B: the goal is in sync."""
    new = tuple(PartitionAndReplica(partition, replica) for replica in assignment.adding)
    goal = assignment.complete()
    return (
        MoveReplicas(new, ReplicaState.ONLINE),
        SetAssignment(partition, goal),
        MoveLeader(partition),
        *dropping(partition, assignment.removing),
        WriteAssignment(partition, goal),
        RemoveFromZnode(((partition, goal.replicas),)),
        FinishReassignment(partition),
        SendMetadata((partition,)),
        ResumeDeletionsOf(frozenset({partition.topic})),
    )


def assigned(context: ControllerContext, name: TopicPartition, assignment: ReplicaAssignment) -> ControllerContext:
    """The same with another assignment of a partition."""
    known = context.topics.known([name])
    return context.with_partitions(
        {name: msgspec.structs.replace(partition, assignment=assignment) for name, partition in known}
    )


def _completed(partition: TopicPartition, assignment: ReplicaAssignment) -> str:
    gone = f", {replicas(assignment.removing)} leave" if assignment.removing else ""
    return f"{partition}: all of {replicas(assignment.target)} are in sync, the reassignment completes{gone}."
