"""Moving replicas of a partition: write the goal, start new replicas, wait until they are in sync, drop the old ones.

Brokers learn of a changed replica list by a higher leader epoch, which fences what was sent before. What is done or
was overtaken is taken out of `/admin/reassign_partitions`. Up to 2.3 the goal was not written down; what else differs
between releases is in `znode_formats.ReassignmentRules`. Which goals are accepted is decided in
`model.controller.requests`; `steps.requests` takes requests.

Source: `KafkaController.onPartitionReassignment` (3.9); the letters are those of its comment (U, A, B). KIP-455.
`updateLeaderEpochAndSendRequest`, `maybeRemoveFromZkReassignment` (3.9).
"""

from collections.abc import Collection

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import replicas
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.elections import ElectionStrategy
from model.controller.events_and_commands import ReassignmentZnodeCreated
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica, PartitionState, ReplicaState
from model.controller.steps.broker_requests import SendBatch, SendMetadata, serve
from model.controller.steps.deletion import ResumeDeletionsOf
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.topics import encode_assignments
from model.controller.steps.znodes import fence, reads, sets, states_read, states_written
from model.znodes.paths import REASSIGNMENTS, topic_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import PartitionReassignment, ReassignmentEntry, decode_reassignment
from model.zookeeper import Answer, Delete, Exists, GetData, SetData, Write


