"""A server as if it had lived: built from znodes that somebody describes. No transaction runs and nobody is told."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from model.hosts.memory_zookeeper.draft import Change
from model.hosts.memory_zookeeper.names import NO_NAMES, Names
from model.hosts.memory_zookeeper.paths import parent_of
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.memory_zookeeper.sessions import Sessions, follow, new_session
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.memory_zookeeper.tree import Node
from model.hosts.memory_zookeeper.watches import no_watches
from model.hosts.zookeeper.values import EventKind, Stat


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


def planted_server(planted: Mapping[str, Planted], *, zxid: int = 0, session_timeout_ms: int = 18_000) -> ServerState:
    """A server with these znodes, with empty ones where a parent is missing, and with a session for each owner.

    planted: by paths as a server takes them, which is not checked.
    zxid: the newest transaction, if newer than every znode.
    """
    owned: dict[int, list[str]] = {}
    for path, one in planted.items():
        if one.owner:
            owned.setdefault(one.owner, []).append(path)
        zxid = max(zxid, one.czxid, one.mzxid)
    for paths in owned.values():
        paths.sort(key=lambda path: planted[path].czxid)
    return server_over(planted_nodes(planted), owned, zxid=zxid, session_timeout_ms=session_timeout_ms)


def planted_nodes(planted: Mapping[str, Planted]) -> dict[str, Node]:
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
    nodes: Mapping[str, Node],
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
        sessions = follow(sessions, (Change(EventKind.CREATED, path, owner) for path in paths))
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


def _node(path: str, one: Planted, names: Sequence[str], youngest: int) -> Node:
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
    return Node(one.data, stat, Names(names) if names else NO_NAMES)


_BARE: Final = Planted()
_OWN: Final = ("/", "/zookeeper/config", "/zookeeper/quota")
_UNCOUNTED: Final[Mapping[str, int]] = {"/": 1, "/zookeeper": 2}
"""Children that the server makes itself, without counting."""
