"""Brokers: how one registers, and what the controller does when they come, go, lose log dirs or come back unnoticed.

A bounced broker is one whose epoch (czxid) has grown: it is treated as dead, then as new. Where replicas go offline,
elections come before ISRs, therefore a leader that dies under a living controller costs one leader epoch and not two;
deletions come last.

Source: `KafkaServer.startup`, `KafkaZkClient.createTopLevelPaths`, `createOrGetClusterId`, `registerBroker`,
`KafkaController.processBrokerChange`, `onBrokerStartup`, `onBrokerFailure`, `processBrokerModification`,
`onReplicasBecomeOffline` (3.9).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

import msgspec

from model.cluster.texts import brokers, counted
from model.controller.context import BrokerAndEpoch, ControllerContext, Step, StepOutcome
from model.controller.events_and_commands import DropRequests
from model.controller.state_machines import PartitionAndReplica, PartitionState, ReplicaState
from model.controller.steps.broker_requests import SendAllMetadata, SendMetadata
from model.controller.steps.deletion import FailDeletions, ResumeDeletionsOf
from model.controller.steps.partitions import ElectOffline, MovePartitions
from model.controller.steps.reassignment import ResumeReassignments
from model.controller.steps.replicas import MoveReplicas
from model.znodes.cluster import BrokerRegistration, ClusterId, decode_broker
from model.znodes.paths import BROKER_IDS, CLUSTER_ID, broker_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Answer, Code, Create, Delete, GetChildren, GetData, Multi, SetData


class MakeZnode(Step, frozen=True):
    """Create a persistent znode and what is missing above it; one that is there stays as it is."""

    path: str
    data: bytes = b""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Create(self.path, self.data),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        parent = self.path.rpartition("/")[0]
        if answers[0].code is Code.NO_NODE and parent:
            return StepOutcome(context, then=(MakeZnode(parent), self))
        return StepOutcome(context)


class MakeClusterId(Step, frozen=True):
    """The first broker names the cluster; `proposed` are 22 characters of base64url."""

    proposed: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetData(CLUSTER_ID),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if answers[0].ok:
            return StepOutcome(context)
        return StepOutcome(context, then=(MakeZnode(CLUSTER_ID, ClusterId(cluster_id=self.proposed).to_bytes()),))


class RegisterBroker(Step, frozen=True):
    """Register under this `session`; the broker epoch is the transaction of the create (KIP-380, 2.2).

    The znode of the broker's own `previous_session` is replaced (KAFKA-7165). Anybody else's means that two brokers
    share an id: then nothing of `after` is done.
    """

    registration: bytes
    after: tuple[Step, ...]
    previous_session: int = 0
    session: int = 0

    def begin(self, context: ControllerContext) -> StepOutcome:
        path = broker_path(context.broker_id)
        register = Create(path, self.registration, ephemeral=True)
        if context.settings.forms.broker_epochs:
            register = Multi((Create(path, ephemeral=True), SetData(path, self.registration, version=0)))
        return StepOutcome(context, ask=(register, GetData(path)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        registered, found = answers
        # A connection that broke may have hidden from us that the first try was a success.
        if registered.ok or (self.session and found.owner == self.session):
            epoch = f" with broker epoch {found.czxid}" if context.settings.forms.broker_epochs else ""
            why = f"Broker {context.broker_id} is registered{epoch}."
            return StepOutcome(context.replace(broker_epoch=found.czxid), then=self.after, why=why)
        if self.previous_session and found.owner == self.previous_session:
            return StepOutcome(context, then=(DeleteRegistration(), self))
        return StepOutcome(
            context, why=f"Another broker is registered under id {context.broker_id}: this one stays out."
        )


class DeleteRegistration(Step, frozen=True):
    """The znode of an expired session that ZooKeeper has not removed yet."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Delete(broker_path(context.broker_id)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context)


