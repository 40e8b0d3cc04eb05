"""Reads ZooKeeper's transaction log: when the server took each transaction, by its own clock.

Source: `org.apache.zookeeper.server.persistence.FileTxnLog` (3.9).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CLOSE_SESSION = -11
_FILE_HEADER_BYTES = 16
_ENTRY = struct.Struct(">qi")
_TRANSACTION = struct.Struct(">qiqqi")


class Transaction(NamedTuple):
    """`body` is what follows the header, as it was written."""

    session: int
    zxid: int
    at_ms: int
    kind: int
    body: bytes


def transactions(folder: Path) -> Iterator[Transaction]:
    """All that is in the logs below a server's folder, in order."""
    for file in sorted(folder.rglob("version-2/log.*"), key=lambda path: int(path.suffix[1:], 16)):
        yield from _in_file(file.read_bytes())


def _in_file(data: bytes) -> Iterator[Transaction]:
    offset = _FILE_HEADER_BYTES
    while offset + _ENTRY.size < len(data):
        _, length = _ENTRY.unpack_from(data, offset)
        if not length:
            return  # the rest was set aside for more
        start = offset + _ENTRY.size
        session, _, zxid, at_ms, kind = _TRANSACTION.unpack_from(data, start)
        yield Transaction(session, zxid, at_ms, kind, data[start + _TRANSACTION.size : start + length])
        offset = start + length + 1
