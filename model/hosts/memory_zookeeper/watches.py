"""Sessions with their ephemeral znodes and watches: whose is what, and who is notified of a change. Delivers nothing.

It measures no time: the caller says which session expired. Watches are as in org.apache.zookeeper.server.DataTree and
WatchManager (3.9): one table for data and one for children; a session hears of a change once per table; one-shot
watches go when they fire; a recursive watch is a data watch of everything from its path down, and never hears of
children as such (ZOOKEEPER-4475). Those are few, Kafka sets none, and are kept apart.

When a session ends, its ephemeral znodes go in the order of a java.util.HashSet of their paths, copied by clone()
(DataTree.getEphemerals), and so everybody hears of the deletions in that order: which of a broker's znodes goes first
is decided here. As in Java 8 to 18; from Java 19 on the copy can have half the buckets (JDK-8281631), and another
order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.memory_zookeeper.tree import Tree, ZnodeChange, parent_of
from model.zookeeper import AddWatch, EventKind, SetWatches, WatchMode, ZnodeChanged

_LOAD_FACTOR = 0.75
_FEWEST_BUCKETS = 16


def closing_order(paths: Sequence[str], most: int) -> list[str]:
    """Sort the paths, given by age. `most` is how many the session ever had at once: a HashSet does not shrink."""
    buckets = _FEWEST_BUCKETS
    while most > _LOAD_FACTOR * buckets:
        buckets *= 2
    copied = _power_of_two(int(len(paths) / _LOAD_FACTOR + 1))
    hashes = {path: _spread_hash(path) for path in paths}
    # A bucket keeps the order in which it was filled: the copy's is that of the original's buckets.
    return sorted(paths, key=lambda path: (hashes[path] & (copied - 1), hashes[path] & (buckets - 1)))


def _spread_hash(text: str) -> int:
    """java.util.HashMap.hash of java.lang.String.hashCode; a znode's path has no surrogates."""
    total = 0
    for character in text:
        total = (total * 31 + ord(character)) & 0xFFFF_FFFF
    return total ^ total >> 16


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


ONE_SHOT: Final = 1
PERSISTENT: Final = 2
NO_ZXID: Final = -1
"""The zxid of events that tell of something missed."""

Watchers = Mapping[int, int]
"""How each session watches a path: the sum of the kinds above (org.apache.zookeeper.server.watch.WatchStats)."""
WatchTable = PersistentMap[str, Watchers]

_NOBODY: Final[Watchers] = MappingProxyType({})
# To look up a member of an enumeration takes longer than to compare it.
_DELETED: Final = EventKind.DELETED
_DATA_CHANGED: Final = EventKind.DATA_CHANGED
_CHILDREN_CHANGED: Final = EventKind.CHILDREN_CHANGED


class SessionEvent(msgspec.Struct, frozen=True, gc=False):
    """A session is to be told of a change."""

    session: int
    changed: ZnodeChanged


class Watches(msgspec.Struct, frozen=True):
    """All watches of all sessions."""

    data: WatchTable
    children: WatchTable
    recursive: tuple[tuple[str, int], ...] = ()
    """Paths, and sessions that watch everything from there down."""


def no_watches() -> Watches:
    """What a new server has."""
    return Watches(PersistentMap(), PersistentMap())


def watch_data(watches: Watches, path: str, session: int, kind: int = ONE_SHOT) -> Watches:
    """Tell the session when the znode is created, deleted or written."""
    return Watches(_with(watches.data, path, session, kind), watches.children, watches.recursive)


def watch_children(watches: Watches, path: str, session: int, kind: int = ONE_SHOT) -> Watches:
    """Tell the session when the znode is deleted or gains or loses a child."""
    return Watches(watches.data, _with(watches.children, path, session, kind), watches.recursive)


def add_watch(watches: Watches, request: AddWatch, session: int) -> Watches:
    """Set a watch that stays."""
    if request.mode is WatchMode.PERSISTENT:
        watches = watch_data(watches, request.path, session, PERSISTENT)
        return watch_children(watches, request.path, session, PERSISTENT)
    recursive = dict.fromkeys((*watches.recursive, (request.path, session)))
    return Watches(watches.data, watches.children, tuple(recursive))


def set_again(
    watches: Watches, request: SetWatches, tree: Tree, session: int
) -> tuple[Watches, tuple[SessionEvent, ...]]:
    """Set one-shot watches as after a lost connection, and tell what was missed."""
    missed: list[SessionEvent] = []

    def miss(kind: EventKind, path: str) -> None:
        missed.append(SessionEvent(session, ZnodeChanged(kind, path, NO_ZXID)))

    for path in request.data:
        znode = tree.get(path)
        if znode is None:
            miss(EventKind.DELETED, path)
        elif znode.stat.mzxid > request.zxid:
            miss(EventKind.DATA_CHANGED, path)
        else:
            watches = watch_data(watches, path, session)
    for path in request.existence:
        if tree.get(path) is None:
            watches = watch_data(watches, path, session)
        else:
            miss(EventKind.CREATED, path)
    for path in request.children:
        znode = tree.get(path)
        if znode is None:
            miss(EventKind.DELETED, path)
        elif znode.stat.pzxid > request.zxid:
            miss(EventKind.CHILDREN_CHANGED, path)
        else:
            watches = watch_children(watches, path, session)
    return watches, tuple(missed)


