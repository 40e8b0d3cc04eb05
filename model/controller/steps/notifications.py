"""What brokers tell the controller: ISRs that leaders want or wrote by themselves, and failed log dirs.

ISRs come by AlterPartition (KIP-497, 2.7), checked one by one, written under their versions and told to all; before
2.7 by a notification in ZooKeeper. The leader epoch never changes here.

Source: `KafkaController.processAlterPartition`, `tryProcessAlterPartition`, `processLogDirEventNotification`,
`processIsrChangeNotification` (3.9); KIP-112, KIP-704 (3.2).
"""

from collections.abc import Iterable

from model.cluster.ids import TopicPartition
from model.cluster.texts import brokers, counted, listed, replicas
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.elections import Liveness, accept_proposal
from model.controller.events_and_commands import AnswerRequest, PartitionOutcome, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.state_machines import PartitionAndReplica, ReplicaState
from model.controller.steps.broker_requests import SendMetadata
from model.controller.steps.brokers import LoseReplicas
from model.controller.steps.reassignment import CompleteIfInSync
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.znodes import DeleteZnodes, reads, sets, states_read, states_written
from model.znodes.paths import LOG_DIR_EVENTS
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import decode_isr_change, decode_log_dir_event
from model.zookeeper import Answer, GetChildren, GetData


class AlterPartitions(Step, frozen=True):
    """Check the broker, then each proposal."""

    request: int
    broker: int
    broker_epoch: int
    proposals: tuple[ProposedIsr, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        if context.settings.forms.leaders_write_isrs:
            return StepOutcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        live = context.live.get(self.broker)
        if live is None or live.epoch != self.broker_epoch:
            return StepOutcome(context, (AnswerRequest(self.request, "STALE_BROKER_EPOCH"),))
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
        return StepOutcome(context, then=(WriteProposals(self.request, tuple(wanted), tuple(outcomes)),), why=why)


class WriteProposals(Step, frozen=True):
    """Write what was accepted; a conflict is the leader's to solve, which reads anew."""

    request: int
    wanted: tuple[tuple[TopicPartition, LeaderAndIsr], ...]
    decided: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=sets(context, dict(self.wanted)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        written = states_written(context, dict(self.wanted), answers)
        context = context.with_leaderships(written.done)
        outcomes = [PartitionOutcome(name, state=led.state) for name, led in written.done.items()]
        outcomes += [PartitionOutcome(name, "INVALID_UPDATE_VERSION") for name in written.conflicts]
        outcomes += [PartitionOutcome(name, "UNKNOWN_SERVER_ERROR") for name in written.failed]
        answer = AnswerRequest(self.request, partitions=(*self.decided, *outcomes))
        if not written.done:
            return StepOutcome(context, (answer,))
        done = tuple(written.done)
        then = (SendMetadata(done), *(CompleteIfInSync(name) for name in done))
        texts = (f"{name} to {replicas(led.state.isr)}" for name, led in written.done.items())
        why = f"ISRs of {counted(len(done), 'partition')} changed, as the leaders asked: {listed(texts)}."
        return StepOutcome(context, (answer,), then=then, why=why)


class ListNotifications(Step, frozen=True):
    """List what is new in one of the two folders."""

    folder: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(self.folder, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        paths = tuple(f"{self.folder}/{name}" for name in answers[0].names)
        if not paths:
            return StepOutcome(context)
        read = ReadLogDirEvents(paths) if self.folder == LOG_DIR_EVENTS else ReadIsrChanges(paths)
        return StepOutcome(context, then=(read, DeleteZnodes(paths)))


class ReadLogDirEvents(Step, frozen=True):
    """Ask brokers with failed log dirs about all their copies: what they cannot serve, they will say."""

    paths: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(map(GetData, self.paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        failed = frozenset(_brokers(answers))
        copies = tuple(context.topics.on_brokers(failed))
        why = f"Log dirs failed on {brokers(failed)}: asking about {counted(len(copies), 'replica')}." if failed else ""
        return StepOutcome(context, then=(MoveReplicas(copies, ReplicaState.ONLINE),), why=why)


class ReadIsrChanges(Step, frozen=True):
    """Read the states that leaders wrote."""

    paths: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(map(GetData, self.paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        changed = tuple(dict.fromkeys(_partitions(answers)))
        known = tuple(name for name, _ in context.topics.known(changed))
        return StepOutcome(context, then=(ReadChangedStates(known),) if known else ())


class ReadChangedStates(Step, frozen=True):
    """Remember them, tell everybody, and see whether a reassignment waited for it."""

    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        context = context.with_leaderships(states_read(self.partitions, answers).states)
        steps = (CompleteIfInSync(name) for name in self.partitions)
        why = f"Leaders changed the ISRs of {counted(len(self.partitions), 'partition')}."
        return StepOutcome(context, then=(SendMetadata(self.partitions), *steps), why=why)


class NoteLogDirs(Step, frozen=True):
    """A broker answered which of its copies lie in failed log dirs, and which do not."""

    broker: int
    failed: frozenset[TopicPartition]
    working: frozenset[TopicPartition]

    def begin(self, context: ControllerContext) -> StepOutcome:
        before = context.offline_log_dirs.get(self.broker, frozenset())
        now = (before - self.working) | self.failed
        if now == before:
            return StepOutcome(context)
        context = context.replace(offline_log_dirs={**context.offline_log_dirs, self.broker: now})
        new = tuple(PartitionAndReplica(name, self.broker) for name in sorted(now - before))
        why = f"{counted(len(new), 'replica')} on broker {self.broker} offline: the log dir failed." if new else ""
        return StepOutcome(context, then=(LoseReplicas(new),) if new else (), why=why)


def _brokers(answers: Iterable[Answer]) -> Iterable[int]:
    for answer in answers:
        try:
            yield decode_log_dir_event(answer.data).broker
        except UnusablePayloadError:
            continue


def _partitions(answers: Iterable[Answer]) -> Iterable[TopicPartition]:
    for answer in answers:
        try:
            entries = decode_isr_change(answer.data).partitions
        except UnusablePayloadError:
            continue
        yield from (TopicPartition(entry.topic, entry.partition) for entry in entries)
