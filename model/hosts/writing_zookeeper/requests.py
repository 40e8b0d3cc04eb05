"""A controller's ZooKeeper requests in the wire format (jute), and the answers as its values. Nothing is sent here.

Source: `org.apache.zookeeper.ZooDefs.OpCode`, `org.apache.zookeeper.{MultiOperationRecord,MultiResponse}` (3.4 to 3.9).
Paths are given without the chroot, which is put in front on the way out only. Znodes are open to all (world:anyone).
"""

import struct
from collections.abc import Callable
from typing import Any

from model.hosts.zookeeper.requests import full_path, take_bytes, take_names, take_stat, text_bytes
from model.zookeeper.operations import (
    Answer,
    Check,
    Code,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    Multi,
    SetData,
    ZooKeeperRequest,
)

_INT = struct.Struct(">i")
_PART = struct.Struct(">iBi")
_LAST_PART = _PART.pack(-1, True, -1)
_EPHEMERAL = 1
_SEQUENTIAL = 2
_OPEN_TO_ALL = struct.pack(">iii5si6s", 1, 31, 5, b"world", 6, b"anyone")
_CODES = {int(code): code for code in Code}
_NULL = _INT.pack(-1)


def opcode(request: ZooKeeperRequest) -> int:
    """The type of a request in its header."""
    return _OPCODES[type(request)]


def encode(request: ZooKeeperRequest, chroot: str) -> bytes:
    """A request without its header. Raises UnicodeEncodeError for a path with lone surrogates."""
    return _ENCODE[type(request)](request, chroot)


def decode(request: ZooKeeperRequest, buffer: bytes, offset: int) -> Answer:
    """What the server answered to this request. Raises struct.error, KeyError or ValueError for garbage.

    The path of what was created is as the server has it, chroot and all.
    """
    if isinstance(request, Multi):
        return _take_parts(request, buffer, offset)
    return _take(_OPCODES[type(request)], buffer, offset)[0]


def code_of(error: int) -> Code:
    """ZooKeeper's error code as a controller knows it."""
    return _CODES.get(error, Code.OTHER)


def _data(data: bytes) -> bytes:
    """Null stands for no data, as in what Kafka writes."""
    return _INT.pack(len(data)) + data if data else _NULL


def _encode_read(request: GetData | Exists | GetChildren, chroot: str) -> bytes:
    return text_bytes(full_path(chroot, request.path)) + (b"\1" if request.watch else b"\0")


def _encode_create(request: Create, chroot: str) -> bytes:
    flags = _INT.pack((_EPHEMERAL if request.ephemeral else 0) | (_SEQUENTIAL if request.sequential else 0))
    return text_bytes(full_path(chroot, request.path)) + _data(request.data) + _OPEN_TO_ALL + flags


def _encode_set(request: SetData, chroot: str) -> bytes:
    return text_bytes(full_path(chroot, request.path)) + _data(request.data) + _INT.pack(request.version)


def _encode_version(request: Delete | Check, chroot: str) -> bytes:
    return text_bytes(full_path(chroot, request.path)) + _INT.pack(request.version)


def _encode_multi(request: Multi, chroot: str) -> bytes:
    parts: list[bytes] = []
    for part in request.parts:
        kind = type(part)
        parts += (_PART.pack(_OPCODES[kind], False, -1), _ENCODE[kind](part, chroot))
    return b"".join((*parts, _LAST_PART))


_OPCODES: dict[type[Any], int] = {
    Create: 1,
    Delete: 2,
    Exists: 3,
    GetData: 4,
    SetData: 5,
    GetChildren: 12,
    Check: 13,
    Multi: 14,
}
_ENCODE: dict[type[Any], Callable[[Any, str], bytes]] = {
    Create: _encode_create,
    Delete: _encode_version,
    Exists: _encode_read,
    GetData: _encode_read,
    SetData: _encode_set,
    GetChildren: _encode_read,
    Check: _encode_version,
    Multi: _encode_multi,
}


def _take_metadata(buffer: bytes, offset: int) -> tuple[Answer, int]:
    stat, offset = take_stat(buffer, offset)
    return Answer(stat=stat), offset


def _take_znode(buffer: bytes, offset: int) -> tuple[Answer, int]:
    data, offset = take_bytes(buffer, offset)
    stat, offset = take_stat(buffer, offset)
    return Answer(data=data, stat=stat), offset


def _take_created(buffer: bytes, offset: int) -> tuple[Answer, int]:
    path, offset = take_bytes(buffer, offset)
    return Answer(path=path.decode()), offset


def _take_children(buffer: bytes, offset: int) -> tuple[Answer, int]:
    children, offset = take_names("", buffer, offset)
    stat, offset = take_stat(buffer, offset)
    return Answer(names=tuple(sorted(children.names)), stat=stat), offset


def _take_nothing(_buffer: bytes, offset: int) -> tuple[Answer, int]:
    return Answer(), offset


_TAKE: dict[int, Callable[[bytes, int], tuple[Answer, int]]] = {
    1: _take_created,
    2: _take_nothing,
    3: _take_metadata,
    4: _take_znode,
    5: _take_metadata,
    12: _take_children,
    13: _take_nothing,
}


def _take(kind: int, buffer: bytes, offset: int) -> tuple[Answer, int]:
    return _TAKE[kind](buffer, offset)


def _take_parts(request: Multi, buffer: bytes, offset: int) -> Answer:
    parts: list[Answer] = []
    failure = Code.OK
    for _ in request.parts:
        kind, _, _ = _PART.unpack_from(buffer, offset)
        offset += _PART.size
        if kind == -1:
            code = code_of(_INT.unpack_from(buffer, offset)[0])
            offset += 4
            parts.append(Answer(code))
            failure = failure or code
        else:
            part, offset = _take(kind, buffer, offset)
            parts.append(part)
    return Answer(failure, parts=tuple(parts))
