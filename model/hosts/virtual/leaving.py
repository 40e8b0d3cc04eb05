"""A broker leaves in good order: by a controlled shutdown, and if need be without the controller's blessing.

Source: `kafka.server.KafkaServer.controlledShutdown` (3.9), KIP-12.
"""

from model.broker.controller_requests.metadata_image import UNKNOWN_BROKER
from model.controller.commands import AnswerRequest
from model.controller.events import ControlledShutdownRequested
from model.controller.zookeeper import CONTROLLER
from model.hosts.memory_zookeeper.operations import GetData
from model.hosts.memory_zookeeper.tree import read
from model.hosts.virtual.channels import can_reach
from model.hosts.virtual.connections import can_reach_zookeeper
from model.hosts.virtual.happenings import ShutdownGoesOn
from model.hosts.virtual.journal import BrokerStopped
from model.hosts.virtual.process import UNCONNECTED, Process
from model.hosts.virtual.removal import remove_process
from model.hosts.virtual.replies import ask_controller
from model.hosts.virtual.sessions import end
from model.hosts.virtual.virtual_broker import UNREGISTERED
from model.hosts.virtual.world import World
from model.hosts.zookeeper.values import Znode
from model.znodes.controller import decode_controller
from model.znodes.reasons import UnusablePayloadError


def controller_in_zookeeper(world: World) -> int:
    """The broker that `/controller` names; -1 for none."""
    found = read(world.zookeeper.tree, GetData(CONTROLLER))
    try:
        return decode_controller(found.data).broker_id if isinstance(found, Znode) else UNKNOWN_BROKER
    except UnusablePayloadError:
        return UNKNOWN_BROKER


def go_on_shutting_down(world: World, process: Process, _due: ShutdownGoesOn) -> None:
    """Ask the controller to take over what this broker leads. Without a registration that is nothing: it leaves."""
    if process.broker.epoch == UNREGISTERED:
        _leave(world, process, is_done=False)
        return
    broker = process.broker.stand(shutting_down=True)
    process = world.put(process.replace(leaving=process.leaving + 1, broker=broker))
    controller = controller_in_zookeeper(world) if can_reach_zookeeper(world, process.id) else UNKNOWN_BROKER
    if not can_reach(world, process.id, controller):
        hear_shutdown(world, process, None)
        return
    number = world.next_number()
    epoch = process.broker.epoch
    request = ControlledShutdownRequested(request=number, broker=process.id, broker_epoch=epoch)
    ask_controller(world, process, controller, request)


def hear_shutdown(world: World, process: Process, answer: AnswerRequest | None) -> None:
    """Leave if nothing is led here any more, or if that was asked for often enough."""
    is_done = answer is not None and answer.error == "NONE" and not answer.partitions
    if is_done or process.leaving >= world.assumptions.shutdown_retries:
        _leave(world, process, is_done=is_done)
    else:
        again = ShutdownGoesOn(process.id, process.number)
        world.after(world.assumptions.shutdown_backoff_ms, again)


def _leave(world: World, process: Process, *, is_done: bool) -> None:
    world.journal.append(BrokerStopped(world.now_ms, process.id, is_done))
    session, closes = process.session, process.connection != UNCONNECTED
    remove_process(world, process)
    if closes and session in world.sessions:
        end(world, session, expired=False)
