"""`decide(state, event)`: the controller. One event at a time, each to its end, then the next in the queue.

Theory of operation, after `kafka.controller.ControllerEventManager` and `KafkaController.process` (3.9): a table says
which steps an event sets off; what only the active controller may do is ignored by all others. The steps go on the
agenda; while one of them waits for ZooKeeper, other events only queue. A session that expires empties the queue
(`clearAndPut`): who waits for an answer is told NOT_CONTROLLER. A write that fails the check of the controller epoch
ends the event at hand, and the controller finds out whether it has to resign (ControllerMovedException). A batch of
requests that was begun and never sent makes it resign (`handleIllegalState`), and so does a failover that cannot read
what it needs (`triggerControllerMove`). The state is one value, kept, compared or gone back to at will. It carries out
nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from model.controller import events_and_commands
from model.controller.context import Activity, ControllerContext, RequestBatch, Step, StepOutcome
from model.controller.events_and_commands import (
    AnswerRequest,
    AskZooKeeper,
    Command,
    Event,
    LeaderAndIsrRequest,
    RequestReceived,
    SessionExpired,
    StopReplicaRequest,
    ZooKeeperAnswered,
)
from model.controller.generations import ControllerSettings
from model.controller.state_machines import PartitionAndReplica
from model.controller.steps.brokers import ReadBroker, ReadBrokers
from model.controller.steps.cluster_wide import TOKEN_TIMER, AllocateProducerIds, ExpireTokens, UpdateFeatures
from model.controller.steps.controller_election import (
    ElectController,
    ForgetSession,
    MoveController,
    ResignIfMoved,
    steps_at_start,
    steps_on_session,
)
from model.controller.steps.deletion import ConfirmDeletions, FailDeletions, ReadMarkers
from model.controller.steps.notifications import AlterPartitions, ListNotifications, NoteLogDirs
from model.controller.steps.partitions import AllowUnclean
from model.controller.steps.reassignment import LookAtReassigned
from model.controller.steps.requests import (
    REBALANCE_TIMER,
    ElectByRequest,
    ElectPreferredFromZnode,
    ListReassignments,
    ReassignByRequest,
    ReassignFromZnode,
    RebalanceLeaders,
    ShutDownBroker,
)
from model.controller.steps.topics import CompareAssignment, CompareTopics
from model.controller.steps.znodes import unfenced
from model.znodes.paths import ISR_CHANGES, LOG_DIR_EVENTS
from model.zookeeper import Answer, Code, Read, ZooKeeperRequest


class WaitingStep(msgspec.Struct, frozen=True):
    """A step that asked ZooKeeper, and what."""

    step: Step
    question: int
    requests: tuple[ZooKeeperRequest, ...]


class ControllerState(msgspec.Struct, frozen=True):
    """`agenda` is what is left of the event at hand, next step first; `pending` are events that wait, oldest first.

    `unanswered` is the number of the request at hand while nobody has answered it.
    """

    context: ControllerContext
    agenda: tuple[Step, ...] = ()
    waiting: WaitingStep | None = None
    pending: tuple[Event, ...] = ()
    unanswered: int | None = None
    questions: int = 0

    @property
    def idle(self) -> bool:
        """Whether nothing happens until the next event."""
        return not self.agenda and self.waiting is None and not self.pending


def new_controller(settings: ControllerSettings) -> ControllerState:
    """A controller that knows nothing yet."""
    return ControllerState(ControllerContext(settings))


class Decision(msgspec.Struct, frozen=True):
    """`reasons` has a sentence for each step that decided something, in order."""

    state: ControllerState
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reasons as one text for an operator."""
        return " ".join(self.reasons)


Steps = tuple[Step, ...]


def steps_for(event: Event, context: ControllerContext) -> Steps:
    """What to do about an event; nothing where it is not this broker's to act."""
    anybody = _ANY_BROKER.get(type(event))
    if anybody is not None:
        return anybody(event)
    return _ACTIVE_CONTROLLER[type(event)](event) if context.active else ()


def _answered(event: events_and_commands.RequestAnswered) -> Steps:
    if isinstance(event.sent, LeaderAndIsrRequest):
        return _log_dirs(event, event.sent) if event.answer.error == "NONE" else ()
    return _stopped(event, event.sent) if isinstance(event.sent, StopReplicaRequest) else ()


def _log_dirs(event: events_and_commands.RequestAnswered, sent: LeaderAndIsrRequest) -> Steps:
    errors = [(name, error) for name, error in event.answer.partition_errors if error != "NONE"]
    served = frozenset(entry.partition for entry in sent.partitions)
    failed = served.intersection(name for name, error in errors if error == "KAFKA_STORAGE_ERROR")
    working = served.difference(name for name, _ in errors)
    return (NoteLogDirs(event.broker, failed, working),)


