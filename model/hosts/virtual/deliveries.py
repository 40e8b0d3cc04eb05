"""Messages reach somebody: requests of controllers, questions to them, and the answers to both. Operators ask, too."""

import msgspec

from model.controller import events
from model.controller.events import AlterPartitionReceived, ControlledShutdownRequested, Event, RequestReceived
from model.hosts.virtual.channels import can_reach, lose_request, put_channel, try_to_send
from model.hosts.virtual.deciding import hear
from model.hosts.virtual.journal import OPERATOR, ControllerAsked, RequestAnswered, RequestServed
from model.hosts.virtual.leaders import forget_request, hear_outcome, log_of, look_soon
from model.hosts.virtual.life import controller_in_zookeeper, hear_shutdown
from model.hosts.virtual.process import Channel, Process
from model.hosts.virtual.replies import leave_unanswered, note_question
from model.hosts.virtual.scheduled_events import (
    AnswerArrives,
    ControllerIsAsked,
    ControllerIsTold,
    ControllerReplies,
    RequestArrives,
    TimerFires,
)
from model.hosts.virtual.virtual_broker import receive
from model.hosts.virtual.world import World


def serve(world: World, arrived: RequestArrives) -> None:
    """The receiver does as it is told and answers; if it is gone or cut off, the sender will notice."""
    sender, receiver = arrived.sender, arrived.receiver
    if not can_reach(world, sender, receiver):
        lose_request(world, world.find(sender, arrived.sender_number), receiver, arrived.attempt)
        return
    process = world.processes[receiver]
    if process.paused:
        world.put(process.replace(held=(*process.held, arrived)))
        return
    knows_epochs = process.controller.context.settings.forms.broker_epochs
    epoch = arrived.broker_epoch if knows_epochs else process.broker.epoch
    log = log_of(world, world.schedule.now_us)
    broker, answer = receive(process.broker, arrived.request, epoch, world.time_ms, log)
    is_overruled = broker.ruled_by != process.broker.ruled_by
    process = process.replace(broker=broker)
    world.put(forget_request(process) if is_overruled else process)
    world.journal.append(RequestServed(world.now_ms, sender, receiver, arrived.exchange, arrived.request, answer))
    arrives = AnswerArrives(sender, arrived.sender_number, receiver, arrived.exchange, arrived.attempt, answer)
    if not world.carry(receiver, sender, world.assumptions.request_ms / 2, arrives):
        lose_request(world, world.find(sender, arrived.sender_number), receiver, arrived.attempt)
    look_soon(world)


def hear_answer(world: World, process: Process, arrived: AnswerArrives) -> None:
    """The controller learns what a broker made of its request, and sends the next."""
    receiver = arrived.receiver
    channel = process.channels.get(receiver)
    if channel is None or channel.attempt != arrived.attempt or not channel.queue:
        return
    world.journal.append(RequestAnswered(world.now_ms, process.id, receiver, arrived.exchange))
    sent = channel.queue[0].request
    process = put_channel(world, process, receiver, Channel(channel.queue[1:], channel.attempt))
    try_to_send(world, process, receiver)
    event = events.RequestAnswered(broker=receiver, sent=sent, answer=arrived.answer)
    hear(world, world.processes[process.id], event)


def be_asked(world: World, arrived: ControllerIsAsked) -> None:
    """A broker hears a question that is for the controller; whether it is that, it will find out itself."""
    process = world.processes.get(arrived.controller)
    if process is None or world.is_cut(arrived.asker, arrived.controller):
        leave_unanswered(world, arrived.asker, arrived.asker_number, arrived.request)
    elif process.paused:
        world.put(process.replace(held=(*process.held, arrived)))
    else:
        note_question(world, arrived.asker, arrived.asker_number, process, arrived.request)
        hear(world, process, arrived.request)


def hear_reply(world: World, process: Process, arrived: ControllerReplies) -> None:
    """A broker has the controller's answer, or knows that there will be none."""
    if isinstance(arrived.request, AlterPartitionReceived):
        hear_outcome(world, process, arrived.request, arrived.answer)
    elif isinstance(arrived.request, ControlledShutdownRequested):
        hear_shutdown(world, process, arrived.answer)


def fire_timer(world: World, process: Process, fired: TimerFires) -> None:
    """The controller hears of its timer, unless it started it anew or cancelled it."""
    if process.timers.get(fired.timer) is fired.run:
        timers = {name: timer for name, timer in process.timers.items() if name != fired.timer}
        process = world.put(process.replace(timers=timers))
        hear(world, process, events.TimerFired(timer=fired.timer))


def ask(world: World, request: RequestReceived, broker: int | None) -> int:
    """A request of an operator, which nothing keeps from arriving if there is a process to hear it."""
    controller = controller_in_zookeeper(world) if broker is None else broker
    request = msgspec.structs.replace(request, request=world.next_number())
    world.journal.append(ControllerAsked(world.now_ms, OPERATOR, controller, request))
    world.after(world.assumptions.request_ms / 2, ControllerIsAsked(OPERATOR, 0, controller, request))
    return request.request


def tell(world: World, broker: int, event: Event) -> None:
    """An event that comes from nowhere in this world."""
    world.after(0, ControllerIsTold(broker, world.processes[broker].number, event))


def hear_from_outside(world: World, process: Process, told: ControllerIsTold) -> None:
    """The controller hears of it. Whoever asks this way is an operator."""
    if isinstance(told.event, RequestReceived):
        note_question(world, OPERATOR, 0, process, told.event)
    hear(world, process, told.event)