class RaiseLeaderEpoch(Step, frozen=True):
    """Read the state to raise the epoch of. Replicas being added are told that the partition is new to them."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=reads([self.partition]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        read = states_read([self.partition], answers, context.epoch)
        found = read.states.get(self.partition)
        if found is None:
            return StepOutcome(context, why=f"{self.partition}: no new leader epoch, {read.missing[self.partition]}.")
        return StepOutcome(context, then=(WriteLeaderEpoch(self.partition, found.state.with_next_epoch()),))


class WriteLeaderEpoch(Step, frozen=True):
    """Write it; begin anew if somebody wrote in between."""

    partition: TopicPartition
    state: LeaderAndIsr

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=sets(context, {self.partition: self.state}))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        written = states_written(context, {self.partition: self.state}, answers)
        context = context.with_leaderships(written.done)
        partition = context.topics.partition(self.partition)
        if written.conflicts or partition is None:
            return StepOutcome(context, then=(RaiseLeaderEpoch(self.partition),) if written.conflicts else ())
        if written.failed:
            return StepOutcome(context, why=f"{self.partition}: no new leader epoch, its state could not be written.")
        assignment = partition.assignment
        told = [(self.partition, assignment.origin, False), (self.partition, assignment.adding, True)]
        why = (
            f"{self.partition}: leader epoch {self.state.leader_epoch}, so that its replicas hear of the reassignment."
        )
        return StepOutcome(serve(context, told), then=(SendBatch(),), why=why)


class RemoveFromZnode(Step, frozen=True):
    """Take these partitions out, where they are asked to have these replicas (None: whichever)."""

    partitions: tuple[tuple[TopicPartition, tuple[int, ...] | None], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(REASSIGNMENTS, watch=True), GetData(REASSIGNMENTS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if not answers[1].ok:
            return StepOutcome(context)
        done = dict(self.partitions)
        kept = tuple(entry for entry in entries_in(answers[1]) if not _is_done(entry, done))
        return StepOutcome(context, then=(WriteZnode(kept),))


class WriteZnode(Step, frozen=True):
    """Write what is left; delete the znode when nothing is, and look again in case there is a new one by then."""

    kept: tuple[ReassignmentEntry, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        write: Write = Delete(REASSIGNMENTS)
        if self.kept:
            write = SetData(REASSIGNMENTS, PartitionReassignment(partitions=self.kept).to_bytes())
        return StepOutcome(context, ask=fence(context, [write]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, queue=() if self.kept else (ReassignmentZnodeCreated(at_ms=context.now_ms),))


def entries_in(answer: Answer) -> tuple[ReassignmentEntry, ...]:
    """What is asked for; nothing if the znode cannot be read."""
    if not answer.ok:
        return ()
    try:
        return decode_reassignment(answer.data).partitions
    except UnusablePayloadError:
        return ()


def _is_done(entry: ReassignmentEntry, done: dict[TopicPartition, tuple[int, ...] | None]) -> bool:
    name = TopicPartition(entry.topic, entry.partition)
    return name in done and done[name] in (None, entry.replicas)


WAY_OUT = (
    ReplicaState.OFFLINE,
    ReplicaState.DELETION_STARTED,
    ReplicaState.DELETION_SUCCESSFUL,
    ReplicaState.NON_EXISTENT,
)
"""The states of a copy that is dropped; 0.8.0 does not know them all."""


class Reassign(Step, frozen=True):
    """Set out for an assignment, or go on towards it."""

    partition: TopicPartition
    to: ReplicaAssignment

    def begin(self, context: ControllerContext) -> StepOutcome:
        partition = context.topics.partition(self.partition)
        if partition is None:
            return StepOutcome(context)
        context = context.replace(deletion=context.deletion.halt([self.partition.topic]))
        advance = Advance(self.partition)
        if partition.assignment == self.to:
            return StepOutcome(context, then=(advance,))
        why = (
            f"{self.partition}: replicas {replicas(partition.assignment.replicas)} shall be {replicas(self.to.target)}."
        )
        if not context.settings.forms.reassigning.keeps_goal:
            return StepOutcome(context, then=(SetAssignment(self.partition, self.to), advance), why=why)
        dropped = self.to.dropped_from(partition.assignment)
        after = (*dropping(context, self.partition, dropped), advance)
        return StepOutcome(context, then=(WriteAssignment(self.partition, self.to, after),), why=why)


class WriteAssignment(Step, frozen=True):
    """U: write the topic's assignment with this one in it, and remember it. Without the znode, nothing else is done."""

    partition: TopicPartition
    assignment: ReplicaAssignment
    after: tuple[Step, ...] = ()

    def begin(self, context: ControllerContext) -> StepOutcome:
        name = self.partition.topic
        topic = context.topics.by_name.get(name)
        assignments = {number.partition: known.assignment for number, known in context.topics.of_topic(name)}
        payload = encode_assignments(
            topic.topic_id if topic else None,
            {**assignments, self.partition.partition: self.assignment},
            context.settings.forms.topic_version,
        )
        return StepOutcome(context, ask=fence(context, [SetData(topic_path(name), payload)]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if not answers[0].ok:
            return StepOutcome(
                context, why=f"{self.partition}: its assignment could not be written, the reassignment stops."
            )
        return StepOutcome(assigned(context, self.partition, self.assignment), then=self.after)


class Advance(Step, frozen=True):
    """Look at the ISR: complete the reassignment if the goal is in sync, else start the new copies (A)."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> StepOutcome:
        context = context.replace(reassigning=context.reassigning | {self.partition})
        watch = context.settings.forms.reassigning.watches_states
        return StepOutcome(context, ask=reads([self.partition], watch=watch))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        partition = context.topics.partition(self.partition)
        if partition is None:
            return StepOutcome(context)
        assignment = partition.assignment
        found = states_read([self.partition], answers).states.get(self.partition)
        isr = () if found is None else found.state.isr
        if _is_reached(context, assignment, isr):
            then = completing(context, self.partition, assignment)
            return StepOutcome(context, then=then, why=_completed(self.partition, assignment))
        rules = context.settings.forms.reassigning
        new = tuple(PartitionAndReplica(self.partition, replica) for replica in assignment.adding)
        missing = [replica for replica in assignment.target if replica not in isr]
        join = "joins" if len(missing) == 1 else "join"
        why = f"{self.partition}: waiting until {replicas(missing)} {join} the ISR {replicas(isr)}."
        then = (
            *(() if rules.keeps_goal or not rules.announces else (WriteAssignment(self.partition, assignment),)),
            *((RaiseLeaderEpoch(self.partition),) if rules.announces else ()),
            MoveReplicas(new, ReplicaState.NEW),
        )
        return StepOutcome(context, then=then, why=why)


class LookAtReassigned(Step, frozen=True):
    """The state was written: if all of the goal is in sync by now, go on (up to 2.6, where leaders write it)."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> StepOutcome:
        if self.partition not in context.reassigning:
            return StepOutcome(context)
        return StepOutcome(context, ask=reads([self.partition], watch=True))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        partition = context.topics.partition(self.partition)
        found = states_read([self.partition], answers).states.get(self.partition)
        if found is None or partition is None or not _is_reached(context, partition.assignment, found.state.isr):
            return StepOutcome(context)
        return StepOutcome(context, then=(Advance(self.partition),))


class CompleteIfInSync(Step, frozen=True):
    """An ISR changed: see whether that is what a reassignment waited for."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> StepOutcome:
        partition = context.topics.partition(self.partition)
        if partition is None or partition.leadership is None or not partition.assignment.is_being_reassigned:
            return StepOutcome(context)
        in_sync = partition.assignment.is_complete(partition.leadership.state.isr)
        return StepOutcome(context, then=(Reassign(self.partition, partition.assignment),) if in_sync else ())


class SetAssignment(Step, frozen=True):
    """B2: remember the goal as all there is."""

    partition: TopicPartition
    assignment: ReplicaAssignment

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(assigned(context, self.partition, self.assignment))


class MoveLeader(Step, frozen=True):
    """B3: elect another leader if this one is leaving or dead; else tell it by a higher epoch."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> StepOutcome:
        partition = context.topics.partition(self.partition)
        leader = context.leader_of(self.partition)
        if partition is None:
            return StepOutcome(context)
        if leader in partition.assignment.replicas and context.online(self.partition, leader):
            announced = (RaiseLeaderEpoch(self.partition),) if context.settings.forms.reassigning.announces else ()
            return StepOutcome(context, then=announced)
        return StepOutcome(
            context, then=(MovePartitions((self.partition,), PartitionState.ONLINE, ElectionStrategy.REASSIGN),)
        )


class FinishReassignment(Step, frozen=True):
    """It is not being reassigned any more."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context.replace(reassigning=context.reassigning - {self.partition}))


class ResumeReassignments(Step, frozen=True):
    """Go on with reassignments: all but `besides`, or those that wait for one of the brokers `to`."""

    besides: frozenset[TopicPartition] = frozenset()
    to: frozenset[int] | None = None

    def begin(self, context: ControllerContext) -> StepOutcome:
        steps = tuple(
            Reassign(name, partition.assignment)
            for name, partition in context.topics.known(sorted(context.reassigning - self.besides))
            if self.to is None or not self.to.isdisjoint(partition.assignment.target)
        )
        return StepOutcome(context, then=steps)


def dropping(context: ControllerContext, partition: TopicPartition, gone: Collection[int]) -> tuple[Step, ...]:
    """Copies that nobody needs any more, on their way out. Nobody waits for the brokers to confirm."""
    copies = tuple(PartitionAndReplica(partition, replica) for replica in gone)
    known = context.settings.generation.replica_transitions
    way = (state for state in WAY_OUT if known.sources(state)) if copies else ()
    return tuple(MoveReplicas(copies, state) for state in way)


def completing(
    context: ControllerContext, partition: TopicPartition, assignment: ReplicaAssignment
) -> tuple[Step, ...]:
    """B: the goal is in sync."""
    keeps_goal = context.settings.forms.reassigning.keeps_goal
    serving = assignment.adding if keeps_goal else assignment.target
    goal = assignment.complete()
    return (
        MoveReplicas(tuple(PartitionAndReplica(partition, replica) for replica in serving), ReplicaState.ONLINE),
        SetAssignment(partition, goal),
        MoveLeader(partition),
        *dropping(context, partition, assignment.removing),
        WriteAssignment(partition, goal),
        RemoveFromZnode(((partition, goal.replicas if keeps_goal else None),)),
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
    leave = "leaves" if len(assignment.removing) == 1 else "leave"
    gone = f", {replicas(assignment.removing)} {leave}" if assignment.removing else ""
    return f"{partition}: all of {replicas(assignment.target)} are in sync, the reassignment completes{gone}."


def _is_reached(context: ControllerContext, assignment: ReplicaAssignment, isr: Collection[int]) -> bool:
    """Whether the old copies can go. Up to 2.3 also a mere change of order waited until all were in sync."""
    if context.settings.forms.reassigning.keeps_goal:
        return assignment.is_complete(isr)
    return set(assignment.target) <= set(isr)