def _stopped(event: events_and_commands.RequestAnswered, sent: StopReplicaRequest) -> Steps:
    """Only answers about copies that were to be deleted count.

    A request that is refused as a whole (a stale broker or controller epoch) names no copies, and nothing follows.
    """
    errors = dict(event.answer.partition_errors)
    unnamed = "NONE" if event.answer.error == "NONE" else None
    deleted: list[PartitionAndReplica] = []
    failed: list[PartitionAndReplica] = []
    for entry in sent.partitions:
        error = errors.get(entry.partition, unnamed)
        if entry.delete and error is not None:
            ok = event.answer.error == "NONE" and error == "NONE"
            (deleted if ok else failed).append(PartitionAndReplica(entry.partition, event.broker))
    steps: Steps = (FailDeletions(tuple(failed)),) if failed else ()
    return (*steps, ConfirmDeletions(tuple(deleted))) if deleted else steps


_TIMERS: Mapping[str, Steps] = {REBALANCE_TIMER: (RebalanceLeaders(),), TOKEN_TIMER: (ExpireTokens(),)}
_ANY_BROKER: Mapping[type[Event], Callable[[Any], Steps]] = {
    events_and_commands.BrokerStarted: steps_at_start,
    events_and_commands.SessionEstablished: steps_on_session,
    events_and_commands.SessionExpired: lambda _: (ForgetSession(),),
    # Kafka only looks whether to resign. If that controller is gone by now, no watch was left to tell: stand, too.
    events_and_commands.ControllerChanged: lambda _: (ResignIfMoved(), ElectController()),
    events_and_commands.ControllerZnodeDeleted: lambda _: (ResignIfMoved(), ElectController()),
}
_ACTIVE_CONTROLLER: Mapping[type[Event], Callable[[Any], Steps]] = {
    events_and_commands.BrokersChanged: lambda _: (ReadBrokers(compare=True),),
    events_and_commands.BrokerModified: lambda event: (ReadBroker(event.broker),),
    events_and_commands.TopicsChanged: lambda _: (CompareTopics(),),
    events_and_commands.PartitionsModified: lambda event: (CompareAssignment(event.topic),),
    events_and_commands.DeletionsRequested: lambda _: (ReadMarkers(),),
    events_and_commands.ReassignmentZnodeCreated: lambda _: (ReassignFromZnode(),),
    events_and_commands.PreferredElectionZnodeCreated: lambda _: (ElectPreferredFromZnode(),),
    events_and_commands.IsrChangesNotified: lambda _: (ListNotifications(ISR_CHANGES),),
    events_and_commands.LogDirsFailed: lambda _: (ListNotifications(LOG_DIR_EVENTS),),
    events_and_commands.UncleanElectionAllowed: lambda event: (AllowUnclean(event.topic),),
    events_and_commands.ReassignmentsRequested: lambda event: (ReassignByRequest(event.request, event.targets),),
    events_and_commands.ElectionRequested: lambda event: (
        ElectByRequest(event.request, "unclean" if event.unclean else "preferred", event.partitions),
    ),
    events_and_commands.ControlledShutdownRequested: lambda event: (
        ShutDownBroker(event.request, event.broker, event.broker_epoch),
    ),
    events_and_commands.AlterPartitionReceived: lambda event: (
        AlterPartitions(event.request, event.broker, event.broker_epoch, event.proposals),
    ),
    events_and_commands.ReassignmentListRequested: lambda event: (ListReassignments(event.request, event.partitions),),
    events_and_commands.ProducerIdsRequested: lambda event: (
        AllocateProducerIds(event.request, event.broker, event.broker_epoch),
    ),
    events_and_commands.FeatureUpdatesRequested: lambda event: (UpdateFeatures(event.request, event.updates),),
    events_and_commands.ReassignedStateWritten: lambda event: (LookAtReassigned(event.partition),),
    events_and_commands.RequestAnswered: _answered,
    events_and_commands.TimerFired: lambda event: _TIMERS.get(event.timer, ()),
}


LOST_SESSION = "The ZooKeeper session is gone: what was being done is given up."
FENCED = "Another controller was elected (/controller_epoch has moved on): nothing more is written."
UNSENT = (
    "Requests of an earlier event were never sent: what the brokers know is in doubt, another controller has to begin."
)
UNREADABLE = "ZooKeeper refused to show what a new controller has to know: it resigns."
NOT_CONTROLLER = "NOT_CONTROLLER"


