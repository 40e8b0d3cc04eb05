"""A transaction in the making: what it changed so far lies over a tree that stays as it was.

It knows what a change does to the Stats around it (org.apache.zookeeper.server.DataTree), not who may make it.
"""

from typing import Final

import msgspec

from model.hosts.memory_zookeeper.paths import split
from model.hosts.memory_zookeeper.tree import Node, Tree
from model.hosts.zookeeper.values import EventKind, Stat

# To look up a member of an enumeration takes longer than to make a Change of it.
_CREATED: Final = EventKind.CREATED
_DELETED: Final = EventKind.DELETED
_DATA_CHANGED: Final = EventKind.DATA_CHANGED


class Change(msgspec.Struct, frozen=True, gc=False):
    """A znode was created, deleted or written. `owner` is the session of an ephemeral one, else 0."""

    kind: EventKind
    path: str
    owner: int


class Draft:
    """One transaction, for one use: change it, then take `tree()` and `changes`, or drop it."""

    __slots__ = ("_nodes", "_tree", "changes", "session", "time_ms", "zxid")

    def __init__(self, tree: Tree, zxid: int, time_ms: int, session: int) -> None:
        self.zxid = zxid
        self.time_ms = time_ms
        self.session = session
        self.changes: list[Change] = []
        self._tree = tree
        self._nodes: dict[str, Node | None] = {}

    def tree(self) -> Tree:
        """The tree with the changes in it."""
        return self._tree.changed(self._nodes)

    def node(self, path: str) -> Node | None:
        """The znode as the changes so far leave it."""
        nodes = self._nodes
        return nodes[path] if path in nodes else self._tree.get(path)

    def create(self, path: str, data: bytes, owner: int, parent_path: str, parent: Node) -> Stat:
        """Add a znode that is not there yet."""
        zxid, time_ms = self.zxid, self.time_ms
        stat = Stat(zxid, zxid, time_ms, time_ms, 0, 0, 0, owner, len(data), 0, zxid)
        names = parent.names.with_change(path[path.rindex("/") + 1 :], True)
        self._nodes[path] = Node(data, stat)
        self._nodes[parent_path] = Node(parent.data, _recounted(parent.stat, 1, zxid), names)
        self.changes.append(Change(_CREATED, path, owner))
        return stat

    def delete(self, path: str, node: Node) -> None:
        """Remove a znode that is there and has no children."""
        parent_path, name = split(path)
        parent = self.node(parent_path)
        assert parent is not None
        names = parent.names.with_change(name, False)
        self._nodes[path] = None
        self._nodes[parent_path] = Node(parent.data, _recounted(parent.stat, -1, self.zxid), names)
        self.changes.append(Change(_DELETED, path, node.stat.ephemeral_owner))

    def write(self, path: str, node: Node, data: bytes) -> Stat:
        """Replace a znode's data."""
        old = node.stat
        stat = Stat(
            old.czxid,
            self.zxid,
            old.ctime_ms,
            self.time_ms,
            old.version + 1,
            old.cversion,
            old.aversion,
            old.ephemeral_owner,
            len(data),
            old.num_children,
            old.pzxid,
        )
        self._nodes[path] = Node(data, stat, node.names)
        self.changes.append(Change(_DATA_CHANGED, path, old.ephemeral_owner))
        return stat


def _recounted(old: Stat, more: int, zxid: int) -> Stat:
    """The Stat of a znode that has one child more or one less."""
    return Stat(
        old.czxid,
        old.mzxid,
        old.ctime_ms,
        old.mtime_ms,
        old.version,
        old.cversion + 1,
        old.aversion,
        old.ephemeral_owner,
        old.data_length,
        old.num_children + more,
        zxid,
    )
