"""A TCP proxy before a ZooKeeper server that counts what clients ask for, and spoils the connection on demand.

It knows the frames of the protocol, not their contents. Opcodes it does not know count as writes.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Self

READS = {
    3: "exists",
    4: "getData",
    6: "getACL",
    8: "getChildren",
    9: "sync",
    11: "ping",
    12: "getChildren2",
    22: "multiRead",
    100: "auth",
    101: "setWatches",
    102: "sasl",
    106: "addWatch",
}
SESSION_OPS = {"createSession", "closeSession"}
MULTI_OPS = {14, 22}
PING_XID = -2

PassOn = Callable[[socket.socket, bytes, int], None]

Rewrite = Callable[[bytes], bytes]
"""From a whole reply frame (without its length) to the raw bytes to send instead (with a length)."""


class CountingProxy:
    """Listens on loopback for as long as the `with` block lasts. Faults may be changed at any time."""

    def __init__(self, upstream: str) -> None:
        host, _, port = upstream.rpartition(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._flowing = threading.Event()
        self._flowing.set()
        self._rewrite: tuple[int, Rewrite] | None = None
        self._cut_after_bytes: int | None = None
        self.bytes_per_s: int | None = None
        self.delay_s = 0.0
        self.passes_four_letters = True
        self.asked: Counter[str] = Counter()
        self.connections = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def writes(self) -> Counter[str]:
        """Everything asked for that is not a read; opening and closing sessions excepted."""
        reads = SESSION_OPS | set(READS.values())
        return Counter({name: count for name, count in self.asked.items() if name not in reads})

    def cut(self) -> None:
        """Reset every connection."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.shutdown(socket.SHUT_RDWR)

    def cut_in_mid_frame(self, after_bytes: int) -> None:
        """Cut the next reply longer than this after its first bytes."""
        self._cut_after_bytes = after_bytes

    def swallow(self) -> None:
        """A black hole: connections stay, new ones are accepted, nothing arrives."""
        self._flowing.clear()

    def flow(self) -> None:
        """Undo `swallow`."""
        self._flowing.set()

    def rewrite_next_reply(self, rewrite: Rewrite) -> None:
        """Send something else instead of the next reply that is not a ping or a handshake."""
        self._rewrite = (1, rewrite)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._flowing.set()
        with contextlib.suppress(OSError):  # some systems can't, and need not
            self._listener.shutdown(socket.SHUT_RDWR)  # else `_accept` goes on waiting, and its port stays open
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._upstream)
        except OSError:
            client.close()
            return
        self._open |= {client, server}
        answers = threading.Thread(target=self._pump, args=(server, client, self._answer), daemon=True)
        answers.start()
        self._pump(client, server, self._request)
        answers.join()
        self._open -= {client, server}

    def _pump(self, source: socket.socket, sink: socket.socket, pass_on: PassOn) -> None:
        """Pass whole frames on, or raw bytes where four letters came instead of a length; close both at the end."""
        with contextlib.suppress(OSError), source.makefile("rb") as stream:
            number = 0
            while len(head := stream.read(4)) == 4:
                self._flowing.wait()
                if head.isalpha():
                    if not self.passes_four_letters:
                        break
                    sink.sendall(head)
                    while rest := stream.read1():
                        sink.sendall(rest)
                    break
                pass_on(sink, stream.read(struct.unpack("!i", head)[0]), number)
                number += 1
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _request(self, sink: socket.socket, frame: bytes, number: int) -> None:
        if number == 0:
            self.asked["createSession"] += 1
        else:
            _, opcode = struct.unpack_from("!ii", frame)
            self.asked["closeSession" if opcode == -11 else _name(opcode)] += 1
            if opcode in MULTI_OPS:
                self.asked.update(_sub_operations(frame))
        sink.sendall(_with_length(frame))

    def _answer(self, sink: socket.socket, frame: bytes, number: int) -> None:
        time.sleep(self.delay_s)
        out = _with_length(frame)
        is_ping = struct.unpack_from("!i", frame)[0] == PING_XID
        if self._rewrite and number > 0 and not is_ping:
            out, self._rewrite = self._rewrite[1](frame), None
        if self._cut_after_bytes is not None and len(out) > self._cut_after_bytes:
            sink.sendall(out[: self._cut_after_bytes])
            self._cut_after_bytes = None
            raise ConnectionAbortedError
        if self.bytes_per_s is None:
            sink.sendall(out)
            return
        for start in range(0, len(out), 1000):
            sink.sendall(out[start : start + 1000])
            time.sleep(1000 / self.bytes_per_s)


def _name(opcode: int) -> str:
    return READS.get(opcode, f"opcode {opcode}")


def _sub_operations(frame: bytes) -> Counter[str]:
    """The operations inside a multi of path operations (getData, getChildren); others can't be skipped: a write."""
    found: Counter[str] = Counter()
    offset = 8
    while True:
        opcode, done, _ = struct.unpack_from("!iBi", frame, offset)
        if done:
            return found
        found[f"{_name(opcode)} in multi" if opcode not in READS else _name(opcode)] += 1
        if opcode not in READS:
            return found
        (length,) = struct.unpack_from("!i", frame, offset + 9)
        offset += 9 + 4 + length + 1


def _with_length(frame: bytes) -> bytes:
    return struct.pack("!i", len(frame)) + frame
