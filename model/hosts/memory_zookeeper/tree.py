"""The znodes as a value, what can be read of them, and one write on them: the tree after it, its result, what changed.

It has no watches or sessions, chooses neither zxid nor time, and notifies nobody. A draft is a transaction in the
making: what it changed so far lies over a tree that stays as it was. The checks of a write and their order are those
of org.apache.zookeeper.server.PrepRequestProcessor (3.9); what a change does to the Stats around it is DataTree's.

Stats are as clients see them. ZooKeeper counts the children ever created and shows, as cversion, that count twice
minus the children there are (org.apache.zookeeper.server.DataNode.copyStat).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from model.hosts.memory_zookeeper.persistent_map import NO_NAMES, Names, PersistentMap
from model.zookeeper import (
    ANY_VERSION,
    Answer,
    Check,
    Code,
    Create,
    Delete,
    EventKind,
    Exists,
    GetData,
    Multi,
    Read,
    SetData,
    Stat,
    Write,
)

SPECIAL = frozenset({"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"})
"""Can't be deleted (org.apache.zookeeper.server.ZKDatabase.isSpecialPath)."""

# org.apache.zookeeper.common.PathUtils.validatePath, which sees UTF-16: outside the BMP all is surrogates.
_NAME = "[^/\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff\U00010000-\U0010ffff]+"
_VALID = re.compile(rf"/|(?:/(?!\.\.?(?:/|\Z)){_NAME})+")


def is_valid(path: str) -> bool:
    """Whether a znode can have this path: absolute, without empty, `.` and `..` names or control characters."""
    if path.isascii() and path.isprintable() and "//" not in path and "/." not in path:  # nearly all, and faster
        return path[:1] == "/" and (path[-1] != "/" or path == "/")
    return _VALID.fullmatch(path) is not None


def split(path: str) -> tuple[str, str]:
    """The parent's path and the name behind the last slash, of a path that has one."""
    parent, _, name = path.rpartition("/")
    return parent or "/", name


def parent_of(path: str) -> str:
    """The path before the last slash, of a path that has one."""
    return path[: path.rindex("/")] or "/"


class StoredZnode(msgspec.Struct, frozen=True, gc=False):
    """One znode and the names of its children."""

    data: bytes
    stat: Stat
    names: Names = NO_NAMES


Tree = PersistentMap[str, StoredZnode]
"""All znodes, by path."""


def new_tree() -> Tree:
    """What a new server has."""
    return PersistentMap(
        {
            "/": _uncounted("zookeeper"),
            "/zookeeper": _uncounted("config", "quota"),
            "/zookeeper/config": StoredZnode(b"", Stat(0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0)),
            "/zookeeper/quota": _uncounted(),
        }
    )


def read(tree: Tree, operation: Read) -> Answer:
    """Carry out one read; its watch is not set here."""
    node = tree.get(operation.path)
    if node is None:
        return _BAD_ARGUMENTS if isinstance(operation, Exists) and "\0" in operation.path else _NO_NODE
    if isinstance(operation, GetData):
        return Answer(data=node.data, stat=node.stat)
    if isinstance(operation, Exists):
        return Answer(stat=node.stat)
    return Answer(names=tuple(sorted(node.names)), stat=node.stat)


def creations(stat: Stat) -> int:
    """How many children were ever created under a znode: the number the next sequential one gets."""
    return (stat.cversion + stat.num_children) // 2


def _uncounted(*names: str) -> StoredZnode:
    """The server puts its own znodes there without counting."""
    return StoredZnode(b"", Stat(0, 0, 0, 0, 0, -len(names), 0, 0, 0, len(names), 0), Names(names))


_OK: Final = Answer()
_NOT_TRIED: Final = Answer(Code.RUNTIME_INCONSISTENCY)
_NO_NODE: Final = Answer(Code.NO_NODE)
_BAD_ARGUMENTS: Final = Answer(Code.BAD_ARGUMENTS)


# To look up a member of an enumeration takes longer than to make a Change of it.
_CREATED: Final = EventKind.CREATED
_DELETED: Final = EventKind.DELETED
_DATA_CHANGED: Final = EventKind.DATA_CHANGED