class LoseReplicas(Step, frozen=True):
    """Elect where the leader was lost, then take the copies out of the ISRs."""

    copies: tuple[PartitionAndReplica, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        copies = context.settings.generation.lost(self.copies)
        for_deletion = tuple(copy for copy in copies if context.deleting(copy.partition.topic))
        others = tuple(copy for copy in copies if not context.deleting(copy.partition.topic))
        led_offline = tuple(name for name in context.led_offline() if not context.deleting(name.topic))
        then: list[Step] = [MovePartitions(led_offline, PartitionState.OFFLINE), ElectOffline()]
        then.append(MoveReplicas(others, ReplicaState.OFFLINE) if others else TellUnlessElected())
        if for_deletion:
            then.append(FailDeletions(for_deletion))
        return StepOutcome(context, then=tuple(then))


class TellUnlessElected(Step, frozen=True):
    """Nobody was sent anything yet: tell all brokers who is live."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, then=() if context.elected else (SendMetadata(),))


V = TypeVar("V")


class ReadBrokers(Step, frozen=True):
    """List the brokers. `compare`: act on what changed; without it, all of them are taken as found."""

    compare: bool = False

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(BROKER_IDS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        ids = tuple(sorted(int(name) for name in answers[0].names if name.isascii() and name.isdigit()))
        return StepOutcome(context, then=(ReadRegistrations(ids, self.compare),))


class ReadRegistrations(Step, frozen=True):
    """Read each broker's registration and epoch."""

    ids: tuple[int, ...]
    compare: bool

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(GetData(broker_path(broker), watch=True) for broker in self.ids))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        found = {
            broker: BrokerAndEpoch(answer.czxid, answer.data)
            for broker, answer in zip(self.ids, answers, strict=True)
            if answer.ok
        }
        if not self.compare:
            return StepOutcome(context.replace(live=found, shutting_down=frozenset[int](), offline_log_dirs={}))
        return StepOutcome(context, then=_steps_between(context, found))


class AddBrokers(Step, frozen=True):
    """Brokers are there: they learn everything, the others learn of them, and what waited for them goes on."""

    found: tuple[tuple[int, BrokerAndEpoch], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        new = frozenset(broker for broker, _ in self.found)
        others = tuple(broker for broker in context.reachable if broker not in new)
        context = context.replace(
            live={**context.live, **dict(self.found)}, offline_log_dirs=_other(context.offline_log_dirs, new)
        )
        copies = tuple(context.topics.on_brokers(new))
        waiting = frozenset(name.topic for name, _ in copies if context.deleting(name.topic))
        then: list[Step] = [
            SendMetadata((), others),
            SendAllMetadata(tuple(sorted(new))),
            MoveReplicas(copies, ReplicaState.ONLINE),
            ElectOffline(),
            ResumeReassignments(to=new),
        ]
        if waiting:
            then.append(ResumeDeletionsOf(waiting))
        why = f"{_capital(brokers(new))} came: {counted(len(copies), 'replica')} there can serve again."
        return StepOutcome(context, then=tuple(then), why=why)


class RemoveBrokers(Step, frozen=True):
    """Brokers are gone, and all their copies are offline."""

    gone: tuple[int, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        gone = frozenset(self.gone)
        context = context.replace(
            live=_other(context.live, gone),
            shutting_down=context.shutting_down - gone,
            offline_log_dirs=_other(context.offline_log_dirs, gone),
        )
        copies = tuple(context.topics.on_brokers(gone))
        why = f"{_capital(brokers(gone))} went: {counted(len(copies), 'replica')} offline."
        return StepOutcome(context, tuple(map(DropRequests, self.gone)), then=(LoseReplicas(copies),), why=why)


class ReadBroker(Step, frozen=True):
    """A live broker wrote its registration anew: if its listeners or features changed, everybody is told."""

    broker: int

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetData(broker_path(self.broker), watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        old = context.live.get(self.broker)
        if old is None or not answers[0].ok or _what_counts(old.registration) == _what_counts(answers[0].data):
            return StepOutcome(context)
        changed = msgspec.structs.replace(old, registration=answers[0].data)
        context = context.replace(live={**context.live, self.broker: changed})
        return StepOutcome(
            context, then=(SendMetadata(),), why=f"Broker {self.broker} changed its listeners or features."
        )


def _steps_between(context: ControllerContext, found: dict[int, BrokerAndEpoch]) -> tuple[Step, ...]:
    new = sorted(found.keys() - context.live.keys())
    dead = sorted(context.live.keys() - found.keys())
    bounced = sorted(
        broker for broker, old in context.live.items() if broker in found and found[broker].epoch > old.epoch
    )
    if not context.settings.forms.broker_epochs:
        bounced = []
    then: list[Step] = []
    if new:
        then.append(_adding(new, found))
    if bounced:
        then += [RemoveBrokers(tuple(bounced)), _adding(bounced, found)]
    if dead:
        then.append(RemoveBrokers(tuple(dead)))
    return tuple(then)


def _adding(ids: Iterable[int], found: dict[int, BrokerAndEpoch]) -> AddBrokers:
    return AddBrokers(tuple((broker, found[broker]) for broker in ids))


def _other(by_broker: Mapping[int, V], gone: Collection[int]) -> dict[int, V]:
    return {broker: value for broker, value in by_broker.items() if broker not in gone}


def _what_counts(registration: bytes) -> object:
    try:
        found: BrokerRegistration = decode_broker(registration)
    except UnusablePayloadError:
        return registration
    return found.listeners, found.features


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
