"""One write on a tree: the tree after it, its result, and what changed, in order.

The checks and their order are those of org.apache.zookeeper.server.PrepRequestProcessor (3.9). It chooses neither
zxid nor time, sets no watch and tells nobody.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from model.hosts.memory_zookeeper.draft import Change, Draft
from model.hosts.memory_zookeeper.operations import (
    ANY_VERSION,
    CheckVersion,
    Committed,
    Create,
    Created,
    Delete,
    ErrorCode,
    Failed,
    Multi,
    PartResult,
    Result,
    RolledBack,
    SetData,
    Write,
)
from model.hosts.memory_zookeeper.paths import SPECIAL, is_valid, parent_of
from model.hosts.memory_zookeeper.tree import Node, Tree, creations
from model.hosts.zookeeper.values import Stat

Applied = tuple[Tree, Result, tuple[Change, ...]]


def apply(tree: Tree, write: Write, zxid: int, time_ms: int, session: int) -> Applied:
    """Carry out one write. The same tree comes back when it failed."""
    draft = Draft(tree, zxid, time_ms, session)
    if isinstance(write, Multi):
        return _apply_all(tree, draft, write)
    try:
        result = _CARRY_OUT[type(write)](draft, write)
    except _RefusedError as refused:
        return tree, Failed(refused.code), ()
    return draft.tree(), result, tuple(draft.changes)


def remove(tree: Tree, paths: Iterable[str], zxid: int) -> tuple[Tree, tuple[Change, ...]]:
    """Delete the ephemerals of a session that ended, in this order and in one transaction."""
    draft = Draft(tree, zxid, 0, 0)
    for path in paths:
        draft.delete(path, _existing(draft, path))
    return draft.tree(), tuple(draft.changes)


class _RefusedError(Exception):
    def __init__(self, code: ErrorCode) -> None:
        self.code = code


def _apply_all(tree: Tree, draft: Draft, multi: Multi) -> Applied:
    results: list[PartResult] = []
    for part in multi.operations:
        try:
            results.append(_CARRY_OUT[type(part)](draft, part))
        except _RefusedError as refused:
            before = (ErrorCode.OK,) * len(results)
            behind = (ErrorCode.RUNTIME_INCONSISTENCY,) * (len(multi.operations) - len(results) - 1)
            return tree, RolledBack((*before, refused.code, *behind)), ()
    return draft.tree(), Committed(tuple(results)), tuple(draft.changes)


def _create(draft: Draft, create: Create) -> Created:
    path = create.path
    if "/" not in path or "\0" in path:
        raise _RefusedError(ErrorCode.BAD_ARGUMENTS)
    parent_path = parent_of(path)
    parent = _existing(draft, parent_path)
    if create.sequential:
        path = f"{path}{creations(parent.stat):010d}"
    if not is_valid(path):
        raise _RefusedError(ErrorCode.BAD_ARGUMENTS)
    if draft.node(path) is not None:
        raise _RefusedError(ErrorCode.NODE_EXISTS)
    if parent.stat.ephemeral_owner:
        raise _RefusedError(ErrorCode.NO_CHILDREN_FOR_EPHEMERALS)
    owner = draft.session if create.ephemeral else 0
    return Created(path, draft.create(path, create.data, owner, parent_path, parent))


def _delete(draft: Draft, delete: Delete) -> None:
    path = delete.path
    if "/" not in path or "\0" in path or path in SPECIAL:
        raise _RefusedError(ErrorCode.BAD_ARGUMENTS)
    node = _expected(draft, path, delete.version)
    if node.stat.num_children:
        raise _RefusedError(ErrorCode.NOT_EMPTY)
    draft.delete(path, node)


def _set_data(draft: Draft, write: SetData) -> Stat:
    if not is_valid(write.path):
        raise _RefusedError(ErrorCode.BAD_ARGUMENTS)
    return draft.write(write.path, _expected(draft, write.path, write.version), write.data)


def _check_version(draft: Draft, check: CheckVersion) -> None:
    if not is_valid(check.path):
        raise _RefusedError(ErrorCode.BAD_ARGUMENTS)
    _expected(draft, check.path, check.version)


def _existing(draft: Draft, path: str) -> Node:
    node = draft.node(path)
    if node is None:
        raise _RefusedError(ErrorCode.NO_NODE)
    return node


def _expected(draft: Draft, path: str, version: int) -> Node:
    node = _existing(draft, path)
    if version not in (ANY_VERSION, node.stat.version):
        raise _RefusedError(ErrorCode.BAD_VERSION)
    return node


_CARRY_OUT: Final[Mapping[type, Callable[[Draft, Any], Any]]] = {
    Create: _create,
    Delete: _delete,
    SetData: _set_data,
    CheckVersion: _check_version,
}
