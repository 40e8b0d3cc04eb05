"""Processes of brokers begin and end. Nothing else about them is decided here."""

import msgspec

from model.broker.controller_requests.served import Standing
from model.controller.events import BrokerStarted
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
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.memory_zookeeper.watches import ONE_SHOT, Table
from model.hosts.virtual.connections import can_reach_zookeeper
from model.hosts.virtual.deciding import hear
from model.hosts.virtual.happenings import ShutdownGoesOn
from model.hosts.virtual.journal import BrokerBooted, BrokerCrashed
from model.hosts.virtual.leaders import note_fetching, replication_settings
from model.hosts.virtual.process import Process
from model.hosts.virtual.removal import remove_process
from model.hosts.virtual.sessions import begin_session
from model.hosts.virtual.virtual_broker import VirtualBroker
from model.hosts.virtual.world import World
from model.znodes.paths import broker_path, topic_path

CLUSTER_ID = "dUADuL1sSZy5fstnXFD1iQ"
"""What the first broker names a new cluster."""


def boot(world: World, broker: int, registration: bytes, settings: Settings) -> None:
    """A new process. It makes itself at home in ZooKeeper and registers before it does anything else."""
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
    """Everybody watches the office; whoever holds it, all that concerns it."""
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
