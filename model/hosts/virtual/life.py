"""What comes from outside: processes begin and end, hang and go on, links break, operators ask.

A broker may leave in good order, by a controlled shutdown; if the controller does not agree in time, it leaves without
it. Source: `kafka.server.KafkaServer.controlledShutdown` (3.9), KIP-12.
"""

from collections.abc import Collection

import msgspec

from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import UNKNOWN_BROKER
from model.cluster.ids import TopicPartition
from model.controller.decide import ControllerState, new_controller
from model.controller.events_and_commands import AnswerRequest, BrokerStarted, ControlledShutdownRequested
from model.controller.generations import ControllerSettings
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.memory_zookeeper.tree import read
from model.hosts.memory_zookeeper.watches import ONE_SHOT, WatchTable
from model.hosts.virtual import journal
from model.hosts.virtual.channels import (
    ask_controller,
    can_reach,
    can_reach_zookeeper,
    lose_connection,
    note_silence,
    transact,
    wake_channels,
)
from model.hosts.virtual.leaders import look_soon, note_fetching, replication_settings
from model.hosts.virtual.scheduled_events import ZOOKEEPER, Reconnects, ShutdownGoesOn
from model.hosts.virtual.sessions import begin_session, end, hear, remove_process
from model.hosts.virtual.virtual_broker import UNREGISTERED, VirtualBroker, lose
from model.hosts.virtual.world import UNCONNECTED, Process, World, link
from model.znodes.cluster import decode_controller
from model.znodes.paths import (
    BROKER_IDS,
    CONTROLLER,
    DELETIONS,
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    PREFERRED_ELECTION,
    REASSIGNMENTS,
    TOPICS,
    broker_path,
    topic_path,
)
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import LogDirEvent
from model.zookeeper import Create, GetData

CLUSTER_ID = "dUADuL1sSZy5fstnXFD1iQ"
"""What the first broker names a new cluster."""


def boot(world: World, broker: int, registration: bytes, settings: ControllerSettings) -> None:
    """A new process. It prepares ZooKeeper and registers before it does anything else."""
    if broker in world.processes:
        raise ValueError(f"broker {broker} runs already: stop it before it is started again")
    if not can_reach_zookeeper(world, broker):
        raise ValueError(f"broker {broker} cannot start without ZooKeeper: mend its link first")
    world.journal.append(journal.BrokerBooted(world.now_ms, broker))
    replication = replication_settings(world.assumptions, settings.generation)
    memory = VirtualBroker(BrokerEpochs(broker), replication)
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
    if controller.context.active:
        world.controller = broker.id
    number, connection = world.next_number(), world.next_number()
    zxid = world.zookeeper.zxid
    broker = broker.replace(settings=replication_settings(world.assumptions, controller.context.settings.generation))
    world.put(Process(number, broker, registration, controller, session, connection, zxid, adopted=True))
    world.zookeeper = _with_watches(world.zookeeper, session, controller)
    note_fetching(world)


def crash(world: World, broker: int) -> None:
    """kill -9."""
    world.journal.append(journal.BrokerCrashed(world.now_ms, broker))
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


def _watching(table: WatchTable, paths: list[str], session: int) -> WatchTable:
    return table.changed({path: {**(table.get(path) or {}), session: ONE_SHOT} for path in paths})


def controller_in_zookeeper(world: World) -> int:
    """The broker that `/controller` names; -1 for none."""
    found = read(world.zookeeper.tree, GetData(CONTROLLER))
    try:
        return decode_controller(found.data).broker_id if found.ok else UNKNOWN_BROKER
    except UnusablePayloadError:
        return UNKNOWN_BROKER


def go_on_shutting_down(world: World, process: Process, _due: ShutdownGoesOn) -> None:
    """Ask the controller to take over what this broker leads. Without a registration that is nothing: it leaves."""
    if process.broker.epoch == UNREGISTERED:
        _leave(world, process, is_done=False)
        return
    broker = process.broker.with_epochs(shutting_down=True)
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
    world.journal.append(journal.BrokerStopped(world.now_ms, process.id, is_done))
    session, closes = process.session, process.connection != UNCONNECTED
    remove_process(world, process)
    if closes and session in world.sessions:
        end(world, session, expired=False)


def pause(world: World, broker: int) -> None:
    """SIGSTOP. Its session counts the time from now on."""
    process = world.processes[broker]
    if process.paused:
        return
    world.journal.append(journal.BrokerPaused(world.now_ms, broker))
    note_silence(world, world.put(process.replace(paused=True)))
    note_fetching(world)


def resume(world: World, broker: int) -> None:
    """SIGCONT. What reached it meanwhile comes first, and then what became of its session."""
    process = world.processes[broker]
    if not process.paused:
        return
    world.journal.append(journal.BrokerResumed(world.now_ms, broker))
    held = process.held
    process = world.put(process.replace(paused=False, held=()))
    note_silence(world, process)
    for event in held:
        world.after(0, event)
    world.after(world.assumptions.reconnect_ms, Reconnects(process.id, process.number))
    note_fetching(world)
    look_soon(world)


def expire(world: World, broker: int) -> None:
    """The server gives up on a broker's sessions that are silent, or else on the one it has."""
    sessions = [session for session, owner in world.sessions.items() if owner == broker]
    for session in [session for session in sessions if session in world.silent] or sessions:
        end(world, session, expired=True)


def fail_log_dir(world: World, broker: int, partitions: Collection[TopicPartition]) -> None:
    """The broker cannot read these any more, and says so in ZooKeeper (KIP-112)."""
    process = world.processes[broker]
    process = world.put(process.replace(broker=lose(process.broker, partitions)))
    event = LogDirEvent(broker=broker).to_bytes()
    transact(world, process.session, Create(f"{LOG_DIR_EVENTS}/log_dir_event_", event, sequential=True), broker)


def cut(world: World, one: int, other: int) -> None:
    """Between brokers, what is on its way is lost; a connection to ZooKeeper breaks."""
    if link(one, other) in world.cuts:
        return
    world.journal.append(journal.LinkCut(world.now_ms, link(one, other)))
    world.cuts |= {link(one, other)}
    if ZOOKEEPER in (one, other):
        broker = max(one, other)
        if broker in world.processes:
            lose_connection(world, broker)
    note_fetching(world)


def mend(world: World, one: int, other: int) -> None:
    """Whoever waited for this link tries again."""
    if link(one, other) not in world.cuts:
        return
    world.journal.append(journal.LinkMended(world.now_ms, link(one, other)))
    world.cuts -= {link(one, other)}
    process = world.processes.get(max(one, other))
    if ZOOKEEPER in (one, other) and process is not None:
        world.after(world.assumptions.reconnect_ms, Reconnects(process.id, process.number))
    wake_channels(world)
    note_fetching(world)
    look_soon(world)
