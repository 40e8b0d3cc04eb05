"""The tree of what brokers told, for a browser of znodes: answers at once, from the last look. Asks nobody."""

import json
import time
from collections.abc import Callable, Sequence

from model.hosts.zookeeper.values import Children, Connected, ConnectionState, Missing, Server, Stat, Unread, Znode
from model.sources.kafka.tree import Node, node_at
from model.sources.kafka.views import ClusterView

UNTRUE = -1
"""A czxid that no znode has."""
_WATCHLESS = Server("", None, "", has_multi_read=False, has_add_watch=False)
_CONNECTED = Connected(0, 0, 0, _WATCHLESS, 0, 0, is_new_session=False)


class TreeReader:
    """Counts, for what is looked at, how often it was seen to change: that is its version here."""

    def __init__(self, view: Callable[[], ClusterView]) -> None:
        self._view = view
        self._seen: dict[str, tuple[Node, int, int]] = {}

    @property
    def state(self) -> ConnectionState:
        """No watch stands guard: what was read is believed for a moment only."""
        return _CONNECTED

    def children(self, path: str) -> Children | Unread:
        """The names below a place."""
        node = node_at(self._view(), path)
        return Missing(path) if node is None else Children(path, node.names, self._stat(path, node))

    def exists(self, path: str) -> Stat | Unread:
        """Its Stat, as far as it has one."""
        node = node_at(self._view(), path)
        return Missing(path) if node is None else self._stat(path, node)

    def read_many(self, paths: Sequence[str]) -> list[Znode | Unread]:
        """Values as JSON."""
        return [self._read(path) for path in paths]

    def _read(self, path: str) -> Znode | Unread:
        node = node_at(self._view(), path)
        return Missing(path) if node is None else Znode(path, _data(node), self._stat(path, node))

    def _stat(self, path: str, node: Node) -> Stat:
        before, version, at_ms = self._seen.get(path, (node, 0, 0))
        if before != node:
            version, at_ms = version + 1, time.time_ns() // 1_000_000
        self._seen[path] = node, version, at_ms
        return Stat(
            czxid=UNTRUE,
            mzxid=version,
            ctime_ms=0,
            mtime_ms=at_ms,
            version=version,
            cversion=0,
            aversion=0,
            ephemeral_owner=0,
            data_length=len(_data(node)),
            num_children=len(node.names),
            pzxid=version,
        )


def _data(node: Node) -> bytes:
    return b"" if node.value is None else json.dumps(node.value, separators=(",", ":")).encode()