class ZnodeChange(msgspec.Struct, frozen=True, gc=False):
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
        self.changes: list[ZnodeChange] = []
        self._tree = tree
        self._nodes: dict[str, StoredZnode | None] = {}

    def tree(self) -> Tree:
        """The tree with the changes in it."""
        return self._tree.changed(self._nodes)

    def node(self, path: str) -> StoredZnode | None:
        """The znode as the changes so far leave it."""
        nodes = self._nodes
        return nodes[path] if path in nodes else self._tree.get(path)

    def create(self, path: str, data: bytes, owner: int, parent_path: str, parent: StoredZnode) -> Stat:
        """Add a znode that is not there yet."""
        zxid, time_ms = self.zxid, self.time_ms
        stat = Stat(zxid, zxid, time_ms, time_ms, 0, 0, 0, owner, len(data), 0, zxid)
        names = parent.names.with_change(path[path.rindex("/") + 1 :], True)
        self._nodes[path] = StoredZnode(data, stat)
        self._nodes[parent_path] = StoredZnode(parent.data, _recounted(parent.stat, 1, zxid), names)
        self.changes.append(ZnodeChange(_CREATED, path, owner))
        return stat

    def delete(self, path: str, node: StoredZnode) -> None:
        """Remove a znode that is there and has no children."""
        parent_path, name = split(path)
        parent = self.node(parent_path)
        assert parent is not None
        names = parent.names.with_change(name, False)
        self._nodes[path] = None
        self._nodes[parent_path] = StoredZnode(parent.data, _recounted(parent.stat, -1, self.zxid), names)
        self.changes.append(ZnodeChange(_DELETED, path, node.stat.ephemeral_owner))

    def write(self, path: str, node: StoredZnode, data: bytes) -> Stat:
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
        self._nodes[path] = StoredZnode(data, stat, node.names)
        self.changes.append(ZnodeChange(_DATA_CHANGED, path, old.ephemeral_owner))
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


Applied = tuple[Tree, Answer, tuple[ZnodeChange, ...]]


def apply(tree: Tree, write: Write | Multi, zxid: int, time_ms: int, session: int) -> Applied:
    """Carry out one write. The same tree comes back when it failed."""
    draft = Draft(tree, zxid, time_ms, session)
    if isinstance(write, Multi):
        return _apply_all(tree, draft, write)
    try:
        answer = _CARRY_OUT[type(write)](draft, write)
    except _RefusedError as refused:
        return tree, Answer(refused.code), ()
    return draft.tree(), answer, tuple(draft.changes)


def remove(tree: Tree, paths: Iterable[str], zxid: int) -> tuple[Tree, tuple[ZnodeChange, ...]]:
    """Delete the ephemerals of a session that ended, in this order and in one transaction."""
    draft = Draft(tree, zxid, 0, 0)
    for path in paths:
        draft.delete(path, _existing(draft, path))
    return draft.tree(), tuple(draft.changes)


class _RefusedError(Exception):
    def __init__(self, code: Code) -> None:
        self.code = code


def _apply_all(tree: Tree, draft: Draft, multi: Multi) -> Applied:
    answers: list[Answer] = []
    for part in multi.parts:
        try:
            answers.append(_CARRY_OUT[type(part)](draft, part))
        except _RefusedError as refused:
            return tree, _rolled_back(refused.code, len(answers), len(multi.parts)), ()
    return draft.tree(), Answer(parts=tuple(answers)), tuple(draft.changes)


def _rolled_back(code: Code, failed: int, parts: int) -> Answer:
    behind = (_NOT_TRIED,) * (parts - failed - 1)
    return Answer(code, parts=(*(_OK,) * failed, Answer(code), *behind))


def _create(draft: Draft, create: Create) -> Answer:
    path = create.path
    if "/" not in path or "\0" in path:
        raise _RefusedError(Code.BAD_ARGUMENTS)
    parent_path = parent_of(path)
    parent = _existing(draft, parent_path)
    if create.sequential:
        path = f"{path}{creations(parent.stat):010d}"
    if not is_valid(path):
        raise _RefusedError(Code.BAD_ARGUMENTS)
    if draft.node(path) is not None:
        raise _RefusedError(Code.NODE_EXISTS)
    if parent.stat.ephemeral_owner:
        raise _RefusedError(Code.NO_CHILDREN_FOR_EPHEMERALS)
    owner = draft.session if create.ephemeral else 0
    return Answer(stat=draft.create(path, create.data, owner, parent_path, parent), path=path)


def _delete(draft: Draft, delete: Delete) -> Answer:
    path = delete.path
    if "/" not in path or "\0" in path or path in SPECIAL:
        raise _RefusedError(Code.BAD_ARGUMENTS)
    node = _expected(draft, path, delete.version)
    if node.stat.num_children:
        raise _RefusedError(Code.NOT_EMPTY)
    draft.delete(path, node)
    return _OK


def _set_data(draft: Draft, write: SetData) -> Answer:
    if not is_valid(write.path):
        raise _RefusedError(Code.BAD_ARGUMENTS)
    return Answer(stat=draft.write(write.path, _expected(draft, write.path, write.version), write.data))


def _check(draft: Draft, check: Check) -> Answer:
    if not is_valid(check.path):
        raise _RefusedError(Code.BAD_ARGUMENTS)
    _expected(draft, check.path, check.version)
    return _OK


def _existing(draft: Draft, path: str) -> StoredZnode:
    node = draft.node(path)
    if node is None:
        raise _RefusedError(Code.NO_NODE)
    return node


def _expected(draft: Draft, path: str, version: int) -> StoredZnode:
    node = _existing(draft, path)
    if version not in (ANY_VERSION, node.stat.version):
        raise _RefusedError(Code.BAD_VERSION)
    return node


_CARRY_OUT: Final[Mapping[type, Callable[[Draft, Any], Answer]]] = {
    Create: _create,
    Delete: _delete,
    SetData: _set_data,
    Check: _check,
}
