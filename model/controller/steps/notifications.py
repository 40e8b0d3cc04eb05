"""What brokers tell through ZooKeeper: failed log dirs, and ISRs that leaders wrote by themselves (before 2.7).

Source: `KafkaController.processLogDirEventNotification`, `processIsrChangeNotification` (3.9); KIP-112.
"""

from collections.abc import Iterable

from model.cluster.ids import TopicPartition
from model.cluster.words import brokers, counted
from model.controller.context import ControllerContext
from model.controller.replica_states import PartitionAndReplica, ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.leadership import reads, states_read
from model.controller.steps.metadata import SendMetadata
from model.controller.steps.offline_replicas import LoseReplicas
from model.controller.steps.reassignment import CompleteIfInSync
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.znodes import DeleteZnodes
from model.controller.zookeeper import LOG_DIR_EVENTS, Answer, Children, Read
from model.znodes.notifications import decode_isr_change, decode_log_dir_event
from model.znodes.reasons import UnusablePayloadError


class ListNotifications(Step, frozen=True):
    """List what is new in one of the two folders."""

    folder: str

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Children(self.folder, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        paths = tuple(f"{self.folder}/{name}" for name in answers[0].names)
        if not paths:
            return Outcome(context)
        read = ReadLogDirEvents(paths) if self.folder == LOG_DIR_EVENTS else ReadIsrChanges(paths)
        return Outcome(context, then=(read, DeleteZnodes(paths)))


class ReadLogDirEvents(Step, frozen=True):
    """Ask brokers with failed log dirs about all their copies: what they cannot serve, they will say."""

    paths: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(map(Read, self.paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        failed = frozenset(_brokers(answers))
        copies = tuple(context.topics.on_brokers(failed))
        why = f"Log dirs failed on {brokers(failed)}: asking about {counted(len(copies), 'replica')}."
        return Outcome(context, then=(MoveReplicas(copies, ReplicaState.ONLINE),), why=why)


class ReadIsrChanges(Step, frozen=True):
    """Read the states that leaders wrote."""

    paths: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(map(Read, self.paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        changed = tuple(dict.fromkeys(_partitions(answers)))
        known = tuple(name for name, _ in context.topics.known(changed))
        return Outcome(context, then=(ReadChangedStates(known),) if known else ())


class ReadChangedStates(Step, frozen=True):
    """Remember them, tell everybody, and see whether a reassignment waited for it."""

    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        context = context.with_leaderships(states_read(self.partitions, answers).states)
        steps = (CompleteIfInSync(name) for name in self.partitions)
        why = f"Leaders changed the ISRs of {counted(len(self.partitions), 'partition')}."
        return Outcome(context, then=(SendMetadata(self.partitions), *steps), why=why)


class NoteLogDirs(Step, frozen=True):
    """A broker answered which of its copies lie in failed log dirs, and which do not."""

    broker: int
    failed: frozenset[TopicPartition]
    working: frozenset[TopicPartition]

    def begin(self, context: ControllerContext) -> Outcome:
        before = context.offline_log_dirs.get(self.broker, frozenset())
        now = (before - self.working) | self.failed
        if now == before:
            return Outcome(context)
        context = context.replace(offline_log_dirs={**context.offline_log_dirs, self.broker: now})
        new = tuple(PartitionAndReplica(name, self.broker) for name in sorted(now - before))
        why = f"{counted(len(new), 'replica')} on broker {self.broker} offline: the log dir failed." if new else ""
        return Outcome(context, then=(LoseReplicas(new),) if new else (), why=why)


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
