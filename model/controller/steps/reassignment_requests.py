"""Requests to move replicas, by RPC or by znode: what is refused is answered or taken out, the rest sets out.

Source: `KafkaController.processApiPartitionReassignment`, `processZkPartitionReassignment` (3.9).
"""

from model.cluster.ids import TopicPartition
from model.cluster.words import listed
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.context import ControllerContext
from model.controller.reassignment_request import reassign_by_request, reassign_by_znode
from model.controller.refusal import Refusal
from model.controller.step import Outcome, Step
from model.controller.steps.reassignment import Reassign, ResumeReassignments
from model.controller.steps.reassignment_znode import RemoveFromZnode, entries_in
from model.controller.zookeeper import REASSIGNMENTS, Answer, Exists, Read


class ReassignByRequest(Step, frozen=True):
    """AlterPartitionReassignments. It overtakes what the znode asks of the same partitions."""

    request: int
    targets: tuple[tuple[TopicPartition, tuple[int, ...] | None], ...]

    def begin(self, context: ControllerContext) -> Outcome:
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
        return Outcome(context, then=then, why=f"Reassignments refused: {listed(refusals)}." if refusals else "")


class AnswerReassignments(Step, frozen=True):
    """All that could set out has."""

    request: int
    outcomes: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, (AnswerRequest(self.request, partitions=self.outcomes),))


class ReassignFromZnode(Step, frozen=True):
    """`/admin/reassign_partitions`; at a failover, what it does not name goes on where it was."""

    at_failover: bool = False

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(REASSIGNMENTS, watch=True), Read(REASSIGNMENTS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        steps: list[Step] = []
        started: set[TopicPartition] = set()
        failed: list[TopicPartition] = []
        for entry in entries_in(answers[1]):
            name = TopicPartition(entry.topic, entry.partition)
            known = context.topics.partition(name)
            current = None if known is None else known.assignment
            wanted = reassign_by_znode(current, entry.replicas, deleting=context.deleting(name.topic))
            if isinstance(wanted, Refusal):
                failed.append(name)
            else:
                steps.append(Reassign(name, wanted))
                started.add(name)
        if failed:
            steps.append(RemoveFromZnode(tuple((name, None) for name in failed)))
        if self.at_failover:
            steps.append(ResumeReassignments(besides=frozenset(started)))
        why = f"Reassignments refused, for there are no such partitions: {listed(failed)}." if failed else ""
        return Outcome(context, then=tuple(steps), why=why)
