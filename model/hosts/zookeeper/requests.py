"""The requests we may send, in ZooKeeper's wire format (jute; org.apache.zookeeper.ZooDefs.OpCode).

kazoo sends any object with `type`, `serialize` and `deserialize`. Only reads and watches are written down here;
nothing in this module sends. Paths are given without the chroot, which is put in front on the way out only.
A frozen dataclass is never falsy, as an empty tuple would be: kazoo drops the answers of falsy requests.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Protocol

from model.zookeeper import (
    NO_STAT,
    STAT,
    Children,
    EventKind,
    Forbidden,
    Missing,
    Refused,
    Stat,
    TooLarge,
    Unread,
    WatchMode,
    Znode,
    ZnodeChanged,
    ZnodeColumns,
)

MAX_PAYLOAD_BYTES = 4 << 20
"""A longer payload is cut out of an answer before it is decoded: a server takes none above 1 MiB unless it was told to
(`jute.maxbuffer`), and what Kafka writes stays below that."""

FAILED = -1
CUT_OUT = -22
"""Stands for the operation where a payload was cut out of the answer: its length follows, and no bytes."""
NO_NODE = -101
NO_AUTH = -102

_INT = struct.Struct("!i")
_INTS = struct.Struct("!ii")
_LONG = struct.Struct("!q")
_OP = struct.Struct("!iBi")
KIND_AND_LENGTH = struct.Struct("!i5xi")
"""Of one answer among many: the operation, or that it failed; then bytes of data, or why it failed."""
_EVENT_KINDS = frozenset(EventKind)
_NULL = -1
"""The length of a buffer, or of a list, that is null."""
_BYTES = "latin-1"
"""A letter for each byte."""
_LAST_OP = _OP.pack(-1, True, -1)


class ZooKeeperRequest(Protocol):
    """What kazoo needs of a request."""

    type: ClassVar[int]

    def serialize(self) -> bytes: ...

    def deserialize(self, buffer: bytes, offset: int, /) -> object: ...


def unread(path: str, code: int) -> Unread:
    """Why a path could not be read, from ZooKeeper's error code."""
    if code == NO_NODE:
        return Missing(path)
    return Forbidden(path) if code == NO_AUTH else Refused(path, code)


def full_path(chroot: str, path: str) -> str:
    """The path as the server knows it."""
    return chroot + path if path != "/" else chroot or "/"


def text_bytes(text: str) -> bytes:
    """A string in jute. Raises UnicodeEncodeError for lone surrogates."""
    encoded = text.encode()
    return _INT.pack(len(encoded)) + encoded


def _texts(chroot: str, paths: Sequence[str]) -> bytes:
    return _INT.pack(len(paths)) + b"".join(text_bytes(full_path(chroot, path)) for path in paths)


def take_bytes(buffer: bytes, offset: int) -> tuple[bytes, int]:
    """A buffer of an answer, and where it ends. Raises ValueError or struct.error for garbage, as those below do."""
    (length,) = _INT.unpack_from(buffer, offset)
    start = offset + 4
    end = start + max(length, 0)
    if length < _NULL or end > len(buffer):
        raise ValueError(f"{length} bytes announced, {len(buffer) - start} sent")
    return buffer[start:end], end


def take_stat(buffer: bytes, offset: int) -> tuple[Stat, int]:
    """A Stat of an answer, and where it ends."""
    return Stat(*STAT.unpack_from(buffer, offset)), offset + STAT.size


def take_names(path: str, buffer: bytes, offset: int) -> tuple[Children, int]:
    """The names below a znode in an answer, in the server's order, and where they end."""
    (count,) = _INT.unpack_from(buffer, offset)
    offset += 4
    end = len(buffer)
    if not _NULL <= count <= (end - offset) // _INT.size:
        raise ValueError(f"{count} names announced, {end - offset} bytes sent")
    names: list[str] = []
    for _ in range(count):
        (length,) = _INT.unpack_from(buffer, offset)
        start = offset + 4
        offset = start + length
        if length < 0 or offset > end:
            raise ValueError(f"a name of {length} bytes announced, {end - start} sent")
        names.append(buffer[start:offset].decode())
    return Children(path, tuple(names), None), offset


@dataclass(frozen=True, slots=True)
class _OnePath:
    chroot: str
    path: str
    watch: bool = False

    def serialize(self) -> bytes:
        return text_bytes(full_path(self.chroot, self.path)) + (b"\1" if self.watch else b"\0")


@dataclass(frozen=True, slots=True)
class Exists(_OnePath):
    """A znode's Stat; kazoo answers None where there is none (and the watch waits for its creation)."""

    type: ClassVar[int] = 3

    def deserialize(self, buffer: bytes, offset: int) -> Stat:
        return take_stat(buffer, offset)[0]


@dataclass(frozen=True, slots=True)
class GetData(_OnePath):
    """One znode's data and Stat."""

    type: ClassVar[int] = 4

    def deserialize(self, buffer: bytes, offset: int) -> Znode | Unread:
        if len(buffer) == offset + KIND_AND_LENGTH.size:
            op, length = KIND_AND_LENGTH.unpack_from(buffer, offset)
            if op == CUT_OUT:
                return TooLarge(self.path, length)
        data, offset = take_bytes(buffer, offset)
        return Znode(self.path, data, take_stat(buffer, offset)[0])


