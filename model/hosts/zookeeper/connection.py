"""kazoo made read-only and fast: what leaves is checked against a list of reads, what arrives is read in bulk.

kazoo 2.11 needs two selects and three receives an answer, loses the session on a slow link, and ends its thread for
good on one garbled frame. This overrides private parts of it; `missing_internals` says whether they are still there.
It does not supervise, retry or decode answers. An answer longer than any payload should be is taken in piece by
piece: payloads that are too large are dropped as they arrive, so that no more is kept than can be used.
"""

import inspect
import ssl
import struct
from collections.abc import Generator, Iterator
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    ConnectionClosedError,
    ConnectionDropped,
    ConnectionLoss,
    KazooException,
    SASLException,
    SessionClosedRequireSaslError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.connection import CLOSE_RESPONSE, PING_XID, WATCH_XID, ConnectionHandler
from kazoo.protocol.serialization import ReplyHeader
from kazoo.protocol.states import KeeperState

from model.hosts.zookeeper.protocol import OnEvents
from model.hosts.zookeeper.requests import (
    CUT_OUT,
    FAILED,
    KIND_AND_LENGTH,
    MAX_PAYLOAD_BYTES,
    READ_OPCODES,
    GetData,
    MultiOp,
    MultiRead,
    watch_event,
)
from model.hosts.zookeeper.settings import TrafficMeter
from model.zookeeper import STAT, ZnodeChanged

MAX_KEPT_BYTES = 64 << 20
"""Of one answer; and of answers that are wanted together, where from here on only short payloads are kept. Assignments
of four million partitions have as much."""

SHORT_BYTES = 16 << 10
"""A payload of at most this length is short: an assignment of a thousand partitions."""

_REPLY_HEADER_BYTES = 16
_ERROR = struct.Struct("!12xi")
_INT = struct.Struct("!i")
_HEAD = struct.Struct("!iBi")


class LongAnswer:
    """One frame on its way in. Raises ValueError, from `take`, where it is not what was asked for."""

    def __init__(self, length: int, request: object) -> None:
        """The next bytes are the frame, so many, which answers the request: see `can_be_cut`."""
        self._left = length
        self._kept = bytearray()
        self._reading = self._read(is_many=isinstance(request, MultiRead))
        self._wants = next(self._reading)

    def take(self, incoming: bytearray) -> bytes | None:
        """Takes what has arrived off `incoming`; returns the frame once it is whole, for the request to read."""
        at = 0
        try:
            while True:
                if abs(self._wants) > self._left or len(self._kept) > MAX_KEPT_BYTES:
                    raise ValueError(f"{abs(self._wants)} bytes announced, {self._left} sent")
                if self._wants < 0:
                    gone = min(-self._wants, len(incoming) - at)
                    at, self._left, self._wants = at + gone, self._left - gone, self._wants + gone
                if self._wants < 0 or len(incoming) - at < self._wants:
                    return None
                piece = bytes(memoryview(incoming)[at : at + self._wants])
                at, self._left = at + len(piece), self._left - len(piece)
                try:
                    self._wants = self._reading.send(piece)
                except StopIteration:
                    break
            if self._left:
                raise ValueError(f"{self._left} bytes are left behind the last answer")
            return bytes(self._kept)
        finally:
            del incoming[:at]

    def _read(self, *, is_many: bool) -> Generator[int, bytes]:
        """Asks for so many bytes, or below zero for so many to be let go, and keeps what can be used."""
        self._kept += (header := (yield _REPLY_HEADER_BYTES))
        if _ERROR.unpack(header)[0]:
            return
        if not is_many:
            yield from self._payload(b"")
        while is_many:
            head = yield _HEAD.size
            kind, is_last, _ = _HEAD.unpack(head)
            if is_last:
                self._kept += head
                return
            if kind == FAILED:
                self._kept += head + (yield _INT.size)
            else:
                yield from self._payload(head)

    def _payload(self, head: bytes) -> Generator[int, bytes]:
        number = yield _INT.size
        length = _INT.unpack(number)[0]
        if length < -1:
            raise ValueError(f"{length} bytes announced")
        is_full = len(self._kept) > MAX_KEPT_BYTES - MAX_PAYLOAD_BYTES
        if length <= (SHORT_BYTES if is_full else MAX_PAYLOAD_BYTES):
            self._kept += head + number + (yield max(length, 0) + STAT.size)
            return
        yield -length
        yield STAT.size
        self._kept += KIND_AND_LENGTH.pack(CUT_OUT, length)


