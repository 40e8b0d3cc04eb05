"""How the office of controller is claimed: at once with the epoch (from 2.1), or first the office and then the epoch.

Source: `KafkaZkClient.registerControllerAndIncrementControllerEpoch` (3.9; KAFKA-6082), `KafkaController.elect` and
`incrementControllerEpoch` (1.1), `kafka.server.ZookeeperLeaderElector` (0.8 to 1.0). Whether to claim it is decided in
`office`.
"""

from model.controller.context import NO_CONTROLLER, Activity, ControllerContext
from model.controller.step import Outcome, Step
from model.controller.steps.failover import TakeOver
from model.controller.zookeeper import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    Answer,
    Code,
    Create,
    Delete,
    Exists,
    Multi,
    Read,
    SetData,
    Write,
)
from model.znodes.controller import ControllerEpoch, ControllerRegistration, decode_controller, decode_controller_epoch
from model.znodes.reasons import UnusablePayloadError

UNREADABLE_EPOCH = "/controller_epoch holds no number: nobody can be elected until an operator repairs it."
FIRST_EPOCH = 1


class CreateControllerEpoch(Step, frozen=True):
    """The very first election makes `/controller_epoch` with 0."""

    otherwise: Step

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Create(CONTROLLER_EPOCH, ControllerEpoch(0).to_bytes()),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, then=(Claim(0, 0, self.otherwise),) if answers[0].ok else (self.otherwise,))


class Claim(Step, frozen=True):
    """Create `/controller` and raise the epoch in one transaction: both happen, or another broker was first.

    `otherwise` is taken if that other broker is gone already.
    """

    epoch: int
    epoch_version: int
    otherwise: Step

    def begin(self, context: ControllerContext) -> Outcome:
        raise_epoch = SetData(CONTROLLER_EPOCH, ControllerEpoch(self.epoch + 1).to_bytes(), self.epoch_version)
        return Outcome(context, ask=(Multi((_create_controller(context), raise_epoch)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if not answers[0].ok:
            return Outcome(context, then=(CheckClaim(self.epoch + 1, self.otherwise),))
        return _take_office(context, self.epoch + 1, answers[0].parts[1].version)


class CheckClaim(Step, frozen=True):
    """The claim failed: find out who won. It may have been this broker, if the first answer got lost on the way."""

    epoch: int
    otherwise: Step

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(CONTROLLER, watch=True), Read(CONTROLLER), Read(CONTROLLER_EPOCH)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        active_id, epoch = controller_in(answers[1]), epoch_in(answers[2])
        if active_id == context.broker_id and epoch is not None and epoch == self.epoch:
            return _take_office(context, epoch, answers[2].version)
        return _lost(context, answers[1], self.otherwise)


class ClaimFirst(Step, frozen=True):
    """Up to 2.0: create `/controller`; whoever did may raise the epoch."""

    otherwise: Step

    def begin(self, context: ControllerContext) -> Outcome:
        create = _create_controller(context)
        return Outcome(context, ask=(create, Exists(CONTROLLER, watch=True), Read(CONTROLLER)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if answers[0].ok or controller_in(answers[2]) == context.broker_id:
            return Outcome(context, then=(ReadEpoch(),))
        return _lost(context, answers[2], self.otherwise)


class ReadEpoch(Step, frozen=True):
    """The office is taken: read which epoch to raise."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Read(CONTROLLER_EPOCH),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if answers[0].code is Code.NO_NODE:
            return Outcome(context, then=(RaiseEpoch(FIRST_EPOCH, None),))
        epoch = epoch_in(answers[0])
        if epoch is None:
            return Outcome(context, then=(LayDown(UNREADABLE_EPOCH),))
        return Outcome(context, then=(RaiseEpoch(epoch + 1, answers[0].version),))


class RaiseEpoch(Step, frozen=True):
    """Write the epoch under the version that was read; None: there is none yet."""

    epoch: int
    version: int | None

    def begin(self, context: ControllerContext) -> Outcome:
        data = ControllerEpoch(self.epoch).to_bytes()
        write: Write = Create(CONTROLLER_EPOCH, data)
        if self.version is not None:
            write = SetData(CONTROLLER_EPOCH, data, self.version)
        return Outcome(context, ask=(write,))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if not answers[0].ok:
            return Outcome(
                context, then=(LayDown("Another controller raised the epoch: this one lays the office down."),)
            )
        return _take_office(context, self.epoch, max(answers[0].version, 0))


class LayDown(Step, frozen=True):
    """Give the office back before it was ever held."""

    why: str

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Delete(CONTROLLER),), why=self.why)

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context.replace(activity=Activity.INACTIVE, active_id=NO_CONTROLLER))


def controller_in(answer: Answer) -> int:
    """The broker that `/controller` names, -1 for none or nothing readable."""
    if not answer.ok:
        return NO_CONTROLLER
    try:
        return decode_controller(answer.data).broker_id
    except UnusablePayloadError:
        return NO_CONTROLLER


def epoch_in(answer: Answer) -> int | None:
    """The number in `/controller_epoch`; None if there is none."""
    try:
        return decode_controller_epoch(answer.data).epoch if answer.ok else None
    except UnusablePayloadError:
        return None


def _create_controller(context: ControllerContext) -> Create:
    version = context.settings.forms.controller_version
    registration = ControllerRegistration(
        version=version,
        broker_id=context.broker_id,
        timestamp=str(context.now_ms),
        kraft_controller_epoch=-1 if version > 1 else None,
    )
    return Create(CONTROLLER, registration.to_bytes(), ephemeral=True)


def _take_office(context: ControllerContext, epoch: int, epoch_version: int) -> Outcome:
    context = context.replace(
        activity=Activity.TAKING_OVER, active_id=context.broker_id, epoch=epoch, epoch_version=epoch_version
    )
    why = f"Broker {context.broker_id} is the controller: it created /controller and raised the epoch to {epoch}."
    return Outcome(context, then=(TakeOver(),), why=why)


def _lost(context: ControllerContext, controller: Answer, otherwise: Step) -> Outcome:
    active_id = controller_in(controller)
    context = context.replace(active_id=active_id, activity=Activity.INACTIVE)
    if controller.code is Code.NO_NODE:
        # The winner is gone already, and the watch was set too late to tell of it.
        return Outcome(context, then=(otherwise,))
    winner = f"Broker {active_id}" if active_id != NO_CONTROLLER else "Somebody whose name cannot be read"
    return Outcome(context, why=f"{winner} was elected controller before broker {context.broker_id}.")
