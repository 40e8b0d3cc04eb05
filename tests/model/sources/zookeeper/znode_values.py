"""Znodes as a reader answers them, for tests; whole trees from captures of real clusters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from model.zookeeper import Children, Missing, Stat, Unread, Znode

CAPTURES = Path(__file__).parents[3] / "data" / "znodes"


def znode(path: str, data: bytes = b"", *, version: int = 0, czxid: int = 5, mzxid: int = 7) -> Znode:
    """A znode created at 1,000 ms and last written at 2,000 ms."""
    stat = Stat(czxid, mzxid, 1_000, 2_000, version, 0, 0, 0, len(data), 0, mzxid)
    return Znode(path, data, stat)


class Tree:
    """Znodes that can be listed and read, as a server's."""

    def __init__(self, znodes: Iterable[Znode]) -> None:
        self._znodes = {each.path: each for each in znodes}

    def children(self, paths: Iterable[str]) -> list[Children | Unread]:
        return [Children(path, self._names(path), None) if path in self._znodes else Missing(path) for path in paths]

    def read(self, paths: Iterable[str]) -> list[Znode | Unread]:
        return [self._znodes.get(path, Missing(path)) for path in paths]

    def _names(self, path: str) -> tuple[str, ...]:
        parts = (each.rpartition("/") for each in self._znodes if each != "/")
        return tuple(name for parent, _, name in parts if (parent or "/") == path)


def captured(name: str) -> Tree:
    """A tree that a real cluster wrote."""
    rows = json.loads((CAPTURES / name).read_text())
    return Tree(
        znode(row["path"], row["data"].encode(), version=row["version"], czxid=row["czxid"], mzxid=row["czxid"])
        for row in rows
    )