def can_be_cut(request: object) -> bool:
    """Whether payloads can be told from the rest in what answers this request."""
    return isinstance(request, GetData) or (isinstance(request, MultiRead) and request.op is MultiOp.GET_DATA)


# pyright: basic, reportOptionalMemberAccess=false
# kazoo has no types; `missing_internals` checks what strict typing would.

MAX_FRAME_BYTES = 64 << 20
"""A longer frame is garbage, unless payloads can be cut out of it: an answer with a million names has 20 MB."""
_GREETING = "greeting"
"""The question that every connection begins with."""
_CHUNK_BYTES = 256 << 10
_HEADER_BYTES = 16
_REQUEST = struct.Struct("!iii")
_LENGTH = struct.Struct("!i")
_START = struct.Struct("!4xi")
"""The number of the request, behind the length of a frame."""


class ReadOnlyClient(KazooClient):
    """kazoo's client that refuses to send anything but reads, and refuses at once while disconnected.

    kazoo itself queues while disconnected, and blocks the caller for good from the 279th request on (kazoo #577).
    """

    buffered = False

    def _call(self, request: Any, async_object: Any) -> bool | None:
        if request.type not in READ_OPCODES:
            raise PermissionError(f"ZooKeeper request {request.type} could write; this connection only reads")
        if not self._live.is_set():
            failed = self._state == KeeperState.AUTH_FAILED
            async_object.set_exception(AuthFailedError() if failed else ConnectionLoss())
            return False
        return self._enqueue(request, async_object)

    def _enqueue(self, request: Any, async_object: Any) -> bool | None:
        return super()._call(request, async_object)


