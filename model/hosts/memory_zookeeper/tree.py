"""The znodes as a value, and what can be read of them. It is changed by transactions, and has no watches or sessions.

Stats are as clients see them. ZooKeeper counts the children ever created and shows, as cversion, that count twice
minus the children there are (org.apache.zookeeper.server.DataNode.copyStat).
"""

from typing import Final

import msgspec

from model.hosts.memory_zookeeper.names import NO_NAMES, Names
from model.hosts.memory_zookeeper.operations import ErrorCode, Exists, Failed, GetData, Read
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.zookeeper.values import Children, Stat, Znode


class Node(msgspec.Struct, frozen=True, gc=False):
    """One znode and the names of its children."""

    data: bytes
    stat: Stat
    names: Names = NO_NAMES


Tree = PersistentMap[str, Node]
"""All znodes, by path."""


def new_tree() -> Tree:
    """What a new server has."""
    return PersistentMap(
        {
            "/": _uncounted("zookeeper"),
            "/zookeeper": _uncounted("config", "quota"),
            "/zookeeper/config": Node(b"", Stat(0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0)),
            "/zookeeper/quota": _uncounted(),
        }
    )


def read(tree: Tree, operation: Read) -> Stat | Znode | Children | Failed:
    """Carry out one read; its watch is not set here."""
    path = operation.path
    node = tree.get(path)
    if node is None:
        return _BAD_ARGUMENTS if isinstance(operation, Exists) and "\0" in path else _NO_NODE
    if isinstance(operation, GetData):
        return Znode(path, node.data, node.stat)
    if isinstance(operation, Exists):
        return node.stat
    return Children(path, tuple(sorted(node.names)), node.stat)


def creations(stat: Stat) -> int:
    """How many children were ever created under a znode: the number the next sequential one gets."""
    return (stat.cversion + stat.num_children) // 2


def _uncounted(*names: str) -> Node:
    """The server puts its own znodes there without counting."""
    return Node(b"", Stat(0, 0, 0, 0, 0, -len(names), 0, 0, 0, len(names), 0), Names(names))


_NO_NODE: Final = Failed(ErrorCode.NO_NODE)
_BAD_ARGUMENTS: Final = Failed(ErrorCode.BAD_ARGUMENTS)
