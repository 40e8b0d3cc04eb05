"""Brokers that come, go, or come back under the same id before anybody noticed that they were gone.

Source: `KafkaController.processBrokerChange`, `onBrokerStartup`, `onBrokerFailure`, `processBrokerModification` (3.9).
A bounced broker is one whose epoch (czxid) has grown: it is treated as dead, then as new.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

import msgspec

from model.cluster.words import brokers, counted
from model.controller.commands import DropRequests
from model.controller.context import ControllerContext, LiveBroker
from model.controller.replica_states import ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.deletion import ResumeDeletionsOf
from model.controller.steps.metadata import SendAllMetadata, SendMetadata
from model.controller.steps.offline_replicas import LoseReplicas
from model.controller.steps.partitions import ElectOffline
from model.controller.steps.reassignment import ResumeReassignments
from model.controller.steps.replicas import MoveReplicas
from model.controller.zookeeper import BROKER_IDS, Answer, Children, Read
from model.znodes.brokers import BrokerRegistration, decode_broker
from model.znodes.paths import broker_path
from model.znodes.reasons import UnusablePayloadError

V = TypeVar("V")


class ReadBrokers(Step, frozen=True):
    """List the brokers. `compare`: act on what changed; without it, all of them are taken as found."""

    compare: bool = False

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Children(BROKER_IDS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        ids = tuple(sorted(int(name) for name in answers[0].names if name.isascii() and name.isdigit()))
        return Outcome(context, then=(ReadRegistrations(ids, self.compare),))


class ReadRegistrations(Step, frozen=True):
    """Read each broker's registration and epoch."""

    ids: tuple[int, ...]
    compare: bool

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(Read(broker_path(broker), watch=True) for broker in self.ids))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        found = {
            broker: LiveBroker(answer.czxid, answer.data)
            for broker, answer in zip(self.ids, answers, strict=True)
            if answer.ok
        }
        if not self.compare:
            return Outcome(context.replace(live=found, shutting_down=frozenset[int](), offline_log_dirs={}))
        return Outcome(context, then=_steps_between(context, found))


class AddBrokers(Step, frozen=True):
    """Brokers are there: they learn everything, the others learn of them, and what waited for them goes on."""

    found: tuple[tuple[int, LiveBroker], ...]

    def begin(self, context: ControllerContext) -> Outcome:
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
        return Outcome(context, then=tuple(then), why=why)


class RemoveBrokers(Step, frozen=True):
    """Brokers are gone, and all their copies are offline."""

    gone: tuple[int, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        gone = frozenset(self.gone)
        context = context.replace(
            live=_other(context.live, gone),
            shutting_down=context.shutting_down - gone,
            offline_log_dirs=_other(context.offline_log_dirs, gone),
        )
        copies = tuple(context.topics.on_brokers(gone))
        why = f"{_capital(brokers(gone))} went: {counted(len(copies), 'replica')} offline."
        return Outcome(context, tuple(map(DropRequests, self.gone)), then=(LoseReplicas(copies),), why=why)


class ReadBroker(Step, frozen=True):
    """A live broker wrote its registration anew: if its listeners or features changed, everybody is told."""

    broker: int

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Read(broker_path(self.broker), watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        old = context.live.get(self.broker)
        if old is None or not answers[0].ok or _what_counts(old.registration) == _what_counts(answers[0].data):
            return Outcome(context)
        changed = msgspec.structs.replace(old, registration=answers[0].data)
        context = context.replace(live={**context.live, self.broker: changed})
        return Outcome(context, then=(SendMetadata(),), why=f"Broker {self.broker} changed its listeners or features.")


def _steps_between(context: ControllerContext, found: dict[int, LiveBroker]) -> tuple[Step, ...]:
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


def _adding(ids: Iterable[int], found: dict[int, LiveBroker]) -> AddBrokers:
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
