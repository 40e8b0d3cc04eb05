"""Random sequences of what clients of ZooKeeper do, each decided by its seed. It carries nothing out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from model.hosts.memory_zookeeper.tree import Tree
from model.zookeeper import (
    AddWatch,
    Check,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Operation,
    Read,
    SetData,
    SetWatches,
    Sync,
    WatchMode,
    Write,
)

T = TypeVar("T")
NAMES = ("a", "b", "c", "long-name", "é")
NOT_NAMES = ("", ".", "..", "/a", "x\0", "\x01", "\x9f", "\ue000", "\ufff0", "\U0001f600")


class ZnodeLife:
    """Chooses operations that mostly succeed in a tree, all under one root that is never deleted."""

    def __init__(self, seed: int, root: str) -> None:
        self._random = Random(seed)
        self._root = root
        self._choices: dict[Callable[[Tree], Operation], int] = {
            self._create: 30,
            self._delete: 12,
            self._set: 12,
            self._multi: 16,
            self._read: 18,
            self._watch: 3,
            self._sync: 1,
        }

    def chance(self, one_in: int) -> bool:
        """True once in so many times."""
        return self._random.randrange(one_in) == 0

    def number(self, below: int) -> int:
        return self._random.randrange(below)

    def operation(self, tree: Tree) -> Operation:
        """The next operation of some session."""
        (choose,) = self._random.choices(list(self._choices), list(self._choices.values()))
        return choose(tree)

    def watches(self, tree: Tree, zxid: int) -> SetWatches:
        """What a session sets again that was away for some of the last transactions."""
        some = [tuple(self._path(tree) for _ in range(self.number(4))) for _ in range(3)]
        return SetWatches(zxid - self.number(12), *some)

    def _create(self, tree: Tree) -> Create:
        parents = self._there(tree)
        lasting = [path for path in parents if (node := tree.get(path)) and not node.stat.ephemeral_owner]
        parent = self._pick(parents if self.chance(12) else lasting)
        sequential = self.chance(4)
        name = self._pick(NOT_NAMES if self.chance(25) else ("", *NAMES) if sequential else NAMES)
        path = name if self.chance(100) else f"{parent}/missing/{name}" if self.chance(30) else f"{parent}/{name}"
        return Create(path, self._data(), self.chance(3), sequential)

    def _delete(self, tree: Tree) -> Delete:
        leaves = [path for path in self._there(tree)[1:] if (node := tree.get(path)) and not node.stat.num_children]
        return Delete(self._pick(leaves) if leaves and not self.chance(5) else self._path(tree, 1), self._version())

    def _set(self, tree: Tree) -> SetData:
        return SetData(self._path(tree), self._data(), self._version())

    def _check(self, tree: Tree) -> Check:
        return Check(self._path(tree), self._version())

    def _multi(self, tree: Tree) -> Multi:
        choices: Sequence[Callable[[Tree], Write | Check]] = (
            self._create,
            self._create,
            self._delete,
            self._set,
            self._check,
        )
        return Multi(tuple(self._pick(choices)(tree) for _ in range(self.number(4))))

    def _read(self, tree: Tree) -> Read:
        return self._pick((GetData, GetChildren, Exists, Exists))(self._path(tree), not self.chance(4))

    def _watch(self, tree: Tree) -> AddWatch:
        return AddWatch(self._path(tree), self._pick(tuple(WatchMode)))

    def _sync(self, tree: Tree) -> Sync:
        return Sync(self._path(tree))

    def _path(self, tree: Tree, first: int = 0) -> str:
        there = self._there(tree)
        if self.chance(40):
            return f"{self._pick(there)}/{self._pick(NOT_NAMES)}"
        if self.chance(6) or len(there) <= first:
            return f"{self._pick(there)}/{self._pick(NAMES)}"
        return self._pick(there[first:])

    def _there(self, tree: Tree) -> list[str]:
        """Every znode, the root first."""
        return sorted(path for path, _ in tree.items() if path.startswith(self._root))

    def _version(self) -> int:
        return self._pick((-1, -1, -1, -1, 0, 0, 1, 2))

    def _data(self) -> bytes:
        return b"x" * self.number(3)

    def _pick(self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)