def decide(state: ControllerState, event: Event) -> Decision:
    """What follows from an event, however late or out of place it comes."""
    turn = _Turn(state, event.at_ms)
    if isinstance(event, ZooKeeperAnswered):
        turn.hear(event)
    elif isinstance(event, SessionExpired):
        turn.preempt()
        turn.pending = (event,)
    else:
        turn.pending = (*turn.pending, event)
    turn.go_on()
    return Decision(turn.state(), tuple(turn.commands), tuple(turn.reasons))


class _Turn:
    """One call of `decide`: the state so far, part by part, and what is to be done and why."""

    def __init__(self, state: ControllerState, now_ms: int) -> None:
        self.context = state.context.replace(now_ms=now_ms)
        self.pending, self.agenda, self.waiting = state.pending, state.agenda, state.waiting
        self.questions, self.unanswered = state.questions, state.unanswered
        self.commands: list[Command] = []
        self.reasons: list[str] = []

    def state(self) -> ControllerState:
        """As it is by now."""
        return ControllerState(self.context, self.agenda, self.waiting, self.pending, self.unanswered, self.questions)

    def preempt(self) -> None:
        """Events that wait will not be looked at any more."""
        waiting = [event.request for event in self.pending if isinstance(event, RequestReceived)]
        self.commands.extend(AnswerRequest(request, NOT_CONTROLLER) for request in waiting)

    def hear(self, event: ZooKeeperAnswered) -> None:
        waiting = self.waiting
        if waiting is None or waiting.question != event.question:
            return
        answers = tuple(map(unfenced, waiting.requests, event.answers))
        codes = {answer.code for answer in answers}
        self.waiting = None
        if Code.SESSION_EXPIRED in codes:
            self._give_up((), LOST_SESSION)
        elif Code.FENCED in codes:
            self._give_up((ResignIfMoved(),), FENCED)
        elif self._cannot_take_over(waiting, answers):
            self._give_up((MoveController(),), UNREADABLE)
        else:
            self._note(waiting.step, waiting.step.resume(self.context, answers))

    def _cannot_take_over(self, waiting: WaitingStep, answers: tuple[Answer, ...]) -> bool:
        """Whether a read failed that a new controller relies on: what it does not see it would take for dead."""
        if self.context.activity is not Activity.TAKING_OVER:
            return False
        reads = (answer for asked, answer in zip(waiting.requests, answers, strict=True) if isinstance(asked, Read))
        return any(answer.code in (Code.OTHER, Code.BAD_ARGUMENTS) for answer in reads)

    def go_on(self) -> None:
        """Take steps and events until ZooKeeper is to answer or nothing is left to do."""
        while self.waiting is None:
            if self.agenda:
                step = self.agenda[0]
                self.agenda = self.agenda[1:]
                self._note(step, step.begin(self.context))
            elif self.pending:
                event = self.pending[0]
                self.pending, self.unanswered = self.pending[1:], None
                self._open(event)
            else:
                return

    def _open(self, event: Event) -> None:
        steps = steps_for(event, self.context)
        if not isinstance(event, RequestReceived):
            self.agenda = steps
        elif steps:
            self.agenda, self.unanswered = steps, event.request
        else:
            self.commands.append(AnswerRequest(event.request, NOT_CONTROLLER))
        if self.context.batch != RequestBatch():
            self._give_up((MoveController(),), UNSENT)

    def _give_up(self, instead: tuple[Step, ...], why: str) -> None:
        """The event at hand is not finished, and nobody is told of the half of it."""
        if self.unanswered is not None:
            self.commands.append(AnswerRequest(self.unanswered, NOT_CONTROLLER))
        self.agenda, self.unanswered, self.context = instead, None, self.context.replace(batch=RequestBatch())
        self.reasons.append(why)

    def _note(self, step: Step, outcome: StepOutcome) -> None:
        while True:
            self.commands.extend(outcome.commands)
            if outcome.commands and any(isinstance(command, AnswerRequest) for command in outcome.commands):
                self.unanswered = None
            if outcome.why:
                self.reasons.append(outcome.why)
            self.context = outcome.context
            self.agenda, self.pending = outcome.then + self.agenda, self.pending + outcome.queue
            if outcome.ask is None:
                return
            if outcome.ask:
                self.commands.append(AskZooKeeper(self.questions, outcome.ask))
                self.waiting, self.questions = WaitingStep(step, self.questions, outcome.ask), self.questions + 1
                return
            outcome = step.resume(self.context, ())
