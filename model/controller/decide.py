"""`decide(state, event)`: the controller. One event at a time, each to its end, then the next in the queue.

Theory of operation, after `kafka.controller.ControllerEventManager` (3.9): an event's steps go on the agenda; while one
of them waits for ZooKeeper, other events only queue. A session that expires empties the queue (`clearAndPut`):
who waits for an answer is told NOT_CONTROLLER. A write that fails the check of the controller epoch ends the event
at hand, and the controller finds out whether it has to resign (ControllerMovedException). A batch of requests that was
begun and never sent ends its office (`handleIllegalState`), and so does a failover that cannot read what it needs
(`triggerControllerMove`). It carries out nothing.
"""

import msgspec

from model.controller.commands import AnswerRequest, AskZooKeeper, Command
from model.controller.context import Activity
from model.controller.decision import Decision
from model.controller.events import Event, RequestReceived, SessionExpired, ZooKeeperAnswered
from model.controller.handling import steps_for
from model.controller.request_batch import RequestBatch
from model.controller.state import ControllerState, Waiting
from model.controller.step import Outcome, Step
from model.controller.steps.office import MoveController, ResignIfMoved
from model.controller.zookeeper import READS, Answer, Code, unfenced

LOST_SESSION = "The ZooKeeper session is gone: what was being done is given up."
FENCED = "Another controller was elected (/controller_epoch has moved on): nothing more is written."
UNSENT = (
    "Requests of an earlier event were never sent: what the brokers know is in doubt, another controller has to begin."
)
UNREADABLE = "ZooKeeper refused to show what a new controller has to know: it lays the office down."
NOT_CONTROLLER = "NOT_CONTROLLER"


def decide(state: ControllerState, event: Event) -> Decision:
    """What follows from an event, however late or out of place it comes."""
    turn = _Turn(msgspec.structs.replace(state, context=state.context.replace(now_ms=event.at_ms)))
    if isinstance(event, ZooKeeperAnswered):
        turn.hear(event)
    elif isinstance(event, SessionExpired):
        turn.preempt()
        turn.change(pending=(event,))
    else:
        turn.change(pending=(*turn.state.pending, event))
    turn.go_on()
    return Decision(turn.state, tuple(turn.commands), tuple(turn.reasons))


class _Turn:
    """One call of `decide`: the state so far, and what is to be done and why."""

    def __init__(self, state: ControllerState) -> None:
        self.state = state
        self.commands: list[Command] = []
        self.reasons: list[str] = []

    def change(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)

    def preempt(self) -> None:
        """Events that wait will not be looked at any more."""
        waiting = [event.request for event in self.state.pending if isinstance(event, RequestReceived)]
        self.commands.extend(AnswerRequest(request, NOT_CONTROLLER) for request in waiting)

    def hear(self, event: ZooKeeperAnswered) -> None:
        waiting = self.state.waiting
        if waiting is None or waiting.question != event.question:
            return
        answers = tuple(map(unfenced, waiting.requests, event.answers))
        codes = {answer.code for answer in answers}
        self.change(waiting=None)
        if Code.SESSION_EXPIRED in codes:
            self._give_up((), LOST_SESSION)
        elif Code.FENCED in codes:
            self._give_up((ResignIfMoved(),), FENCED)
        elif self._cannot_take_over(waiting, answers):
            self._give_up((MoveController(),), UNREADABLE)
        else:
            self._note(waiting.step, waiting.step.resume(self.state.context, answers))

    def _cannot_take_over(self, waiting: Waiting, answers: tuple[Answer, ...]) -> bool:
        """Whether a read failed that a new controller relies on: what it does not see it would take for dead."""
        if self.state.context.activity is not Activity.TAKING_OVER:
            return False
        asked = zip(waiting.requests, answers, strict=True)
        return any(answer.code is Code.OTHER and isinstance(request, READS) for request, answer in asked)

    def go_on(self) -> None:
        """Take steps and events until ZooKeeper is to answer or nothing is left to do."""
        while self.state.waiting is None:
            if self.state.agenda:
                step = self.state.agenda[0]
                self.change(agenda=self.state.agenda[1:])
                self._note(step, step.begin(self.state.context))
            elif self.state.pending:
                event = self.state.pending[0]
                self.change(pending=self.state.pending[1:], unanswered=None)
                self._open(event)
            else:
                return

    def _open(self, event: Event) -> None:
        steps = steps_for(event, self.state.context)
        if not isinstance(event, RequestReceived):
            self.change(agenda=steps)
        elif steps:
            self.change(agenda=steps, unanswered=event.request)
        else:
            self.commands.append(AnswerRequest(event.request, NOT_CONTROLLER))
        if self.state.context.batch != RequestBatch():
            self._give_up((MoveController(),), UNSENT)

    def _give_up(self, instead: tuple[Step, ...], why: str) -> None:
        """The event at hand is not finished, and nobody is told of the half of it."""
        if self.state.unanswered is not None:
            self.commands.append(AnswerRequest(self.state.unanswered, NOT_CONTROLLER))
        self.change(agenda=instead, unanswered=None, context=self.state.context.replace(batch=RequestBatch()))
        self.reasons.append(why)

    def _note(self, step: Step, outcome: Outcome) -> None:
        while True:
            self.commands.extend(outcome.commands)
            if any(isinstance(command, AnswerRequest) for command in outcome.commands):
                self.change(unanswered=None)
            if outcome.why:
                self.reasons.append(outcome.why)
            agenda, pending = outcome.then + self.state.agenda, self.state.pending + outcome.queue
            self.change(context=outcome.context, agenda=agenda, pending=pending)
            if outcome.ask is None:
                return
            if outcome.ask:
                number = self.state.questions
                self.commands.append(AskZooKeeper(number, outcome.ask))
                self.change(waiting=Waiting(step, number, outcome.ask), questions=number + 1)
                return
            outcome = step.resume(self.state.context, ())
