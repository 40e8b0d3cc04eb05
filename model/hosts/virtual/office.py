"""People ask the controller, or tell a broker something."""

import msgspec

from model.controller.events import Event, RequestReceived
from model.hosts.virtual.deciding import hear
from model.hosts.virtual.happenings import ControllerIsAsked, SomethingHappens
from model.hosts.virtual.journal import OPERATOR, ControllerAsked
from model.hosts.virtual.leaving import controller_in_zookeeper
from model.hosts.virtual.process import Process
from model.hosts.virtual.replies import note_question
from model.hosts.virtual.world import World


def ask(world: World, request: RequestReceived, broker: int | None) -> int:
    """A request of an operator, which nothing keeps from arriving if there is a process to hear it."""
    controller = controller_in_zookeeper(world) if broker is None else broker
    request = msgspec.structs.replace(request, request=world.next_number())
    world.journal.append(ControllerAsked(world.now_ms, OPERATOR, controller, request))
    world.after(world.assumptions.request_ms / 2, ControllerIsAsked(OPERATOR, 0, controller, request))
    return request.request


def tell(world: World, broker: int, event: Event) -> None:
    """An event that comes from nowhere in this world."""
    world.after(0, SomethingHappens(broker, world.processes[broker].number, event))


def hear_from_outside(world: World, process: Process, happens: SomethingHappens) -> None:
    """The controller hears of it. Whoever asks this way is an operator."""
    if isinstance(happens.event, RequestReceived):
        note_question(world, OPERATOR, 0, process, happens.event)
    hear(world, process, happens.event)
