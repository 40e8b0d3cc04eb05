"""The office of controller: run for it, lay it down. How it is claimed is in `claims`, what it brings in `failover`.

Source: `KafkaController.elect`, `maybeResign` and `onControllerResignation` (3.9).
"""

from model.controller.commands import CancelTimer, DropRequests
from model.controller.context import NO_CONTROLLER, Activity, ControllerContext
from model.controller.events import BrokerStarted, SessionEstablished
from model.controller.request_batch import RequestBatch
from model.controller.step import Outcome, Step
from model.controller.steps.claims import (
    UNREADABLE_EPOCH,
    Claim,
    ClaimFirst,
    CreateControllerEpoch,
    controller_in,
    epoch_in,
)
from model.controller.steps.fencing import fence
from model.controller.steps.preferred import REBALANCE_TIMER
from model.controller.steps.registration import MakeClusterId, MakeZnode, RegisterBroker
from model.controller.steps.tokens import TOKEN_TIMER
from model.controller.zookeeper import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    Answer,
    Code,
    Delete,
    Exists,
    Read,
    ZooKeeperRequest,
)


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
        if not context.settings.forms.looks_before_claiming:
            return Outcome(context.replace(activity=Activity.ELECTING), then=(ClaimFirst(self),))
        return Outcome(context, ask=(Read(CONTROLLER), Read(CONTROLLER_EPOCH)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        active_id = controller_in(answers[0])
        context = context.replace(active_id=active_id)
        if active_id != NO_CONTROLLER:
            why = f"Broker {active_id} is the controller already: broker {context.broker_id} does not stand."
            return Outcome(context.replace(activity=_activity(context, active_id)), why=why)
        context = context.replace(activity=Activity.ELECTING)
        if not context.settings.forms.fenced:
            return Outcome(context, then=(ClaimFirst(self),))
        if answers[1].code is Code.NO_NODE:
            return Outcome(context, then=(CreateControllerEpoch(self),))
        epoch = epoch_in(answers[1])
        if epoch is None:
            return Outcome(context.replace(activity=Activity.INACTIVE), why=UNREADABLE_EPOCH)
        return Outcome(context, then=(Claim(epoch, answers[1].version, self),))


class Resign(Step, frozen=True):
    """Forget all that only a controller knows. What it was told by ZooKeeper's watches from now on, it ignores."""

    def begin(self, context: ControllerContext) -> Outcome:
        fresh = ControllerContext(
            context.settings, context.broker_epoch, active_id=context.active_id, now_ms=context.now_ms
        )
        why = f"Broker {context.broker_id} is not the controller any more (epoch {context.epoch}) and resigns."
        if not context.active:
            return Outcome(fresh)
        timers = (CancelTimer(REBALANCE_TIMER), CancelTimer(TOKEN_TIMER))
        return Outcome(fresh, (*timers, *map(DropRequests, context.reachable)), why=why)


class MoveController(Step, frozen=True):
    """Something is wrong with this controller: let one begin anew, here or elsewhere (`triggerControllerMove`)."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context.replace(batch=RequestBatch()), ask=(Read(CONTROLLER),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if controller_in(answers[0]) != context.broker_id:
            return Outcome(context, then=(ResignIfMoved(),))
        delete = fence(context, [Delete(CONTROLLER)])
        return Outcome(context.replace(active_id=NO_CONTROLLER), then=(Resign(), DeleteController(delete)))


class DeleteController(Step, frozen=True):
    """Give the office up; `requests` were made while it was held. The watch tells everybody, also this broker."""

    requests: tuple[ZooKeeperRequest, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=self.requests)

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context)


class ForgetSession(Step, frozen=True):
    """The session that made this broker the controller is gone."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context.replace(active_id=NO_CONTROLLER), then=(Resign(),))


class SettleIn(Step, frozen=True):
    """A broker makes itself at home in ZooKeeper, registers and stands for election (up to 1.0 the other way round)."""

    registration: bytes
    proposed_cluster_id: str
    session: int = 0

    def begin(self, context: ControllerContext) -> Outcome:
        forms = context.settings.forms
        then: list[Step] = [*map(MakeZnode, forms.paths)]
        if forms.names_cluster:
            then.append(MakeClusterId(self.proposed_cluster_id))
        if forms.registers_first:
            then.append(RegisterBroker(self.registration, (WatchController(),), session=self.session))
        else:
            then += [WatchController(), RegisterBroker(self.registration, (), session=self.session)]
        return Outcome(context, then=tuple(then))


def steps_at_start(event: BrokerStarted) -> tuple[Step, ...]:
    """A broker's first session."""
    return (SettleIn(event.registration, event.proposed_cluster_id, event.session),)


def steps_on_session(event: SessionEstablished) -> tuple[Step, ...]:
    """With a new session the broker registers first and then stands for election."""
    return (RegisterBroker(event.registration, (ResignIfMoved(), Elect()), event.previous_session, event.session),)


def _activity(context: ControllerContext, active_id: int) -> Activity:
    return context.activity if context.active and active_id == context.broker_id else Activity.INACTIVE
