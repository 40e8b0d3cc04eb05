"""What goes wrong from outside: processes hang, sessions end, links break. And how that is over again."""

from collections.abc import Collection

from model.cluster.ids import TopicPartition
from model.controller.zookeeper import LOG_DIR_EVENTS
from model.hosts.memory_zookeeper.operations import Create
from model.hosts.virtual.channels import wake_channels
from model.hosts.virtual.connections import lose_connection, note_silence
from model.hosts.virtual.journal import BrokerPaused, BrokerResumed, LinkCut, LinkMended
from model.hosts.virtual.leaders import look_soon, note_fetching
from model.hosts.virtual.network import ZOOKEEPER
from model.hosts.virtual.questions import transact
from model.hosts.virtual.scheduled_events import Reconnects
from model.hosts.virtual.sessions import end
from model.hosts.virtual.virtual_broker import lose
from model.hosts.virtual.world import World, link
from model.znodes.notifications import LogDirEvent


def pause(world: World, broker: int) -> None:
    """SIGSTOP. Its session counts the time from now on."""
    process = world.processes[broker]
    if process.paused:
        return
    world.journal.append(BrokerPaused(world.now_ms, broker))
    note_silence(world, world.put(process.replace(paused=True)))
    note_fetching(world)


def resume(world: World, broker: int) -> None:
    """SIGCONT. What reached it meanwhile comes first, and then what became of its session."""
    process = world.processes[broker]
    if not process.paused:
        return
    world.journal.append(BrokerResumed(world.now_ms, broker))
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
    world.journal.append(LinkCut(world.now_ms, link(one, other)))
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
    world.journal.append(LinkMended(world.now_ms, link(one, other)))
    world.cuts -= {link(one, other)}
    process = world.processes.get(max(one, other))
    if ZOOKEEPER in (one, other) and process is not None:
        world.after(world.assumptions.reconnect_ms, Reconnects(process.id, process.number))
    wake_channels(world)
    note_fetching(world)
    look_soon(world)
