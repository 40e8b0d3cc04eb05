"""Connections to ZooKeeper break, and sessions fall silent. What follows for a controller is in `sessions`."""

import msgspec

from model.hosts.memory_zookeeper.operations import Exists
from model.hosts.memory_zookeeper.state import disconnect
from model.hosts.memory_zookeeper.tree import read
from model.hosts.virtual.journal import ConnectionLost
from model.hosts.virtual.network import ZOOKEEPER
from model.hosts.virtual.process import UNCONNECTED, MissedWatches, Process
from model.hosts.virtual.scheduled_events import Reconnects, ScheduledEvent, SessionTimesOut, WatchFires
from model.hosts.virtual.world import World
from model.hosts.zookeeper.values import EventKind, Stat, ZnodeChanged


def lose_connection(world: World, broker: int) -> None:
    """The connection breaks, if there is one: what is on its way is lost, and the client will look for another one."""
    process = world.processes[broker]
    if process.connection == UNCONNECTED:
        return

    def is_lost(event: ScheduledEvent) -> bool:
        return isinstance(event, WatchFires) and event.connection == process.connection

    withdrawn = world.schedule.withdraw(is_lost)
    unread = filter(is_lost, process.held)  # a paused process has received it, and never reads it
    undelivered = [fires.changed for fires in (*unread, *withdrawn) if isinstance(fires, WatchFires)]
    world.journal.append(ConnectionLost(world.now_ms, process.id, process.session))
    watched = _watched(world, process.session)
    world.zookeeper = disconnect(world.zookeeper, process.session)
    process = world.put(process.replace(connection=UNCONNECTED, watched=watched))
    for changed in undelivered:
        miss(world, process.id, changed)
    note_silence(world, process)
    world.after(world.assumptions.reconnect_ms, Reconnects(process.id, process.number))


def miss(world: World, broker: int, changed: ZnodeChanged) -> None:
    """The server told of a change and forgot the watch, but the client does not know: it believes to be watching."""
    process = world.processes[broker]
    if changed.kind is EventKind.CHILDREN_CHANGED:
        field = "children"
    else:
        field = "existence" if changed.kind is EventKind.CREATED else "data"
    watched = process.watched
    paths = tuple(dict.fromkeys((*getattr(watched, field), changed.path)))
    world.put(process.replace(watched=msgspec.structs.replace(watched, **{field: paths})))


def note_silence(world: World, process: Process) -> None:
    """Begin or cease to wait for the session to time out."""
    session = process.session
    if session not in world.sessions:
        return
    if process.connection != UNCONNECTED and not process.paused and world.find(process.id, process.number):
        world.silent.pop(session, None)
    elif session not in world.silent:
        since_us = world.silent[session] = world.schedule.now_us
        world.after(world.assumptions.session_timeout_ms, SessionTimesOut(session, since_us))


def can_reach_zookeeper(world: World, broker: int) -> bool:
    """Whether the link stands."""
    return not world.is_cut(broker, ZOOKEEPER)


def _watched(world: World, session: int) -> MissedWatches:
    """What the server has of a client's watches, as the client would name them."""
    watches = world.zookeeper.watches
    data = sorted(path for path, watchers in watches.data.items() if session in watchers)
    children = sorted(path for path, watchers in watches.children.items() if session in watchers)
    there = {path for path in data if isinstance(read(world.zookeeper.tree, Exists(path)), Stat)}
    missing = tuple(path for path in data if path not in there)
    return MissedWatches(tuple(path for path in data if path in there), missing, tuple(children))
