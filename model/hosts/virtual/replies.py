"""Questions to the controller and its answers on their way: of leaders, of brokers that leave, of operators."""

from model.controller.commands import AnswerRequest
from model.controller.events import RequestReceived
from model.hosts.virtual.journal import OPERATOR, ControllerAnswered, ControllerAsked
from model.hosts.virtual.process import Process
from model.hosts.virtual.scheduled_events import ControllerIsAsked, ControllerReplies
from model.hosts.virtual.world import Asked, World


def ask_controller(world: World, asker: Process, controller: int, request: RequestReceived) -> None:
    """A broker asks the controller."""
    world.journal.append(ControllerAsked(world.now_ms, asker.id, controller, request))
    arrives = ControllerIsAsked(asker.id, asker.number, controller, request)
    if not world.carry(asker.id, controller, world.assumptions.request_ms / 2, arrives):
        leave_unanswered(world, asker.id, asker.number, request)


def answer_request(world: World, process: Process, command: AnswerRequest) -> None:
    """The controller's answer sets out."""
    asked = world.asked.pop(command.request, None)
    if asked is None:
        return
    world.journal.append(ControllerAnswered(world.now_ms, asked.asker, process.id, command))
    if asked.asker == OPERATOR:
        world.answers[command.request] = command
        return
    replies = ControllerReplies(asked.asker, asked.asker_number, asked.request, command)
    if not world.carry(process.id, asked.asker, world.assumptions.request_ms / 2, replies):
        leave_unanswered(world, asked.asker, asked.asker_number, asked.request)


def leave_unanswered(world: World, asker: int, asker_number: int, request: RequestReceived) -> None:
    """The connection to the controller broke: the asker notices after the back-off."""
    if asker != OPERATOR:
        replies = ControllerReplies(asker, asker_number, request, None)
        world.after(world.assumptions.retry_backoff_ms, replies)


def break_questions_to(world: World, process: Process) -> None:
    """A controller's process is gone: nobody who waits for its answers will get one."""
    for number, asked in tuple(world.asked.items()):
        if asked.controller_number == process.number:
            del world.asked[number]
            leave_unanswered(world, asked.asker, asked.asker_number, asked.request)


def note_question(world: World, asker: int, asker_number: int, controller: Process, request: RequestReceived) -> None:
    """The controller has the question, and the answer will find the way back."""
    world.asked[request.request] = Asked(asker, asker_number, controller.id, controller.number, request)