def without(watches: Watches, session: int) -> Watches:
    """Forget a session's watches: its connection ended."""
    recursive = tuple((path, other) for path, other in watches.recursive if other != session)
    return Watches(_without(watches.data, session), _without(watches.children, session), recursive)


def fire(watches: Watches, changes: Iterable[ZnodeChange], zxid: int) -> tuple[Watches, tuple[SessionEvent, ...]]:
    """Who hears of these changes, in the order each session does, and the watches that are left."""
    events: list[SessionEvent] = []
    data, children, recursive = watches.data, watches.children, watches.recursive
    for change in changes:
        kind, path = change.kind, change.path
        data, told = _pull(data, path)
        if recursive:
            told = dict.fromkeys((*told, *(session for above, session in recursive if _is_under(path, above))))
        if told:
            _tell(events, told, kind, path, zxid)
        if kind is _DATA_CHANGED:
            continue
        if kind is _DELETED:
            children, also_told = _pull(children, path)
            _tell(events, [session for session in also_told if session not in told], kind, path, zxid)
        parent = parent_of(path)
        children, told = _pull(children, parent)
        if told:
            _tell(events, told, _CHILDREN_CHANGED, parent, zxid)
    return (Watches(data, children, watches.recursive), tuple(events)) if events else (watches, ())


def _tell(events: list[SessionEvent], sessions: Iterable[int], kind: EventKind, path: str, zxid: int) -> None:
    changed = ZnodeChanged(kind, path, zxid)
    events.extend(SessionEvent(session, changed) for session in sessions)


def _pull(table: WatchTable, path: str) -> tuple[WatchTable, Collection[int]]:
    """The sessions that watch this path, and the table without the watches that are used up."""
    watchers = table.get(path)
    if watchers is None:
        return table, ()
    left = {session: kind for session, kind in watchers.items() if kind != ONE_SHOT}
    return (table if len(left) == len(watchers) else table.changed({path: left or None})), watchers


def _is_under(path: str, above: str) -> bool:
    return path == above or path.startswith(above if above == "/" else above + "/")


def _with(table: WatchTable, path: str, session: int, kind: int) -> WatchTable:
    watchers = table.get(path) or _NOBODY
    already = watchers.get(session, 0)
    return table if already & kind else table.changed({path: {**watchers, session: already | kind}})


def _without(table: WatchTable, session: int) -> WatchTable:
    left: dict[str, Watchers | None] = {
        path: {other: kind for other, kind in watchers.items() if other != session} or None
        for path, watchers in table.items()
        if session in watchers
    }
    return table.changed(left)


class MemorySession(msgspec.Struct, frozen=True):
    """One session, open."""

    timeout_ms: int
    ephemerals: PersistentMap[str, int]
    """Its ephemeral znodes, and when each came, as a number that grows."""
    alive: int = 0
    """How many of them there are."""
    most: int = 0
    """How many there ever were at once."""
    born: int = 0
    """How many it ever had."""

    def closing_order(self) -> list[str]:
        """Its ephemeral znodes in the order in which the server deletes them when the session ends."""
        by_age = sorted(self.ephemerals.items(), key=lambda item: item[1])
        return closing_order([path for path, _ in by_age], self.most)


Sessions = PersistentMap[int, MemorySession]


def new_session(timeout_ms: int) -> MemorySession:
    """A session that owns nothing yet."""
    return MemorySession(timeout_ms, PersistentMap())


def sessions_after(sessions: Sessions, changes: Iterable[ZnodeChange]) -> Sessions:
    """The sessions after these changes of their ephemeral znodes."""
    for change in changes:
        session = sessions.get(change.owner) if change.owner else None
        if session is None or change.kind is EventKind.DATA_CHANGED:
            continue
        sessions = sessions.changed({change.owner: _session_after(session, change)})
    return sessions


def _session_after(session: MemorySession, change: ZnodeChange) -> MemorySession:
    born, alive = session.born, session.alive
    if change.kind is EventKind.DELETED:
        return MemorySession(
            session.timeout_ms, session.ephemerals.changed({change.path: None}), alive - 1, session.most, born
        )
    ephemerals = session.ephemerals.changed({change.path: born})
    return MemorySession(session.timeout_ms, ephemerals, alive + 1, max(session.most, alive + 1), born + 1)
