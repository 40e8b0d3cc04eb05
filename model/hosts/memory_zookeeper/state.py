"""The whole server as one value: new or built from given znodes, and after each operation or end of a session.

Every write, session opened and session ended is a transaction and takes the next zxid; reads take none. A client
hears of what happened before it is answered, as on the wire: the events of `OperationResult` come before its reply. A
planted server is built as if it had lived: no transaction runs and nobody is notified.

A server in memory as the snapshot file from which a real server begins: same znodes, Stats, sessions, transaction.

Bytes only; nothing is written. As org.apache.zookeeper.server.persistence.FileSnap and SnapStream (3.4 to 3.9) have
them: a header, the sessions, the znodes by depth, and a checksum. Every znode is open to everyone; the digest of 3.6
and later is left out, as it may be.
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from zlib import adler32

import msgspec

from model.hosts.memory_zookeeper.persistent_map import NO_NAMES, Names, PersistentMap
from model.hosts.memory_zookeeper.tree import (
    StoredZnode,
    Tree,
    ZnodeChange,
    apply,
    creations,
    new_tree,
    parent_of,
    read,
    remove,
)
from model.hosts.memory_zookeeper.watches import (
    SessionEvent,
    Sessions,
    Watches,
    add_watch,
    fire,
    new_session,
    no_watches,
    sessions_after,
    set_again,
    watch_children,
    watch_data,
    without,
)
from model.zookeeper import (
    AddWatch,
    Answer,
    Code,
    Create,
    Delete,
    EventKind,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
    SetWatches,
    Stat,
    Sync,
    Write,
)


class ServerState(msgspec.Struct, frozen=True, gc=False):
    """Everything a server knows. Keep it, compare it, go on from it as often as you like."""

    tree: Tree
    watches: Watches
    sessions: Sessions
    zxid: int = 0
    """The newest transaction."""
    next_session: int = 1


class OperationResult(msgspec.Struct, frozen=True, gc=False):
    """What an operation led to; each session hears its events in this order, the asking one before its answer.

    The newest transaction that the answer saw is the state's; for a write it is its own.
    """

    state: ServerState
    answer: Answer
    events: tuple[SessionEvent, ...] = ()


def new_server() -> ServerState:
    """A server that nobody has used yet."""
    return ServerState(new_tree(), no_watches(), PersistentMap())


def open_session(state: ServerState, timeout_ms: int) -> tuple[ServerState, int]:
    """A new session and its id."""
    session = state.next_session
    sessions = state.sessions.changed({session: new_session(timeout_ms)})
    return ServerState(state.tree, state.watches, sessions, state.zxid + 1, session + 1), session


def end_session(state: ServerState, session: int) -> OperationResult:
    """Close a session, or let it expire: its ephemeral znodes go, then its watches. Nothing if it is not open."""
    ended = state.sessions.get(session)
    if ended is None:
        return OperationResult(state, _EXPIRED)
    zxid = state.zxid + 1
    tree, changes = remove(state.tree, ended.closing_order(), zxid)
    watches, events = fire(state.watches, changes, zxid)
    sessions = state.sessions.changed({session: None})
    state = ServerState(tree, without(watches, session), sessions, zxid, state.next_session)
    return OperationResult(state, _OK, events)


def disconnect(state: ServerState, session: int) -> ServerState:
    """Lose a session's connection: its watches go, its ephemeral znodes stay until it ends."""
    return _watching(state, without(state.watches, session))


def answer(state: ServerState, session: int, operation: Operation, time_ms: int) -> OperationResult:
    """Carry out one operation of a session; SESSION_EXPIRED, and no transaction, where it is not open."""
    if state.sessions.get(session) is None:
        return OperationResult(state, _EXPIRED)
    return _ANSWERS[type(operation)](state, session, operation, time_ms)