@dataclass(frozen=True, slots=True)
class GetChildren2(_OnePath):
    """One znode's children and Stat."""

    type: ClassVar[int] = 12

    def deserialize(self, buffer: bytes, offset: int) -> Children:
        children, offset = take_names(self.path, buffer, offset)
        return Children(self.path, children.names, take_stat(buffer, offset)[0])


@dataclass(frozen=True, slots=True)
class Sync(_OnePath):
    """Wait until the server has caught up with the leader."""

    type: ClassVar[int] = 9

    def serialize(self) -> bytes:
        return text_bytes(full_path(self.chroot, self.path))

    def deserialize(self, _buffer: bytes, _offset: int) -> None:
        return None


class MultiOp(IntEnum):
    """What MultiRead can read of a path."""

    GET_DATA = 4
    GET_CHILDREN = 8


@dataclass(frozen=True, slots=True)
class MultiRead:
    """Many reads in one frame, each with its own error in place (ZOOKEEPER-1407, since 3.6.0).

    The whole request must stay below the server's jute.maxbuffer (1 MB); it can't set watches.
    """

    type: ClassVar[int] = 22
    chroot: str
    op: MultiOp
    paths: tuple[str, ...]

    def serialize(self) -> bytes:
        paths = [full_path(self.chroot, path) for path in self.paths] if self.chroot else self.paths
        if not all(map(str.isascii, paths)):
            paths = [path.encode().decode(_BYTES) for path in paths]
        header = _OP.pack(self.op, False, -1)
        heads = {length: (header + _INT.pack(length)).decode(_BYTES) for length in set(map(len, paths))}
        return "".join([f"{heads[len(path)]}{path}\0" for path in paths]).encode(_BYTES) + _LAST_OP

    def deserialize(self, buffer: bytes, offset: int) -> Sequence[Znode | Unread] | Sequence[Children | Unread]:
        take = _take_znodes if self.op is MultiOp.GET_DATA else _take_folders
        return take(self.paths, buffer, offset)


def _take_znodes(paths: Sequence[str], buffer: bytes, offset: int) -> ZnodeColumns:
    """Called for a million znodes: what each costs here is most of what reading a large cluster costs."""
    data: list[bytes | Unread] = []
    stats: list[bytes] = []
    take_head, size = KIND_AND_LENGTH.unpack_from, len(buffer)
    for path in paths:
        op, number = take_head(buffer, offset)
        offset += KIND_AND_LENGTH.size
        if op < 0:
            data.append(TooLarge(path, number) if op == CUT_OUT else unread(path, number))
            stats.append(NO_STAT)
            continue
        if not _NULL <= number <= size:
            raise ValueError(f"{number} bytes announced, {size - offset} sent")
        end = offset + number if number > 0 else offset
        data.append(buffer[offset:end])
        offset = end + STAT.size
        stats.append(buffer[end:offset])
    if offset > len(buffer):
        raise ValueError(f"{offset} bytes announced, {len(buffer)} sent")
    return ZnodeColumns(paths, data, b"".join(stats))


def _take_folders(paths: Sequence[str], buffer: bytes, offset: int) -> list[Children | Unread]:
    answers: list[Children | Unread] = []
    before, names = b"", ()
    for path in paths:
        op, _, _ = _OP.unpack_from(buffer, offset)
        offset += _OP.size
        if op == FAILED:
            answers.append(unread(path, *_INT.unpack_from(buffer, offset)))
            offset += _INT.size
            continue
        start = offset
        if before and buffer.startswith(before, start):  # the same names: topics have as many partitions as others
            offset += len(before)
        else:
            answer, offset = take_names(path, buffer, start)
            before, names = buffer[start:offset], answer.names
        answers.append(Children(path, names, None))
    return answers


@dataclass(frozen=True, slots=True)
class AddWatch:
    """A watch that stays after it fires (ZOOKEEPER-1416, since 3.6.0); the znode need not exist."""

    type: ClassVar[int] = 106
    chroot: str
    path: str
    mode: WatchMode

    def serialize(self) -> bytes:
        return text_bytes(full_path(self.chroot, self.path)) + _INT.pack(self.mode)

    def deserialize(self, _buffer: bytes, _offset: int) -> None:
        return None


@dataclass(frozen=True, slots=True)
class SetWatches:
    """One-shot watches set without reading; those whose znode changed after `zxid` fire at once."""

    type: ClassVar[int] = 101
    chroot: str
    zxid: int
    data: tuple[str, ...]
    existence: tuple[str, ...]
    children: tuple[str, ...]

    def serialize(self) -> bytes:
        lists = (_texts(self.chroot, paths) for paths in (self.data, self.existence, self.children))
        return _LONG.pack(self.zxid) + b"".join(lists)

    def deserialize(self, _buffer: bytes, _offset: int) -> None:
        return None


def watch_event(buffer: bytes, offset: int, zxid: int) -> list[ZnodeChanged]:
    """The event in a WatcherEvent frame, with the server's own path; none for news about the session or the watch."""
    kind, _state = _INTS.unpack_from(buffer, offset)
    path, _ = take_bytes(buffer, offset + _INTS.size)
    return [ZnodeChanged(EventKind(kind), path.decode(), zxid)] if kind in _EVENT_KINDS else []


READ_OPCODES: frozenset[int] = frozenset(
    request.type for request in (Exists, GetData, GetChildren2, Sync, MultiRead, AddWatch, SetWatches)
)
"""Everything else could write: it never reaches the queue."""
