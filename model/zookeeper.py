"""What a client may ask of ZooKeeper and what it is answered, as values. Nothing is carried out here.

The operations are those of `org.apache.zookeeper.ZooDefs.OpCode` (3.4 to 3.9) that Kafka uses, under ZooKeeper's names;
there are no ACLs, quotas, containers or TTLs. A null payload is `b""`. Controllers and consumers ask them, a real
server (`model.hosts.writing_client`) or one in memory (`model.hosts.memory_zookeeper`) answers.

Operations of one question are sent one after the other without waiting (pipelined) and answered in that order. A lost
connection is the host's to repair; an expired session answers everything still open with SESSION_EXPIRED.

Znodes are told of with their data and metadata, or with why one could not be read. Paths are always as the caller sees
them: the chroot is neither given nor returned. Answers about many znodes are columns that read like a list: a million
of them without an object, or a Stat, for each.
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


ANY_VERSION = -1
"""The expected version that fits every version."""


class GetData(msgspec.Struct, frozen=True, gc=False):
    """A znode's data and metadata; `watch` sets a one-shot data watch if it is there."""

    path: str
    watch: bool = False


class GetChildren(msgspec.Struct, frozen=True, gc=False):
    """The names below a znode, sorted; `watch` sets a one-shot child watch."""

    path: str
    watch: bool = False


class Exists(msgspec.Struct, frozen=True, gc=False):
    """A znode's metadata; `watch` also waits for the creation of a missing one."""

    path: str
    watch: bool = False


class Create(msgspec.Struct, frozen=True, gc=False):
    """Make a znode, which must not exist, under a parent that must.

    A sequential one gets ten digits behind its path: how many children the parent ever had.
    """

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False


class SetData(msgspec.Struct, frozen=True, gc=False):
    """Replace a znode's data if its version fits."""

    path: str
    data: bytes
    version: int = ANY_VERSION


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Remove a znode without children if its version fits."""

    path: str
    version: int = ANY_VERSION


class Check(msgspec.Struct, frozen=True, gc=False):
    """Fail the Multi it is in unless the znode is there with this version. A real server hangs up on a lone one."""

    path: str
    version: int


Read = GetData | GetChildren | Exists
Write = Create | SetData | Delete


class Multi(msgspec.Struct, frozen=True, gc=False):
    """All of these in one transaction, or none."""

    parts: tuple[Write | Check, ...]


ZooKeeperRequest = Read | Write | Multi
"""What controllers and consumers ask."""


class Sync(msgspec.Struct, frozen=True, gc=False):
    """Wait until the server has caught up with the leader."""

    path: str


class WatchMode(IntEnum):
    """`org.apache.zookeeper.AddWatchMode`."""

    PERSISTENT = 0
    PERSISTENT_RECURSIVE = 1


class AddWatch(msgspec.Struct, frozen=True, gc=False):
    """A watch that stays after it fires (ZOOKEEPER-1416, since 3.6.0). The znode need not exist."""

    path: str
    mode: WatchMode


class SetWatches(msgspec.Struct, frozen=True, gc=False):
    """One-shot watches, set without reading, as after a lost connection.

    Those whose znode changed after `zxid` fire at once, with an event whose zxid is -1.
    """

    zxid: int
    data: tuple[str, ...] = ()
    existence: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


Operation = ZooKeeperRequest | Sync | AddWatch | SetWatches


class Code(IntEnum):
    """`org.apache.zookeeper.KeeperException.Code`. FENCED is ours: the check of the controller epoch failed."""

    OK = 0
    OTHER = -1
    """SYSTEMERROR, and whatever has no name here."""
    RUNTIME_INCONSISTENCY = -2
    """Of a part of a Multi: it was not tried, because an earlier one failed."""
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    FENCED = -1000


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What became of one operation; fields that it does not concern keep their defaults.

    `stat` is None also for a Create that a real server answered: it sends none. `path` is that of what was created,
    the digits of a sequential one included. `parts` has an answer for each part of a Multi; `code` is then that of
    the first part that failed, parts before it say OK and those behind it RUNTIME_INCONSISTENCY.
    """

    code: Code = Code.OK
    data: bytes = b""
    stat: Stat | None = None
    names: tuple[str, ...] = ()
    path: str = ""
    parts: "tuple[Answer, ...]" = ()

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return self.code is Code.OK

    @property
    def version(self) -> int:
        """The znode's version of data, 0 for one that was just created; -1 if the answer tells none."""
        if self.stat is None:
            return 0 if self.path else -1
        return self.stat.version

    @property
    def czxid(self) -> int:
        """The transaction that created the znode; -1 if the answer does not tell."""
        return -1 if self.stat is None else self.stat.czxid

    @property
    def owner(self) -> int:
        """The session that an ephemeral znode belongs to; 0 for any other."""
        return 0 if self.stat is None else self.stat.ephemeral_owner