def _write(state: ServerState, session: int, write: Write | Multi, time_ms: int) -> OperationResult:
    zxid = state.zxid + 1
    tree, result, changes = apply(state.tree, write, zxid, time_ms, session)
    watches, events = fire(state.watches, changes, zxid)
    state = ServerState(tree, watches, sessions_after(state.sessions, changes), zxid, state.next_session)
    return OperationResult(state, result, events)


def _get_data(state: ServerState, session: int, get: GetData, _time_ms: int) -> OperationResult:
    result = read(state.tree, get)
    if get.watch and result.ok:
        state = _watching(state, watch_data(state.watches, get.path, session))
    return OperationResult(state, result)


def _get_children(state: ServerState, session: int, get: GetChildren, _time_ms: int) -> OperationResult:
    result = read(state.tree, get)
    if get.watch and result.ok:
        state = _watching(state, watch_children(state.watches, get.path, session))
    return OperationResult(state, result)


def _exists(state: ServerState, session: int, exists: Exists, _time_ms: int) -> OperationResult:
    result = read(state.tree, exists)
    if exists.watch and result.code is not Code.BAD_ARGUMENTS:
        state = _watching(state, watch_data(state.watches, exists.path, session))
    return OperationResult(state, result)


def _sync(state: ServerState, _session: int, _request: Sync, _time_ms: int) -> OperationResult:
    return OperationResult(state, _OK)


def _add_watch(state: ServerState, session: int, request: AddWatch, _time_ms: int) -> OperationResult:
    return OperationResult(_watching(state, add_watch(state.watches, request, session)), _OK)


def _set_watches(state: ServerState, session: int, request: SetWatches, _time_ms: int) -> OperationResult:
    watches, missed = set_again(state.watches, request, state.tree, session)
    return OperationResult(_watching(state, watches), _OK, missed)


def _watching(state: ServerState, watches: Watches) -> ServerState:
    return ServerState(state.tree, watches, state.sessions, state.zxid, state.next_session)


