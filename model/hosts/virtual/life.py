"""Processes of brokers begin and end: they boot, crash, or leave in good order, by a controlled shutdown.

Source: `kafka.server.KafkaServer.controlledShutdown` (3.9), KIP-12. If the controller does not agree in time, a broker
leaves without it.
"""

import msgspec

from model.broker.controller_requests.metadata_image import UNKNOWN_BROKER
from model.broker.controller_requests.served import Standing
from model.controller.commands import AnswerRequest
from model.controller.events import BrokerStarted, ControlledShutdownRequested
from model.controller.settings import Settings
from model.controller.state import ControllerState, new_controller
from model.controller.zookeeper import (
    BROKER_IDS,
    CONTROLLER,
    DELETIONS,
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    PREFERRED_ELECTION,
    REASSIGNMENTS,
    TOPICS,
)
from model.hosts.memory_zookeeper.operations import GetData
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.memory_zookeeper.tree import read
from model.hosts.memory_zookeeper.watches import ONE_SHOT, Table
from model.hosts.virtual.channels import can_reach
from model.hosts.virtual.connections import can_reach_zookeeper
from model.hosts.virtual.deciding import hear
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed, BrokerStopped
from model.hosts.virtual.leaders import note_fetching, replication_settings
from model.hosts.virtual.process import UNCONNECTED, Process
from model.hosts.virtual.replies import ask_controller
from model.hosts.virtual.scheduled_events import ShutdownGoesOn
from model.hosts.virtual.sessions import begin_session, end, remove_process
from model.hosts.virtual.virtual_broker import UNREGISTERED, VirtualBroker
from model.hosts.virtual.world import World
from model.hosts.zookeeper.values import Znode
from model.znodes.controller import decode_controller
from model.znodes.paths import broker_path, topic_path
from model.znodes.reasons import UnusablePayloadError

CLUSTER_ID = "dUADuL1sSZy5fstnXFD1iQ"
"""What the first broker names a new cluster."""


def boot(world: World, broker: int, registration: bytes, settings: Settings) -> None:
    """A new process. It prepares ZooKeeper and registers before it does anything else."""
    if broker in world.processes:
        raise ValueError(f"broker {broker} runs already: stop it before it is started again")
    if not can_reach_zookeeper(world, broker):
        raise ValueError(f"broker {broker} cannot start without ZooKeeper: mend its link first")
    world.journal.append(BrokerBooted(world.now_ms, broker))
    replication = replication_settings(world.assumptions, settings.generation)
    memory = VirtualBroker(Standing(broker), replication)
    fresh = Process(world.next_number(), memory, registration, new_controller(settings), 0)
    process = begin_session(world, fresh)
    note_fetching(world)
    started = BrokerStarted(registration=registration, proposed_cluster_id=CLUSTER_ID, session=process.session)
    hear(world, process, started)


def adopt(world: World, broker: VirtualBroker, session: int, controller: ControllerState, registration: bytes) -> None:
    """A process that is in the middle of its life. Where it is not in sync, it stays so."""
    if world.zookeeper.sessions.get(session) is None:
        raise ValueError(f"broker {broker.id} has no session {session} in this ZooKeeper")
    world.sessions[session] = broker.id
    number, connection = world.next_number(), world.next_number()
    zxid = world.zookeeper.zxid
    broker = broker.replace(settings=replication_settings(world.assumptions, controller.context.settings.generation))
    world.put(Process(number, broker, registration, controller, session, connection, zxid, adopted=True))
    world.zookeeper = _with_watches(world.zookeeper, session, controller)
    note_fetching(world)


def crash(world: World, broker: int) -> None:
    """kill -9."""
    world.journal.append(BrokerCrashed(world.now_ms, broker))
    remove_process(world, world.processes[broker])


def shut_down(world: World, broker: int) -> None:
    """SIGTERM. Once is enough."""
    process = world.processes[broker]
    if not process.leaving:
        world.after(0, ShutdownGoesOn(broker, process.number))


def _with_watches(state: ServerState, session: int, controller: ControllerState) -> ServerState:
    """Every broker watches `/controller`, and the controller what concerns it."""
    context = controller.context
    data = [CONTROLLER]
    children: list[str] = []
    if context.active:
        data += [REASSIGNMENTS, PREFERRED_ELECTION, *map(broker_path, context.live)]
        data += map(topic_path, context.topics.by_name)
        children += [BROKER_IDS, TOPICS, DELETIONS, ISR_CHANGES, LOG_DIR_EVENTS]
    watches = msgspec.structs.replace(
        state.watches,
        data=_watching(state.watches.data, data, session),
        children=_watching(state.watches.children, children, session),
    )
    return msgspec.structs.replace(state, watches=watches)


def _watching(table: Table, paths: list[str], session: int) -> Table:
    return table.changed({path: {**(table.get(path) or {}), session: ONE_SHOT} for path in paths})


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
