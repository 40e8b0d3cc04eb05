"""A ZooKeeper that speaks the protocol from a script: a small cluster's tree, told truly or by a lie. In this process.

It serves reads and watches as a real server does, and each answer goes through the `Lie`, which may change it, send
something else, wait, or hang up. No session ever expires here.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BufferedReader
from typing import Self

from model.hosts.zookeeper.requests import NO_NODE
from model.zookeeper import STAT

EXISTS, GET_DATA, SYNC, PING, GET_CHILDREN, MULTI_READ = 3, 4, 9, 11, 12, 22
CONNECT, CLOSE = 0, -11
FIRST_ZXID = 100
_SRVR = b"Zookeeper version: %s, built\nMode: standalone\n"
_NEWER, _OLDER = b"3.9.3", b"3.4.14"

STATE = b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}'
TREE: Mapping[str, bytes] = {
    "/brokers/ids/1": b'{"version":4,"host":"b1","port":9092,"endpoints":["PLAINTEXT://b1:9092"],"jmx_port":-1}',
    "/brokers/topics/orders": b'{"version":1,"partitions":{"0":[1],"1":[1]}}',
    "/brokers/topics/orders/partitions/0/state": STATE,
    "/brokers/topics/orders/partitions/1/state": STATE,
    "/controller": b'{"version":1,"brokerid":1,"timestamp":"1700000000000"}',
    "/controller_epoch": b"1",
    "/cluster/id": b'{"version":"1","id":"lies"}',
}
"""A healthy cluster of one broker."""


@dataclass(frozen=True)
class Asked:
    """One request. `connection` counts from 1."""

    connection: int
    opcode: int
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What an honest server answers."""

    xid: int
    zxid: int
    error: int = 0
    body: bytes = b""

    def frame(self) -> bytes:
        return framed(struct.pack("!iqi", self.xid, self.zxid, self.error) + self.body)

    def with_body(self, body: bytes) -> Reply:
        return replace(self, body=body)


Lie = Callable[[Asked, Reply], Iterable[bytes]]
"""What is sent for a request, piece by piece; ConnectionAbortedError hangs up."""


def truth(_asked: Asked, reply: Reply) -> Iterable[bytes]:
    yield reply.frame()


class Tree:
    """What znodes there are; a lie may be told of them, too."""

    def __init__(self, znodes: Mapping[str, bytes] = TREE) -> None:
        self.znodes = dict(znodes)
        self._names: dict[str, set[str]] = {"/": set()}
        for path in self.znodes:
            names = path.split("/")[1:]
            for depth, name in enumerate(names):
                self._names.setdefault("/" + "/".join(names[:depth]), set()).add(name)

    def data(self, path: str) -> bytes | None:
        return self.znodes.get(path, b"" if path in self._names else None)

    def names(self, path: str) -> Sequence[str] | None:
        return sorted(self._names.get(path, ())) if self.data(path) is not None else None


