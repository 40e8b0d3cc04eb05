"""A session with a real server, with the operations and answers of the one in memory, on a bare socket.

Every message is kept as the server sent it, in order; no client library decides what is seen.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

from model.zookeeper import (
    AddWatch,
    Answer,
    Check,
    Code,
    Create,
    Delete,
    EventKind,
    Exists,
    GetChildren,
    GetData,
    Multi,
    Operation,
    SetData,
    SetWatches,
    Stat,
    Sync,
    ZnodeChanged,
)
from tests.zookeeper.memory_zookeeper import Message, Reply

ANSWER_TIMEOUT_S = 30.0
LONG_MS = 60_000
SHORTEST_MS = 1
CLOSE = -11
EVENT = -1
OPCODES = {
    Create: 15,  # create2, which answers with a Stat
    Delete: 2,
    Exists: 3,
    GetData: 4,
    SetData: 5,
    Sync: 9,
    GetChildren: 12,
    Check: 13,
    Multi: 14,
    SetWatches: 101,
    AddWatch: 106,
}


class RawSession:
    """Opens a session when made. For one thread."""

    def __init__(self, port: int) -> None:
        self.id = 0
        self._port = port
        self._password = bytes(16)
        self._messages: list[Message] = []
        self._connect(LONG_MS)

    def ask(self, operation: Operation) -> Reply:
        """Send one operation and wait for its answer."""
        return self._call(OPCODES[type(operation)], encoded(operation), operation)

    def take(self) -> tuple[Message, ...]:
        """Events and replies since the last time, in order; to have all events ask something first."""
        taken, self._messages = tuple(self._messages), []
        return taken

    def close(self) -> Reply:
        reply = self._call(CLOSE, b"", None)
        self._socket.close()
        return reply

    def reconnect(self) -> None:
        """Lose the connection and resume the session on another."""
        self._socket.close()
        self._messages = []
        self._connect(LONG_MS)

    def vanish(self) -> None:
        """Fall silent with the shortest timeout, until the server has ended the session.

        Its answer is not asked for: on a slow machine it ends the session, and hangs up, before it answers.
        """
        self._socket.close()
        self._greet(SHORTEST_MS)
        self._file.read()
        self._socket.close()

    def _connect(self, timeout_ms: int) -> None:
        self._greet(timeout_ms)
        _, _, self.id, _ = struct.unpack_from("!iiqi", answer := self._frame())
        self._password = answer[20:36]
        self._xid = 0

    def _greet(self, timeout_ms: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port), ANSWER_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._send(struct.pack("!iqiqi", 0, 0, timeout_ms, self.id, 16) + self._password + b"\0")

    def _call(self, opcode: int, body: bytes, operation: Operation | None) -> Reply:
        self._xid += 1
        self._send(struct.pack("!ii", self._xid, opcode) + body)
        while True:
            frame = self._frame()
            xid, zxid, code = struct.unpack_from("!iqi", frame)
            if xid == self._xid:
                reply = Reply(zxid, Answer(Code(code)) if code else decoded(operation, frame[16:]))
                self._messages.append(reply)
                return reply
            if xid != EVENT:
                continue  # the answer to a call that failed on the way
            kind, _, length = struct.unpack_from("!iii", frame, 16)
            self._messages.append(ZnodeChanged(EventKind(kind), _from_jute(frame[28 : 28 + length]), zxid))

    def _send(self, frame: bytes) -> None:
        self._socket.sendall(struct.pack("!i", len(frame)) + frame)

    def _frame(self) -> bytes:
        (length,) = struct.unpack("!i", self._file.read(4))
        return self._file.read(length)


def encoded(operation: Operation | Check) -> bytes:
    """The body of the request, in jute."""
    match operation:
        case Create(path, data, ephemeral, sequential):
            everybody = struct.pack("!ii", 1, 31) + _text("world") + _text("anyone")
            return _text(path) + _buffer(data) + everybody + struct.pack("!i", ephemeral + 2 * sequential)
        case SetData(path, data, version):
            return _text(path) + _buffer(data) + struct.pack("!i", version)
        case Delete(path, version) | Check(path, version):
            return _text(path) + struct.pack("!i", version)
        case GetData(path, watch) | GetChildren(path, watch) | Exists(path, watch):
            return _text(path) + struct.pack("!?", watch)
        case AddWatch(path, mode):
            return _text(path) + struct.pack("!i", mode)
        case Sync(path):
            return _text(path)
        case SetWatches(zxid, data, existence, children):
            return struct.pack("!q", zxid) + b"".join(map(_texts, (data, existence, children)))
        case Multi(operations):
            parts = (struct.pack("!i?i", OPCODES[type(one)], False, -1) + encoded(one) for one in operations)
            return b"".join(parts) + struct.pack("!i?i", -1, True, -1)
    raise TypeError(operation)


def decoded(operation: Operation | Check | None, body: bytes) -> Answer:
    """The result in the body of an answer."""
    return _Body(body).result(operation)


class _Body:
    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def result(self, operation: Operation | Check | None) -> Answer:
        match operation:
            case Create():
                return Answer(path=self._buffer().decode(), stat=self._stat())
            case SetData() | Exists():
                return Answer(stat=self._stat())
            case GetData():
                return Answer(data=self._buffer(), stat=self._stat())
            case GetChildren():
                names = sorted(self._buffer().decode() for _ in range(self._take("!i")[0]))
                return Answer(names=tuple(names), stat=self._stat())
            case Multi():
                return self._multi(operation)
            case _:
                return Answer()

    def _multi(self, multi: Multi) -> Answer:
        results: list[Answer] = []
        codes: list[Code] = []
        for one in multi.parts:
            kind, _, _ = self._take("!i?i")
            if kind == -1:
                codes.append(Code(self._take("!i")[0]))
            else:
                results.append(self.result(one))
        assert not (results and codes)
        failure = next((code for code in codes if code), Code.OK)
        return Answer(failure, parts=tuple(map(Answer, codes)) or tuple(results))

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._body, self._at)
        self._at += struct.calcsize(form)
        return values

    def _stat(self) -> Stat:
        return Stat(*self._take("!qqqqiiiqiiq"))

    def _buffer(self) -> bytes:
        (length,) = self._take("!i")
        self._at += length
        return self._body[self._at - length : self._at]


def _from_jute(text: bytes) -> str:
    """Java's UTF-16 units, each encoded by itself (org.apache.jute.BinaryOutputArchive)."""
    return text.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16")


def _buffer(data: bytes) -> bytes:
    return struct.pack("!i", len(data)) + data


def _text(text: str) -> bytes:
    return _buffer(text.encode())


def _texts(texts: tuple[str, ...]) -> bytes:
    return struct.pack("!i", len(texts)) + b"".join(map(_text, texts))