class BufferedClient(ReadOnlyClient):
    """The client over BufferedConnection; `on_events` gets every watch event."""

    buffered = True

    def __init__(
        self, *, on_events: OnEvents, meter: TrafficMeter, sasl_options: dict[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(sasl_options=sasl_options, **options)
        retry = self._conn_retry.copy()
        self._connection = BufferedConnection(self, retry, self.logger, sasl_options, on_events, meter)

    def _enqueue(self, request: Any, async_object: Any) -> bool | None:
        self._queue.append((request, async_object))
        try:
            self._connection._write_sock.send(b"\0")
        except BlockingIOError:
            pass  # full of wake-ups not yet heard: one of them will do
        except (OSError, AttributeError):
            async_object.set_exception(ConnectionClosedError("Connection has been closed"))
        return None


class BufferedConnection(ConnectionHandler):
    """kazoo's connection thread with bulk reads and writes; the unexpected ends the connection, not the thread."""

    def __init__(
        self, client: Any, sleeper: Any, logger: Any, sasl_options: Any, on_events: OnEvents, meter: TrafficMeter
    ) -> None:
        super().__init__(client, sleeper, logger=logger, sasl_options=sasl_options)
        self.on_events = on_events
        self._meter = meter
        self.session_timeout_ms = 0
        self._incoming = bytearray()
        self._long: LongAnswer | None = None

    def start(self) -> None:
        super().start()
        self._write_sock.setblocking(False)  # a caller must never wait for the connection

    def _connect(self, host: str, hostip: str, port: int) -> tuple[float, float]:
        self._incoming.clear()
        self._long = None
        self.client._stopped.wait(self._meter.pause_s())
        self._meter.connected()
        try:
            read_timeout, connect_timeout = super()._connect(host, hostip, port)
        except (ConnectionDropped, AuthFailedError, SessionExpiredError, KazooTimeoutError):
            raise
        except SASLException as error:
            raise AuthFailedError(f"{error}; is the package pure-sasl installed?") from error
        except SessionClosedRequireSaslError as error:
            raise AuthFailedError("the server does not take this SASL login; check user name and password") from error
        except Exception as error:
            self._meter.garbled(_GREETING)
            raise ConnectionDropped(f"garbled handshake: {error}") from error
        self._meter.understood(_GREETING)
        self.session_timeout_ms = round(read_timeout * 1.5)
        self._meter.greeted()
        return read_timeout, connect_timeout

    def _read(self, length: int, timeout: float) -> bytes:
        return super()._read(_plausible(length), timeout)

    def _write(self, msg: Any, timeout: float) -> None:
        """Send at once what the socket takes; kazoo asks it first, each time anew."""
        with self._socket_error_handling():
            try:
                sent = self._socket.send(msg)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                sent = 0
        if sent < len(msg):
            super()._write(msg[sent:], timeout)

    def _read_socket(self, read_timeout: float) -> object:
        received, is_any_whole = self._receive(), False
        events: list[ZnodeChanged] = []
        try:
            for header, frame in self._whole_frames():
                is_any_whole = True
                if header.xid == WATCH_XID:
                    events += watch_event(frame, _HEADER_BYTES, header.zxid)
                elif header.xid == PING_XID:
                    self.ping_outstanding.clear()
                elif self._read_response(header, frame, _HEADER_BYTES) == CLOSE_RESPONSE:
                    return CLOSE_RESPONSE
            if events:
                self.on_events(events)
            if not is_any_whole:
                self._meter.unfinished(received)
        except ConnectionDropped:
            raise
        except Exception as error:
            # Also for a failing on_events: a new connection makes the source read all again, so nothing is missed.
            self._meter.garbled(self._question())
            raise ConnectionDropped(f"garbled answer: {error}") from error
        return None

    def _receive(self) -> int:
        """Read what the socket holds: once, or over TLS until it is dry (select can't see what TLS has buffered).

        Returns how many bytes that was.
        """
        received = 0
        with self._socket_error_handling():
            while True:
                try:
                    chunk = self._socket.recv(_CHUNK_BYTES)
                except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    break
                if not chunk and not received:
                    raise ConnectionDropped("socket connection broken")
                self._incoming += chunk
                received += len(chunk)
                if not chunk or not isinstance(self._socket, ssl.SSLSocket):
                    break
        self._meter.received(received)
        return received

    def _whole_frames(self) -> Iterator[tuple[ReplyHeader, bytes]]:
        """Take the complete frames; a partial one stays, so that pings go out while a slow link delivers it."""
        while (frame := self._next_frame()) is not None:
            yield ReplyHeader.deserialize(frame, 0)[0], frame

    def _next_frame(self) -> bytes | None:
        incoming = self._incoming
        if self._long is None:
            if len(incoming) < _LENGTH.size:
                return None
            length = _LENGTH.unpack_from(incoming)[0]
            if length <= MAX_PAYLOAD_BYTES or not self._begins_long(length):
                end = _LENGTH.size + _plausible(length)
                if len(incoming) < end:
                    return None
                with memoryview(incoming) as arrived:
                    frame = bytes(arrived[_LENGTH.size : end])
                del incoming[:end]
                return frame
        frame = self._long and self._long.take(incoming)
        if frame is not None:
            self._long = None
        return frame

    def _begins_long(self, length: int) -> bool:
        """Whether the frame that begins here is taken in piece by piece: it answers what is asked longest."""
        incoming, pending = self._incoming, self.client._pending
        is_answer = len(incoming) >= _START.size and _START.unpack_from(incoming)[0] > 0
        if not (is_answer and pending and can_be_cut(pending[0][0])):
            return False
        del incoming[: _LENGTH.size]
        self._long = LongAnswer(length, pending[0][0])
        return True

    def _read_response(self, header: Any, buffer: bytes, offset: int) -> object:
        pending = self.client._pending
        question, result, xid = pending[0] if pending else (None, None, None)
        self._meter.answered()
        try:
            if pending and header.xid != xid:
                pending.popleft()
                raise ValueError(f"an answer to request {header.xid}, where {xid} was due")
            done = super()._read_response(header, buffer, offset)
        except Exception as error:
            # kazoo has taken it off the list already: nobody else would ever answer the caller.
            if result is not None and not result.ready():
                result.set_exception(ConnectionLoss())
            self._meter.garbled(question)
            raise ConnectionDropped(f"garbled answer: {error}") from error
        failure = result.exception if result is not None else None
        if failure is None or isinstance(failure, KazooException):
            self._meter.understood(question)
        elif self._meter.garbled(question) > 1 and len(self.client.hosts) > 1:
            raise ConnectionDropped(f"garbled answer: {failure}")  # another server may do better
        return done

    def _question(self) -> object:
        """What should be answered next."""
        pending = self.client._pending
        return pending[0][0] if pending else None

    def _send_request(self, read_timeout: float, connect_timeout: float) -> None:
        self._read_sock.recv(4096)  # before the queue is emptied, or the wake-up for a later request is lost
        outgoing, requests = bytearray(), 0
        while self.client._queue:
            request, result = self.client._queue.popleft()
            try:
                body = request.serialize()
            except ValueError as error:  # a path with lone surrogates
                result.set_exception(error)
                continue
            self._xid = (self._xid % 2147483647) + 1
            outgoing += _REQUEST.pack(len(body) + 8, self._xid, request.type) + body
            self.client._pending.append((request, result, self._xid))
            requests += 1
        if outgoing:
            self._meter.sent(requests, len(outgoing))
            self._write(outgoing, connect_timeout)


def _plausible(length: int) -> int:
    if not 0 <= length <= MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {length} bytes")
    return length


_PARAMETERS = {
    (KazooClient, "_call"): ["self", "request", "async_object"],
    (ConnectionHandler, "__init__"): ["self", "client", "retry_sleeper", "logger", "sasl_options"],
    (ConnectionHandler, "_connect"): ["self", "host", "hostip", "port"],
    (ConnectionHandler, "_read"): ["self", "length", "timeout"],
    (ConnectionHandler, "_write"): ["self", "msg", "timeout"],
    (ConnectionHandler, "_read_socket"): ["self", "read_timeout"],
    (ConnectionHandler, "_read_response"): ["self", "header", "buffer", "offset"],
    (ConnectionHandler, "_send_request"): ["self", "read_timeout", "connect_timeout"],
    (ConnectionHandler, "_socket_error_handling"): ["self"],
}
_CLIENT_FIELDS = ("_connection", "_conn_retry", "_live", "_pending", "_queue", "_state", "last_zxid")
_CONNECTION_FIELDS = ("_connection_routine", "_read_sock", "_write_sock", "_socket", "_xid", "ping_outstanding")


def missing_internals() -> list[str]:
    """What BufferedConnection overrides or reads in kazoo and this release of kazoo lacks; empty with kazoo 2.11."""
    missing = [
        f"{owner.__name__}.{name}({', '.join(parameters)})"
        for (owner, name), parameters in _PARAMETERS.items()
        if not hasattr(owner, name) or list(inspect.signature(getattr(owner, name)).parameters) != parameters
    ]
    client = KazooClient()
    missing += [f"KazooClient.{name}" for name in _CLIENT_FIELDS if not hasattr(client, name)]
    connection = getattr(client, "_connection", None)
    missing += [f"ConnectionHandler.{name}" for name in _CONNECTION_FIELDS if not hasattr(connection, name)]
    return missing
