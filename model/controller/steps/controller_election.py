"""The election of a controller: who claims `/controller`, with which epoch, and when it resigns.

From 2.1 on both are claimed at once, before that first `/controller` and then the epoch. What a new controller does is
in `failover`.

Source: `KafkaController.elect`, `maybeResign` and `onControllerResignation` (3.9),
`KafkaZkClient.registerControllerAndIncrementControllerEpoch` (3.9; KAFKA-6082), `KafkaController.elect` and
`incrementControllerEpoch` (1.1), `kafka.server.ZookeeperLeaderElector` (0.8 to 1.0).
"""

from model.controller.context import NO_CONTROLLER, Activity, ControllerContext, RequestBatch, Step, StepOutcome
from model.controller.events_and_commands import BrokerStarted, CancelTimer, DropRequests, SessionEstablished
from model.controller.steps.brokers import MakeClusterId, MakeZnode, RegisterBroker
from model.controller.steps.cluster_wide import TOKEN_TIMER
from model.controller.steps.failover import TakeOver
from model.controller.steps.requests import REBALANCE_TIMER
from model.controller.steps.znodes import fence
from model.znodes.cluster import ControllerEpoch, ControllerRegistration, decode_controller, decode_controller_epoch
from model.znodes.paths import CONTROLLER, CONTROLLER_EPOCH
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import (
    Answer,
    Code,
    Create,
    Delete,
    Exists,
    GetData,
    Multi,
    SetData,
    Write,
    ZooKeeperRequest,
)

UNREADABLE_EPOCH = "/controller_epoch holds no number: nobody can be elected until an operator repairs it."
FIRST_EPOCH = 1


class CreateControllerEpoch(Step, frozen=True):
    """The very first election makes `/controller_epoch` with 0."""

    otherwise: Step

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Create(CONTROLLER_EPOCH, ControllerEpoch(0).to_bytes()),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, then=(Claim(0, 0, self.otherwise),) if answers[0].ok else (self.otherwise,))


