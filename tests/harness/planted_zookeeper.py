"""A ZooKeeper in memory that begins with znodes."""

from __future__ import annotations

from collections.abc import Mapping

from model.hosts.memory_zookeeper.state import Planted, ServerState, planted_nodes, server_over


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
