"""Requests to move replicas, by RPC or by znode: what is refused is answered or taken out, the rest sets out.

Source: `KafkaController.processApiPartitionReassignment`, `processZkPartitionReassignment`,
`processListPartitionReassignments` (3.9).
"""

from model.cluster.ids import TopicPartition
from model.cluster.texts import listed
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.reassignment_requests import reassign_by_request, reassign_by_znode, reassign_unkept
from model.controller.refusal import Refusal
from model.controller.steps.reassignment import Reassign, RemoveFromZnode, ResumeReassignments, entries_in
from model.znodes.paths import REASSIGNMENTS
from model.zookeeper.operations import Answer, Exists, GetData


class ReassignByRequest(Step, frozen=True):
    """AlterPartitionReassignments. It overtakes what the znode asks of the same partitions."""

    request: int
    targets: tuple[tuple[TopicPartition, tuple[int, ...] | None], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        if not context.settings.forms.reassigning.keeps_goal:
            return StepOutcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        steps: list[Reassign] = []
        outcomes: list[PartitionOutcome] = []
        refusals: list[str] = []
        live = context.live.keys() - context.shutting_down
        for name, target in self.targets:
            known = context.topics.partition(name)
            current = None if known is None else known.assignment
            wanted = reassign_by_request(current, target, live, deleting=context.deleting(name.topic))
            if isinstance(wanted, Refusal):
                outcomes.append(PartitionOutcome(name, wanted.error))
                refusals.append(f"{name} ({wanted.message})")
            else:
                outcomes.append(PartitionOutcome(name))
                steps.append(Reassign(name, wanted))
        overtaken = tuple((step.partition, None) for step in steps)
        then = (RemoveFromZnode(overtaken), *steps, AnswerReassignments(self.request, tuple(outcomes)))
        return StepOutcome(context, then=then, why=f"Reassignments refused: {listed(refusals)}." if refusals else "")


class AnswerReassignments(Step, frozen=True):
    """All that could set out has."""

    request: int
    outcomes: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, (AnswerRequest(self.request, partitions=self.outcomes),))


class ListReassignments(Step, frozen=True):
    """ListPartitionReassignments: what is being added and removed; partitions at rest are left out."""

    request: int
    partitions: tuple[TopicPartition, ...] | None

    def begin(self, context: ControllerContext) -> StepOutcome:
        wanted = sorted(context.reassigning) if self.partitions is None else self.partitions
        found = tuple(
            PartitionOutcome(name, assignment=partition.assignment)
            for name, partition in context.topics.known(dict.fromkeys(wanted))
            if partition.assignment.is_being_reassigned
        )
        return StepOutcome(context, (AnswerRequest(self.request, partitions=found),))


class ReassignFromZnode(Step, frozen=True):
    """`/admin/reassign_partitions`; at a failover, what it does not name goes on where it was."""

    at_failover: bool = False

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(REASSIGNMENTS, watch=True), GetData(REASSIGNMENTS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        steps: list[Step] = []
        started: set[TopicPartition] = set()
        failed: list[TopicPartition] = []
        refusals: list[str] = []
        for entry in entries_in(answers[1]):
            name = TopicPartition(entry.topic, entry.partition)
            known = context.topics.partition(name)
            current = None if known is None else known.assignment
            wanted = _wanted(context, name, current, entry.replicas)
            if isinstance(wanted, Refusal):
                failed.append(name)
                refusals.append(f"{name} ({wanted.message})")
            else:
                steps.append(Reassign(name, wanted))
                started.add(name)
        if failed:
            steps.append(RemoveFromZnode(tuple((name, None) for name in failed)))
        if self.at_failover:
            steps.append(ResumeReassignments(besides=frozenset(started)))
        why = f"Reassignments refused: {listed(refusals)}." if refusals else ""
        return StepOutcome(context, then=tuple(steps), why=why)


def _wanted(
    context: ControllerContext, name: TopicPartition, current: ReplicaAssignment | None, target: tuple[int, ...]
) -> ReplicaAssignment | Refusal:
    rules, deleting = context.settings.forms.reassigning, context.deleting(name.topic)
    if rules.keeps_goal:
        return reassign_by_znode(current, target, deleting=deleting)
    live = context.live.keys() - context.shutting_down
    return reassign_unkept(current, target, rules, live, deleting=deleting)