_OK: Final = Answer()
_EXPIRED: Final = Answer(Code.SESSION_EXPIRED)
_ANSWERS: Final[Mapping[type, Callable[[ServerState, int, Any, int], OperationResult]]] = {
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


class Planted(msgspec.Struct, frozen=True, gc=False):
    """A znode to begin with. Times are ms since the epoch, UTC."""

    data: bytes = b""
    owner: int = 0
    """The session of an ephemeral one, else 0."""
    version: int = 0
    czxid: int = 0
    """For a broker's registration, the broker's epoch."""
    mzxid: int = 0
    creations: int = 0
    """How many children it ever had, if more than now: its next sequential child gets this number."""
    time_ms: int = 0


def planted_nodes(planted: Mapping[str, Planted]) -> dict[str, StoredZnode]:
    """These znodes, the server's own, and empty ones where a parent is missing, by path."""
    everything = {**dict.fromkeys(_OWN, _BARE), **planted}
    names = _names(everything)
    youngest: dict[str, int] = {}
    for path, one in planted.items():
        if one.czxid:
            parent = parent_of(path)
            youngest[parent] = max(youngest.get(parent, 0), one.czxid)
    return {path: _node(path, one, names.get(path, ()), youngest.get(path, 0)) for path, one in everything.items()}


def server_over(
    nodes: Mapping[str, StoredZnode],
    owned: Mapping[int, Sequence[str]],
    *,
    zxid: int,
    session_timeout_ms: int,
) -> ServerState:
    """A server over a mapping that never changes, and may work its values out when asked.

    nodes: every znode by path, the root too; names, Stats and owners must agree with each other.
    owned: the ephemeral znodes of each session, oldest first.
    """
    sessions: Sessions = PersistentMap()
    for owner, paths in owned.items():
        sessions = sessions.changed({owner: new_session(session_timeout_ms)})
        sessions = sessions_after(sessions, (ZnodeChange(EventKind.CREATED, path, owner) for path in paths))
    return ServerState(PersistentMap(nodes), no_watches(), sessions, zxid, max(owned, default=0) + 1)


def _names(everything: dict[str, Planted]) -> dict[str, list[str]]:
    """The names under every znode that has some; a parent that is missing is added to everything."""
    names: dict[str, list[str]] = {}
    paths = [path for path in everything if path != "/"]
    for path in paths:
        parent, _, name = path.rpartition("/")
        siblings = names.get(parent)
        if siblings is not None:
            siblings.append(name)
            continue
        names[parent] = [name]
        if parent and parent not in everything:
            everything[parent] = _BARE
            paths.append(parent)
    names["/"] = names.pop("")
    return names


def _node(path: str, one: Planted, names: Sequence[str], youngest: int) -> StoredZnode:
    children, cversion, czxid, mzxid = len(names), 0, one.czxid, one.mzxid
    if children or one.creations:
        cversion = 2 * max(one.creations, children - _UNCOUNTED.get(path, 0)) - children
    stat = Stat(
        czxid,
        mzxid if mzxid > czxid else czxid,
        one.time_ms,
        one.time_ms,
        one.version,
        cversion,
        0,
        one.owner,
        len(one.data),
        children,
        youngest if youngest > czxid else czxid,
    )
    return StoredZnode(one.data, stat, Names(names) if names else NO_NAMES)


_BARE: Final = Planted()
_OWN: Final = ("/", "/zookeeper/config", "/zookeeper/quota")
_UNCOUNTED: Final[Mapping[str, int]] = {"/": 1, "/zookeeper": 2}
"""Children that the server makes itself, without counting."""


_HEADER: Final = struct.pack("!4siq", b"ZKSN", 2, -1)
_OPEN_TO_ALL: Final = -1
"""org.apache.zookeeper.server.ReferenceCountedACLCache.OPEN_UNSAFE_ACL_ID."""
_PERSISTED: Final = struct.Struct("!qqqqqiiiqq")
"""The number of the ACL, then org.apache.zookeeper.data.StatPersisted."""
_SECRET: Final = 0xB3415C00
"""org.apache.zookeeper.server.ZooKeeperServer.superSecret."""


def snapshot_name(state: ServerState) -> str:
    """How the file is called, in the folder `version-2` below a server's data."""
    return f"snapshot.{state.zxid:x}"


def snapshot_bytes(state: ServerState) -> bytes:
    """The file of a server whose watches, if it has any, are nobody's concern."""
    sessions = dict(state.sessions.items())
    told = b"".join(struct.pack("!qi", number, one.timeout_ms) for number, one in sessions.items())
    nodes = b"".join(_nodes(dict(state.tree.items())))
    written = _HEADER + struct.pack("!i", len(sessions)) + told + struct.pack("!i", 0) + nodes + _text("/")
    return written + struct.pack("!q", adler32(written)) + _text("/")


def session_password(session: int) -> bytes:
    """What a client shows to go on with a session: ZooKeeperServer.generatePasswd, with java.util.Random's bytes."""
    seed = (session ^ _SECRET ^ 0x5DEECE66D) & (1 << 48) - 1
    password = b""
    for _ in range(4):
        seed = (seed * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        password += struct.pack("<I", seed >> 16)
    return password


def _nodes(tree: dict[str, StoredZnode]) -> Iterator[bytes]:
    for path in sorted(tree, key=lambda each: (each.count("/") if each != "/" else 0, each)):
        node = tree[path]
        stat = node.stat
        yield _text("" if path == "/" else path)
        yield struct.pack("!i", len(node.data)) + node.data
        yield _PERSISTED.pack(
            _OPEN_TO_ALL,
            stat.czxid,
            stat.mzxid,
            stat.ctime_ms,
            stat.mtime_ms,
            stat.version,
            creations(stat),
            stat.aversion,
            stat.ephemeral_owner,
            stat.pzxid,
        )


def _text(text: str) -> bytes:
    return struct.pack("!i", len(text.encode())) + text.encode()