class Claim(Step, frozen=True):
    """Create `/controller` and raise the epoch in one transaction: both happen, or another broker was first.

    `otherwise` is taken if that other broker is gone already.
    """

    epoch: int
    epoch_version: int
    otherwise: Step

    def begin(self, context: ControllerContext) -> StepOutcome:
        raise_epoch = SetData(CONTROLLER_EPOCH, ControllerEpoch(self.epoch + 1).to_bytes(), self.epoch_version)
        return StepOutcome(context, ask=(Multi((_create_controller(context), raise_epoch)),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if not answers[0].ok:
            return StepOutcome(context, then=(CheckClaim(self.epoch + 1, self.otherwise),))
        return _become_active(context, self.epoch + 1, answers[0].parts[1].version)


class CheckClaim(Step, frozen=True):
    """The claim failed: find out who won. It may have been this broker, if the first answer got lost on the way."""

    epoch: int
    otherwise: Step

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(
            context, ask=(Exists(CONTROLLER, watch=True), GetData(CONTROLLER), GetData(CONTROLLER_EPOCH))
        )

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        active_id, epoch = controller_in(answers[1]), epoch_in(answers[2])
        if active_id == context.broker_id and epoch is not None and epoch == self.epoch:
            return _become_active(context, epoch, answers[2].version)
        return _lost(context, answers[1], self.otherwise)


class ClaimFirst(Step, frozen=True):
    """Up to 2.0: create `/controller`; whoever did may raise the epoch."""

    otherwise: Step

    def begin(self, context: ControllerContext) -> StepOutcome:
        create = _create_controller(context)
        return StepOutcome(context, ask=(create, Exists(CONTROLLER, watch=True), GetData(CONTROLLER)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if answers[0].ok or controller_in(answers[2]) == context.broker_id:
            return StepOutcome(context, then=(ReadEpoch(),))
        return _lost(context, answers[2], self.otherwise)


class ReadEpoch(Step, frozen=True):
    """`/controller` is ours: read which epoch to raise."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetData(CONTROLLER_EPOCH),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if answers[0].code is Code.NO_NODE:
            return StepOutcome(context, then=(RaiseEpoch(FIRST_EPOCH, None),))
        epoch = epoch_in(answers[0])
        if epoch is None:
            return StepOutcome(context, then=(ReleaseController(UNREADABLE_EPOCH),))
        return StepOutcome(context, then=(RaiseEpoch(epoch + 1, answers[0].version),))


class RaiseEpoch(Step, frozen=True):
    """Write the epoch under the version that was read; None: there is none yet."""

    epoch: int
    version: int | None

    def begin(self, context: ControllerContext) -> StepOutcome:
        data = ControllerEpoch(self.epoch).to_bytes()
        write: Write = Create(CONTROLLER_EPOCH, data)
        if self.version is not None:
            write = SetData(CONTROLLER_EPOCH, data, self.version)
        return StepOutcome(context, ask=(write,))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if not answers[0].ok:
            return StepOutcome(
                context,
                then=(ReleaseController("Another controller raised the epoch: this one resigns."),),
            )
        return _become_active(context, self.epoch, max(answers[0].version, 0))


class ReleaseController(Step, frozen=True):
    """Delete `/controller` again, before this broker ever acted as the controller."""

    why: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Delete(CONTROLLER),), why=self.why)

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context.replace(activity=Activity.INACTIVE, active_id=NO_CONTROLLER))


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


def _become_active(context: ControllerContext, epoch: int, epoch_version: int) -> StepOutcome:
    context = context.replace(
        activity=Activity.TAKING_OVER, active_id=context.broker_id, epoch=epoch, epoch_version=epoch_version
    )
    why = f"Broker {context.broker_id} is the controller: it created /controller and raised the epoch to {epoch}."
    return StepOutcome(context, then=(TakeOver(),), why=why)


def _lost(context: ControllerContext, controller: Answer, otherwise: Step) -> StepOutcome:
    active_id = controller_in(controller)
    context = context.replace(active_id=active_id, activity=Activity.INACTIVE)
    if controller.code is Code.NO_NODE:
        # The winner is gone already, and the watch was set too late to tell of it.
        return StepOutcome(context, then=(otherwise,))
    winner = f"Broker {active_id}" if active_id != NO_CONTROLLER else "Somebody whose name cannot be read"
    return StepOutcome(context, why=f"{winner} was elected controller before broker {context.broker_id}.")


class WatchController(Step, frozen=True):
    """Watch `/controller`, and try to create it if nobody is the controller."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(CONTROLLER, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, then=(ElectController(),))


class ResignIfMoved(Step, frozen=True):
    """Watch `/controller`; resign if it was this broker and is not any more."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(CONTROLLER, watch=True), GetData(CONTROLLER)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        active_id = controller_in(answers[1])
        was, now = context.active_id == context.broker_id, active_id == context.broker_id
        context = context.replace(active_id=active_id)
        return StepOutcome(context, then=(Resign(),) if was and not now else ())


class ElectController(Step, frozen=True):
    """Try to become the controller, unless somebody is."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        if not context.settings.forms.looks_before_claiming:
            return StepOutcome(context.replace(activity=Activity.ELECTING), then=(ClaimFirst(self),))
        return StepOutcome(context, ask=(GetData(CONTROLLER), GetData(CONTROLLER_EPOCH)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        active_id = controller_in(answers[0])
        context = context.replace(active_id=active_id)
        if active_id != NO_CONTROLLER:
            other = active_id != context.broker_id
            stays = f": broker {context.broker_id} does not stand for election" if other else ""
            why = f"Broker {active_id} is the controller already{stays}."
            return StepOutcome(context.replace(activity=_activity(context, active_id)), why=why)
        context = context.replace(activity=Activity.ELECTING)
        if not context.settings.forms.fenced:
            return StepOutcome(context, then=(ClaimFirst(self),))
        if answers[1].code is Code.NO_NODE:
            return StepOutcome(context, then=(CreateControllerEpoch(self),))
        epoch = epoch_in(answers[1])
        if epoch is None:
            return StepOutcome(context.replace(activity=Activity.INACTIVE), why=UNREADABLE_EPOCH)
        return StepOutcome(context, then=(Claim(epoch, answers[1].version, self),))


class Resign(Step, frozen=True):
    """Forget all that only a controller knows. What it was told by ZooKeeper's watches from now on, it ignores."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        fresh = ControllerContext(
            context.settings, context.broker_epoch, active_id=context.active_id, now_ms=context.now_ms
        )
        why = f"Broker {context.broker_id} is not the controller any more (epoch {context.epoch}) and resigns."
        if not context.active:
            return StepOutcome(fresh)
        timers = (CancelTimer(REBALANCE_TIMER), CancelTimer(TOKEN_TIMER))
        return StepOutcome(fresh, (*timers, *map(DropRequests, context.reachable)), why=why)


class MoveController(Step, frozen=True):
    """Something is wrong with this controller: let one begin anew, here or elsewhere (`triggerControllerMove`)."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context.replace(batch=RequestBatch()), ask=(GetData(CONTROLLER),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if controller_in(answers[0]) != context.broker_id:
            return StepOutcome(context, then=(ResignIfMoved(),))
        delete = fence(context, [Delete(CONTROLLER)])
        return StepOutcome(context.replace(active_id=NO_CONTROLLER), then=(Resign(), DeleteController(delete)))


class DeleteController(Step, frozen=True):
    """Resign; `requests` were made as the controller. The watch tells everybody, also this broker."""

    requests: tuple[ZooKeeperRequest, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=self.requests)

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context)


class ForgetSession(Step, frozen=True):
    """The session that made this broker the controller is gone."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context.replace(active_id=NO_CONTROLLER), then=(Resign(),))


class StartBroker(Step, frozen=True):
    """A broker makes itself at home in ZooKeeper, registers and stands for election (up to 1.0 the other way round)."""

    registration: bytes
    proposed_cluster_id: str
    session: int = 0

    def begin(self, context: ControllerContext) -> StepOutcome:
        forms = context.settings.forms
        then: list[Step] = [*map(MakeZnode, forms.paths)]
        if forms.names_cluster:
            then.append(MakeClusterId(self.proposed_cluster_id))
        if forms.registers_first:
            then.append(RegisterBroker(self.registration, (WatchController(),), session=self.session))
        else:
            then += [WatchController(), RegisterBroker(self.registration, (), session=self.session)]
        return StepOutcome(context, then=tuple(then))


def steps_at_start(event: BrokerStarted) -> tuple[Step, ...]:
    """A broker's first session."""
    return (StartBroker(event.registration, event.proposed_cluster_id, event.session),)


def steps_on_session(event: SessionEstablished) -> tuple[Step, ...]:
    """With a new session the broker registers first and then stands for election."""
    return (
        RegisterBroker(event.registration, (ResignIfMoved(), ElectController()), event.previous_session, event.session),
    )


def _activity(context: ControllerContext, active_id: int) -> Activity:
    return context.activity if context.active and active_id == context.broker_id else Activity.INACTIVE
