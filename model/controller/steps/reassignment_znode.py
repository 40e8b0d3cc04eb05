"""`/admin/reassign_partitions`: taking out what is done or was overtaken. It moves no replica.

Source: `KafkaController.maybeRemoveFromZkReassignment` (3.9).
"""

from model.cluster.ids import TopicPartition
from model.controller.context import ControllerContext
from model.controller.events import ReassignmentZnodeCreated
from model.controller.step import Outcome, Step
from model.controller.steps.fencing import fence
from model.controller.zookeeper import REASSIGNMENTS, Answer, Delete, Exists, Read, SetData, Write
from model.znodes.admin import PartitionReassignment, ReassignmentEntry, decode_reassignment
from model.znodes.reasons import UnusablePayloadError


class RemoveFromZnode(Step, frozen=True):
    """Take these partitions out, where they are asked to have these replicas (None: whichever)."""

    partitions: tuple[tuple[TopicPartition, tuple[int, ...] | None], ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(REASSIGNMENTS, watch=True), Read(REASSIGNMENTS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if not answers[1].ok:
            return Outcome(context)
        done = dict(self.partitions)
        kept = tuple(entry for entry in entries_in(answers[1]) if not _is_done(entry, done))
        return Outcome(context, then=(WriteZnode(kept),))


class WriteZnode(Step, frozen=True):
    """Write what is left; delete the znode when nothing is, and look again in case there is a new one by then."""

    kept: tuple[ReassignmentEntry, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        write: Write = Delete(REASSIGNMENTS)
        if self.kept:
            write = SetData(REASSIGNMENTS, PartitionReassignment(partitions=self.kept).to_bytes())
        return Outcome(context, ask=fence(context, [write]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, queue=() if self.kept else (ReassignmentZnodeCreated(at_ms=context.now_ms),))


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
