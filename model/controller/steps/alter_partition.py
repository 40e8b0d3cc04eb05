"""ISRs that leaders want changed: checked one by one, written under their versions, and told to all.

Source: `KafkaController.processAlterPartition`, `tryProcessAlterPartition` (3.9); KIP-497 (2.7), KIP-704 (3.2). The
leader epoch never changes here.
"""

from model.cluster.ids import TopicPartition
from model.cluster.words import counted, listed, replicas
from model.controller.ballot import Liveness
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.context import ControllerContext
from model.controller.events import ProposedIsr
from model.controller.isr_proposal import accept_proposal
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.step import Outcome, Step
from model.controller.steps.leadership import sets, states_written
from model.controller.steps.metadata import SendMetadata
from model.controller.steps.reassignment import CompleteIfInSync
from model.controller.zookeeper import Answer


class AlterPartitions(Step, frozen=True):
    """Check the broker, then each proposal."""

    request: int
    broker: int
    broker_epoch: int
    proposals: tuple[ProposedIsr, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        if context.settings.forms.leaders_write_isrs:
            return Outcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        live = context.live.get(self.broker)
        if live is None or live.epoch != self.broker_epoch:
            return Outcome(context, (AnswerRequest(self.request, "STALE_BROKER_EPOCH"),))
        wanted: list[tuple[TopicPartition, LeaderAndIsr]] = []
        outcomes: list[PartitionOutcome] = []
        for proposal in self.proposals:
            partition = context.topics.partition(proposal.partition)
            asks = context.settings.forms.refuses_offline_members
            accepted = accept_proposal(
                None if partition is None or partition.leadership is None else partition.leadership.state,
                proposal,
                context.liveness(proposal.partition) if asks else Liveness(frozenset(proposal.isr)),
            )
            if isinstance(accepted, LeaderAndIsr):
                wanted.append((proposal.partition, accepted))
            else:
                outcomes.append(PartitionOutcome(proposal.partition, accepted.error, accepted.state))
        refused = [f"{outcome.partition} ({outcome.error})" for outcome in outcomes if outcome.error != "NONE"]
        why = f"Refused ISRs of leader {self.broker}: {listed(refused)}." if refused else ""
        return Outcome(context, then=(WriteProposals(self.request, tuple(wanted), tuple(outcomes)),), why=why)


class WriteProposals(Step, frozen=True):
    """Write what was accepted; a conflict is the leader's to solve, which reads anew."""

    request: int
    wanted: tuple[tuple[TopicPartition, LeaderAndIsr], ...]
    decided: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=sets(context, dict(self.wanted)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        written = states_written(context, dict(self.wanted), answers)
        context = context.with_leaderships(written.done)
        outcomes = [PartitionOutcome(name, state=led.state) for name, led in written.done.items()]
        outcomes += [PartitionOutcome(name, "INVALID_UPDATE_VERSION") for name in written.conflicts]
        outcomes += [PartitionOutcome(name, "UNKNOWN_SERVER_ERROR") for name in written.failed]
        answer = AnswerRequest(self.request, partitions=(*self.decided, *outcomes))
        if not written.done:
            return Outcome(context, (answer,))
        done = tuple(written.done)
        then = (SendMetadata(done), *(CompleteIfInSync(name) for name in done))
        texts = (f"{name} to {replicas(led.state.isr)}" for name, led in written.done.items())
        why = f"ISRs of {counted(len(done), 'partition')} changed, as the leaders asked: {listed(texts)}."
        return Outcome(context, (answer,), then=then, why=why)
