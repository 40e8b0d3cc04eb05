"""A higher leader epoch and nothing else: it fences what was sent before, and tells brokers a changed replica list.

Source: `KafkaController.updateLeaderEpochAndSendRequest` (3.9).
"""

from model.cluster.ids import TopicPartition
from model.controller.context import ControllerContext
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.step import Outcome, Step
from model.controller.steps.leadership import reads, sets, states_read, states_written
from model.controller.steps.metadata import SendBatch
from model.controller.telling import serve
from model.controller.zookeeper import Answer


class RaiseLeaderEpoch(Step, frozen=True):
    """Read the state to raise the epoch of. Replicas being added are told that the partition is new to them."""

    partition: TopicPartition

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=reads([self.partition]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        read = states_read([self.partition], answers, context.epoch)
        found = read.states.get(self.partition)
        if found is None:
            return Outcome(context, why=f"{self.partition}: no new leader epoch, {read.missing[self.partition]}.")
        return Outcome(context, then=(WriteLeaderEpoch(self.partition, found.state.with_next_epoch()),))


class WriteLeaderEpoch(Step, frozen=True):
    """Write it; begin anew if somebody wrote in between."""

    partition: TopicPartition
    state: LeaderAndIsr

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=sets(context, {self.partition: self.state}))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        written = states_written(context, {self.partition: self.state}, answers)
        context = context.with_leaderships(written.done)
        partition = context.topics.partition(self.partition)
        if written.conflicts or partition is None:
            return Outcome(context, then=(RaiseLeaderEpoch(self.partition),) if written.conflicts else ())
        if written.failed:
            return Outcome(context, why=f"{self.partition}: no new leader epoch, its state could not be written.")
        assignment = partition.assignment
        told = [(self.partition, assignment.origin, False), (self.partition, assignment.adding, True)]
        why = (
            f"{self.partition}: leader epoch {self.state.leader_epoch}, so that its replicas hear of the reassignment."
        )
        return Outcome(serve(context, told), then=(SendBatch(),), why=why)