class LyingZooKeeper:
    """Serves as long as the context lasts. `asked` has every request in order."""

    def __init__(self, lie: Lie = truth, tree: Tree | None = None, *, is_old: bool = False) -> None:
        """`is_old`: before 3.6, without MultiRead and recursive watches."""
        self.lie, self.tree, self.is_old = lie, tree or Tree(), is_old
        self.zxid = FIRST_ZXID
        self.connections = 0
        self.asked: list[Asked] = []
        self.ended = threading.Event()
        """Set at the end, so that a lie that waits ends with it."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def hang_up(self) -> None:
        """Close every connection there is."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._sockets = [*(each for each in self._sockets if each.fileno() >= 0), connection]
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            with suppress(OSError, EOFError), connection.makefile("rb") as incoming:
                self._converse(connection, incoming)
            _end(connection)

    def _converse(self, connection: socket.socket, incoming: BufferedReader) -> None:
        start = _exactly(incoming.read, 4)
        if start == b"srvr":
            connection.sendall(_SRVR % (_OLDER if self.is_old else _NEWER))
            return
        request = _exactly(incoming.read, struct.unpack("!i", start)[0])
        self.connections += 1
        number = self.connections
        session = struct.unpack_from("!iqiq", request)[3] or number
        self._send(connection, Asked(number, CONNECT), _Greeting(0, 0, body=struct.pack("!q", session)))
        while True:
            frame = _exactly(incoming.read, struct.unpack("!i", _exactly(incoming.read, 4))[0])
            xid, opcode = struct.unpack_from("!ii", frame)
            if opcode == CLOSE:
                return
            asked = Asked(number, opcode, _paths(opcode, frame[8:]))
            self._send(connection, asked, Reply(xid, self.zxid, *self._answer(asked, frame[8:])))

    def _send(self, connection: socket.socket, asked: Asked, reply: Reply) -> None:
        self.asked.append(asked)
        for piece in self.lie(asked, reply):
            connection.sendall(piece)

    def _answer(self, asked: Asked, body: bytes) -> tuple[int, bytes]:
        if asked.opcode == MULTI_READ:
            return 0, b"".join(self._one_of_many(kind, path) for kind, path in _reads(body)) + _END
        if asked.opcode == GET_DATA:
            data = self.tree.data(asked.paths[0])
            return (NO_NODE, b"") if data is None else (0, buffer(data) + stat(self.zxid, len(data)))
        if asked.opcode == EXISTS:
            return (NO_NODE, b"") if self.tree.data(asked.paths[0]) is None else (0, stat(self.zxid))
        if asked.opcode == GET_CHILDREN:
            names = self.tree.names(asked.paths[0])
            return (NO_NODE, b"") if names is None else (0, texts(names) + stat(self.zxid))
        return 0, buffer(asked.paths[0].encode()) if asked.opcode == SYNC else b""

    def _one_of_many(self, kind: int, path: str) -> bytes:
        data = self.tree.data(path)
        if data is None:
            return struct.pack("!i?ii", -1, False, NO_NODE, NO_NODE)
        told = buffer(data) + stat(self.zxid, len(data)) if kind == GET_DATA else texts(self.tree.names(path) or ())
        return struct.pack("!i?i", kind, False, 0) + told


class _Greeting(Reply):
    """The answer to the connect request, which has no header; the session is its body."""

    def frame(self) -> bytes:
        return framed(struct.pack("!ii", 0, 12_000) + self.body + struct.pack("!i", 16) + bytes(16) + b"\0")


_END = struct.pack("!i?i", -1, True, -1)


def _end(connection: socket.socket) -> None:
    """Read what is still coming, too: a socket closed before that resets the connection, and may take answers along."""
    connection.settimeout(1.0)
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(65536):
        pass


def framed(message: bytes) -> bytes:
    return struct.pack("!i", len(message)) + message


def buffer(data: bytes) -> bytes:
    return struct.pack("!i", len(data)) + data


def texts(names: Sequence[str]) -> bytes:
    return struct.pack("!i", len(names)) + b"".join(buffer(name.encode()) for name in names)


def stat(zxid: int, length: int = 0) -> bytes:
    return STAT.pack(1, zxid, 1_700_000_000_000, 1_700_000_000_000, 1, 0, 0, 0, length, 0, zxid)


def _paths(opcode: int, body: bytes) -> tuple[str, ...]:
    if opcode == MULTI_READ:
        return tuple(path for _, path in _reads(body))
    if opcode == PING or len(body) < 4:
        return ()
    return (_text(body, 0)[0],)


def _reads(body: bytes) -> Iterable[tuple[int, str]]:
    offset = 0
    while True:
        kind, is_done, _ = struct.unpack_from("!i?i", body, offset)
        if is_done:
            return
        path, offset = _text(body, offset + 9)
        offset += 1
        yield kind, path


def _text(body: bytes, offset: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("!i", body, offset)
    return body[offset + 4 : offset + 4 + length].decode(errors="replace"), offset + 4 + length


def _exactly(read: Callable[[int], bytes], length: int) -> bytes:
    got = read(length)
    if len(got) < length:
        raise EOFError
    return got
