"""A server in memory as the snapshot file from which a real server begins: same znodes, Stats, sessions, transaction.

Bytes only; nothing is written. As org.apache.zookeeper.server.persistence.FileSnap and SnapStream (3.4 to 3.9) have
them: a header, the sessions, the znodes by depth, and a checksum. Every znode is open to everyone; the digest of 3.6
and later is left out, as it may be.
"""

import struct
from collections.abc import Iterator
from typing import Final
from zlib import adler32

from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.memory_zookeeper.tree import Node, creations

_HEADER: Final = struct.pack("!4siq", b"ZKSN", 2, -1)
_OPEN_TO_ALL: Final = -1
"""org.apache.zookeeper.server.ReferenceCountedACLCache.OPEN_UNSAFE_ACL_ID."""
_PERSISTED: Final = struct.Struct("!qqqqqiiiqq")
"""The number of the ACL, then org.apache.zookeeper.data.StatPersisted."""
_SECRET: Final = 0xB3415C00
"""org.apache.zookeeper.server.ZooKeeperServer.superSecret."""


def snapshot_name(state: ServerState) -> str:
    """How the file is called, in the folder `version-2` below a server's data."""
    return f"snapshot.{state.zxid:x}"


def snapshot_bytes(state: ServerState) -> bytes:
    """The file of a server whose watches, if it has any, are nobody's concern."""
    sessions = dict(state.sessions.items())
    told = b"".join(struct.pack("!qi", number, one.timeout_ms) for number, one in sessions.items())
    nodes = b"".join(_nodes(dict(state.tree.items())))
    written = _HEADER + struct.pack("!i", len(sessions)) + told + struct.pack("!i", 0) + nodes + _text("/")
    return written + struct.pack("!q", adler32(written)) + _text("/")


def session_password(session: int) -> bytes:
    """What a client shows to go on with a session: ZooKeeperServer.generatePasswd, with java.util.Random's bytes."""
    seed = (session ^ _SECRET ^ 0x5DEECE66D) & (1 << 48) - 1
    password = b""
    for _ in range(4):
        seed = (seed * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        password += struct.pack("<I", seed >> 16)
    return password


def _nodes(tree: dict[str, Node]) -> Iterator[bytes]:
    for path in sorted(tree, key=lambda each: (each.count("/") if each != "/" else 0, each)):
        node = tree[path]
        stat = node.stat
        yield _text("" if path == "/" else path)
        yield struct.pack("!i", len(node.data)) + node.data
        yield _PERSISTED.pack(
            _OPEN_TO_ALL,
            stat.czxid,
            stat.mzxid,
            stat.ctime_ms,
            stat.mtime_ms,
            stat.version,
            creations(stat),
            stat.aversion,
            stat.ephemeral_owner,
            stat.pzxid,
        )


def _text(text: str) -> bytes:
    return struct.pack("!i", len(text.encode())) + text.encode()
