"""The whole server as one value, and what becomes of it with each operation and each end of a session.

Every write, session opened and session ended is a transaction and takes the next zxid; reads take none. A client
hears of what happened before it is answered, as on the wire: the events of `Answered` come before its reply.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from model.hosts.memory_zookeeper.operations import (
    AddWatch,
    Create,
    Delete,
    ErrorCode,
    Exists,
    Failed,
    GetChildren,
    GetData,
    Multi,
    Operation,
    Reply,
    SetData,
    SetWatches,
    Sync,
    Write,
)
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.memory_zookeeper.sessions import Sessions, follow, new_session
from model.hosts.memory_zookeeper.transaction import apply, remove
from model.hosts.memory_zookeeper.tree import Tree, new_tree, read
from model.hosts.memory_zookeeper.watches import (
    Event,
    Watches,
    add,
    fire,
    no_watches,
    set_again,
    watch_children,
    watch_data,
    without,
)


class ServerState(msgspec.Struct, frozen=True, gc=False):
    """Everything a server knows. Keep it, compare it, go on from it as often as you like."""

    tree: Tree
    watches: Watches
    sessions: Sessions
    zxid: int = 0
    """The newest transaction."""
    next_session: int = 1


class Answered(msgspec.Struct, frozen=True, gc=False):
    """What an operation led to; each session hears its events in this order, the asking one before its reply."""

    state: ServerState
    reply: Reply
    events: tuple[Event, ...] = ()


def new_server() -> ServerState:
    """A server that nobody has used yet."""
    return ServerState(new_tree(), no_watches(), PersistentMap())


def open_session(state: ServerState, timeout_ms: int) -> tuple[ServerState, int]:
    """A new session and its id."""
    session = state.next_session
    sessions = state.sessions.changed({session: new_session(timeout_ms)})
    return ServerState(state.tree, state.watches, sessions, state.zxid + 1, session + 1), session


def end_session(state: ServerState, session: int) -> Answered:
    """Close a session, or let it expire: its ephemeral znodes go, then its watches. Nothing if it is not open."""
    ended = state.sessions.get(session)
    if ended is None:
        return Answered(state, Reply(state.zxid, _EXPIRED))
    zxid = state.zxid + 1
    tree, changes = remove(state.tree, ended.closing_order(), zxid)
    watches, events = fire(state.watches, changes, zxid)
    sessions = state.sessions.changed({session: None})
    state = ServerState(tree, without(watches, session), sessions, zxid, state.next_session)
    return Answered(state, Reply(zxid, None), events)


def disconnect(state: ServerState, session: int) -> ServerState:
    """Lose a session's connection: its watches go, its ephemeral znodes stay until it ends."""
    return _watching(state, without(state.watches, session))


def answer(state: ServerState, session: int, operation: Operation, time_ms: int) -> Answered:
    """Carry out one operation of a session; SESSION_EXPIRED, and no transaction, where it is not open."""
    if state.sessions.get(session) is None:
        return Answered(state, Reply(state.zxid, _EXPIRED))
    return _ANSWERS[type(operation)](state, session, operation, time_ms)


def _write(state: ServerState, session: int, write: Write, time_ms: int) -> Answered:
    zxid = state.zxid + 1
    tree, result, changes = apply(state.tree, write, zxid, time_ms, session)
    watches, events = fire(state.watches, changes, zxid)
    state = ServerState(tree, watches, follow(state.sessions, changes), zxid, state.next_session)
    return Answered(state, Reply(zxid, result), events)


def _get_data(state: ServerState, session: int, get: GetData, _time_ms: int) -> Answered:
    result = read(state.tree, get)
    if get.watch and not isinstance(result, Failed):
        state = _watching(state, watch_data(state.watches, get.path, session))
    return Answered(state, Reply(state.zxid, result))


def _get_children(state: ServerState, session: int, get: GetChildren, _time_ms: int) -> Answered:
    result = read(state.tree, get)
    if get.watch and not isinstance(result, Failed):
        state = _watching(state, watch_children(state.watches, get.path, session))
    return Answered(state, Reply(state.zxid, result))


def _exists(state: ServerState, session: int, exists: Exists, _time_ms: int) -> Answered:
    result = read(state.tree, exists)
    if exists.watch and result != _BAD_ARGUMENTS:
        state = _watching(state, watch_data(state.watches, exists.path, session))
    return Answered(state, Reply(state.zxid, result))


def _sync(state: ServerState, _session: int, _request: Sync, _time_ms: int) -> Answered:
    return Answered(state, Reply(state.zxid, None))


def _add_watch(state: ServerState, session: int, request: AddWatch, _time_ms: int) -> Answered:
    return Answered(_watching(state, add(state.watches, request, session)), Reply(state.zxid, None))


def _set_watches(state: ServerState, session: int, request: SetWatches, _time_ms: int) -> Answered:
    watches, missed = set_again(state.watches, request, state.tree, session)
    return Answered(_watching(state, watches), Reply(state.zxid, None), missed)


def _watching(state: ServerState, watches: Watches) -> ServerState:
    return ServerState(state.tree, watches, state.sessions, state.zxid, state.next_session)


_EXPIRED: Final = Failed(ErrorCode.SESSION_EXPIRED)
_BAD_ARGUMENTS: Final = Failed(ErrorCode.BAD_ARGUMENTS)
_ANSWERS: Final[Mapping[type, Callable[[ServerState, int, Any, int], Answered]]] = {
    Create: _write,
    Delete: _write,
    SetData: _write,
    Multi: _write,
    GetData: _get_data,
    GetChildren: _get_children,
    Exists: _exists,
    Sync: _sync,
    AddWatch: _add_watch,
    SetWatches: _set_watches,
}
