"""Znodes as ZooKeeper tells of them: their data and metadata, why one could not be read, and that one changed.

Nothing here talks to a server or knows Kafka's znodes. Paths are always as the caller sees them: the chroot is
neither given nor returned. Answers about many znodes are columns that read like a list: a million of them without an
object, or a Stat, for each.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, cast, overload

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Stat(msgspec.Struct, frozen=True, gc=False):
    """A znode's metadata, in the order of ZooKeeper's `org.apache.zookeeper.data.Stat`."""

    czxid: int = 0
    mzxid: int = 0
    ctime_ms: int = 0
    mtime_ms: int = 0
    version: int = 0
    cversion: int = 0
    aversion: int = 0
    ephemeral_owner: int = 0
    data_length: int = 0
    num_children: int = 0
    pzxid: int = 0


class Znode(msgspec.Struct, frozen=True, gc=False):
    """A znode's data and metadata; a znode with null data has `b""`."""

    path: str
    data: bytes
    stat: Stat


class Children(msgspec.Struct, frozen=True, gc=False):
    """The children of a znode, in the server's order; `stat` is None where MultiRead answered (it sends none)."""

    path: str
    names: tuple[str, ...]
    stat: Stat | None


class Missing(msgspec.Struct, frozen=True, gc=False):
    """There is no such znode."""

    path: str


class Forbidden(msgspec.Struct, frozen=True, gc=False):
    """The znode's ACL does not let this session read it."""

    path: str


class Refused(msgspec.Struct, frozen=True, gc=False):
    """The server refused to read this path for another reason (ZooKeeper's `KeeperException.Code`)."""

    path: str
    code: int


class TooLarge(msgspec.Struct, frozen=True, gc=False):
    """The znode has more bytes than are kept of one (`requests.MAX_PAYLOAD_BYTES`)."""

    path: str
    length: int


Unread = Missing | Forbidden | Refused | TooLarge
"""Why there is nothing to show for a path."""


class EventKind(IntEnum):
    """`org.apache.zookeeper.Watcher.Event.EventType`."""

    CREATED = 1
    DELETED = 2
    DATA_CHANGED = 3
    CHILDREN_CHANGED = 4


class ZnodeChanged(msgspec.Struct, frozen=True, gc=False):
    """A watch fired. `zxid` is the change's transaction from ZooKeeper 3.9 on, -1 before."""

    kind: EventKind
    path: str
    zxid: int


STAT = struct.Struct("!qqqqiiiqiiq")
"""A Stat on the wire."""

NO_STAT = b"\xff" * STAT.size
"""Stands where there is none."""

_KINDS = {"q": ">i8", "i": ">i4"}
_COLUMNS = list(zip(Stat.__struct_fields__, (_KINDS[code] for code in STAT.format[1:]), strict=True))
"""A Stat's numbers, as numpy names them."""


class ZnodeColumns(Sequence[Znode | Unread]):
    """For each of `paths` its data, or why there is none; and its Stat as the server sent it."""

    __slots__ = ("_stats", "data", "paths")

    def __init__(self, paths: Sequence[str], data: Sequence[bytes | Unread], stats: bytes) -> None:
        """`stats` has 68 bytes for each path, whether or not there is such a znode."""
        self.paths = paths
        self.data = data
        self._stats = stats

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> Znode | Unread: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Znode | Unread]: ...
    def __getitem__(self, index: int | slice) -> Znode | Unread | Sequence[Znode | Unread]:
        if isinstance(index, slice):
            return [self[row] for row in range(len(self))[index]]
        data = self.data[index]
        if not isinstance(data, bytes):
            return data
        row = range(len(self))[index]
        return Znode(self.paths[row], data, Stat(*STAT.unpack_from(self._stats, row * STAT.size)))

    def __iter__(self) -> Iterator[Znode | Unread]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(cast(Sequence[object], other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # as a list has none

    def stat(self, name: str) -> "NDArray[np.int64]":
        """One number of every Stat, such as `mzxid`; -1 where there is no znode."""
        import numpy as np  # noqa: PLC0415 - brokers and consumers read few znodes, and start without it

        return np.frombuffer(self._stats, np.dtype(_COLUMNS))[name].astype(np.int64)

    def without_longer(self, most_bytes: int) -> "ZnodeColumns":
        """No payload is longer than this: who needs it has to read it alone."""
        data = [
            TooLarge(path, len(datum)) if isinstance(datum, bytes) and len(datum) > most_bytes else datum
            for path, datum in zip(self.paths, self.data, strict=True)
        ]
        return ZnodeColumns(self.paths, data, self._stats)

    @classmethod
    def joined(cls, parts: Iterable["ZnodeColumns"]) -> "ZnodeColumns":
        """All of them, one after the other."""
        every = list(parts)
        if len(every) == 1:
            return every[0]
        paths = [path for part in every for path in part.paths]
        data = [datum for part in every for datum in part.data]
        return cls(paths, data, b"".join(part._stats for part in every))


def columns_of(answers: Sequence[Znode | Unread]) -> ZnodeColumns:
    """Answers as columns; columns are returned as they are."""
    if isinstance(answers, ZnodeColumns):
        return answers
    stats = (
        STAT.pack(*msgspec.structs.astuple(answer.stat)) if isinstance(answer, Znode) else NO_STAT for answer in answers
    )
    data = [answer.data if isinstance(answer, Znode) else answer for answer in answers]
    return ZnodeColumns([answer.path for answer in answers], data, b"".join(stats))
