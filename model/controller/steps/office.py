"""The office of controller: run for it, take it, lay it down. What a controller does in office is not here.

Source: `KafkaController.elect`, `maybeResign` and `onControllerResignation`,
`KafkaZkClient.registerControllerAndIncrementControllerEpoch` (3.9; the multi is of 2.1, KAFKA-6082).
"""

from model.controller.commands import CancelTimer
from model.controller.context import NO_CONTROLLER, Activity, ControllerContext
from model.controller.events import BrokerStarted, SessionEstablished
from model.controller.step import Outcome, Step
from model.controller.steps.failover import TakeOver
from model.controller.steps.preferred import REBALANCE_TIMER
from model.controller.steps.registration import MakeClusterId, MakeZnode, RegisterBroker
from model.controller.zookeeper import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    Answer,
    Code,
    Create,
    Exists,
    Multi,
    Read,
    SetData,
)
from model.znodes.controller import (
    ControllerEpoch,
    ControllerRegistration,
    decode_controller,
    decode_controller_epoch,
)
from model.znodes.paths import PATHS_AT_BROKER_START
from model.znodes.reasons import UnusablePayloadError

UNREADABLE_EPOCH = "/controller_epoch holds no number: nobody can be elected until an operator repairs it."


class WatchController(Step, frozen=True):
    """Watch `/controller`, and run for the office if it is free."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(CONTROLLER, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, then=(Elect(),))


class ResignIfMoved(Step, frozen=True):
    """Watch `/controller`; resign if it was this broker and is not any more."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(CONTROLLER, watch=True), Read(CONTROLLER)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        active_id = controller_in(answers[1])
        was, now = context.active_id == context.broker_id, active_id == context.broker_id
        context = context.replace(active_id=active_id)
        return Outcome(context, then=(Resign(),) if was and not now else ())


class Elect(Step, frozen=True):
    """Run for the office, unless somebody holds it."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Read(CONTROLLER), Read(CONTROLLER_EPOCH)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        active_id = controller_in(answers[0])
        context = context.replace(active_id=active_id)
        if active_id != NO_CONTROLLER:
            why = f"Broker {active_id} is the controller already: broker {context.broker_id} does not stand."
            return Outcome(context.replace(activity=_activity(context, active_id)), why=why)
        context = context.replace(activity=Activity.ELECTING)
        if answers[1].code is Code.NO_NODE:
            return Outcome(context, then=(CreateControllerEpoch(),))
        epoch = _epoch_in(answers[1])
        if epoch is None:
            return Outcome(context.replace(activity=Activity.INACTIVE), why=UNREADABLE_EPOCH)
        return Outcome(context, then=(Claim(epoch, answers[1].version),))


class CreateControllerEpoch(Step, frozen=True):
    """The very first election makes `/controller_epoch` with 0."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Create(CONTROLLER_EPOCH, ControllerEpoch(0).to_bytes()),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, then=(Claim(0, 0),) if answers[0].ok else (Elect(),))


class Claim(Step, frozen=True):
    """Create `/controller` and raise the epoch in one transaction: both happen, or another broker was first."""

    epoch: int
    epoch_version: int

    def begin(self, context: ControllerContext) -> Outcome:
        registration = ControllerRegistration(
            version=2, broker_id=context.broker_id, timestamp=str(context.now_ms), kraft_controller_epoch=-1
        )
        create = Create(CONTROLLER, registration.to_bytes(), ephemeral=True)
        raise_epoch = SetData(CONTROLLER_EPOCH, ControllerEpoch(self.epoch + 1).to_bytes(), self.epoch_version)
        return Outcome(context, ask=(Multi((create, raise_epoch)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if not answers[0].ok:
            return Outcome(context, then=(CheckClaim(self.epoch + 1),))
        return take_office(context, self.epoch + 1, answers[0].parts[1].version)


class CheckClaim(Step, frozen=True):
    """The claim failed: find out who won. It may have been this broker, if the first answer got lost on the way."""

    epoch: int

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(CONTROLLER, watch=True), Read(CONTROLLER), Read(CONTROLLER_EPOCH)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        active_id, epoch = controller_in(answers[1]), _epoch_in(answers[2])
        if active_id == context.broker_id and epoch is not None and epoch == self.epoch:
            return take_office(context, epoch, answers[2].version)
        context = context.replace(active_id=active_id, activity=Activity.INACTIVE)
        if answers[1].code is Code.NO_NODE:
            # The winner is gone already, and the watch was set too late to tell of it.
            return Outcome(context, then=(Elect(),))
        winner = f"Broker {active_id}" if active_id != NO_CONTROLLER else "Somebody whose name cannot be read"
        return Outcome(context, why=f"{winner} was elected controller before broker {context.broker_id}.")


class Resign(Step, frozen=True):
    """Forget all that only a controller knows. What it was told by ZooKeeper's watches from now on, it ignores."""

    def begin(self, context: ControllerContext) -> Outcome:
        fresh = ControllerContext(context.settings, active_id=context.active_id, now_ms=context.now_ms)
        why = f"Broker {context.broker_id} is not the controller any more (epoch {context.epoch}) and resigns."
        timers = (CancelTimer(REBALANCE_TIMER),) if context.active else ()
        return Outcome(fresh, timers, why=why if context.active else "")


class ForgetSession(Step, frozen=True):
    """The session that made this broker the controller is gone."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context.replace(active_id=NO_CONTROLLER), then=(Resign(),))


def take_office(context: ControllerContext, epoch: int, epoch_version: int) -> Outcome:
    """Be the controller of this epoch."""
    context = context.replace(
        activity=Activity.ACTIVE, active_id=context.broker_id, epoch=epoch, epoch_version=epoch_version
    )
    why = f"Broker {context.broker_id} is the controller: it created /controller and raised the epoch to {epoch}."
    return Outcome(context, then=(TakeOver(),), why=why)


def steps_at_start(event: BrokerStarted) -> tuple[Step, ...]:
    """A broker makes itself at home in ZooKeeper, registers, and only then stands for election (from 1.1)."""
    return (
        *map(MakeZnode, PATHS_AT_BROKER_START),
        MakeClusterId(event.proposed_cluster_id),
        RegisterBroker(event.registration, (WatchController(),)),
    )


def steps_on_session(event: SessionEstablished) -> tuple[Step, ...]:
    """With a new session the broker registers first and then stands for election."""
    return (RegisterBroker(event.registration, (ResignIfMoved(), Elect()), event.previous_session),)


def controller_in(answer: Answer) -> int:
    """The broker that `/controller` names, -1 for none or nothing readable."""
    if not answer.ok:
        return NO_CONTROLLER
    try:
        return decode_controller(answer.data).broker_id
    except UnusablePayloadError:
        return NO_CONTROLLER


def _epoch_in(answer: Answer) -> int | None:
    try:
        return decode_controller_epoch(answer.data).epoch if answer.ok else None
    except UnusablePayloadError:
        return None


def _activity(context: ControllerContext, active_id: int) -> Activity:
    return Activity.ACTIVE if context.active and active_id == context.broker_id else Activity.INACTIVE
