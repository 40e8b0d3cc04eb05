"""kazoo's client over our own connection, for a controller's requests of any kind; and what became of each request.

Requests are sent in bulk, in the wire format (jute), and answers go to their slots, as values. It does not watch over
the session; `writing_session` does. Everything about a question happens on the connection's thread, except its making.
Paths are given without the chroot, which is put in front on the way out only. Znodes are open to all (world:anyone).

Source: `org.apache.zookeeper.ZooDefs.OpCode`, `org.apache.zookeeper.{MultiOperationRecord,MultiResponse}` (3.4 to 3.9).
"""

import contextlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, ConnectionLoss, KazooException  # pyright: ignore[reportMissingTypeStubs]
from kazoo.protocol.connection import WATCH_XID
from kazoo.protocol.states import KeeperState

from model.hosts.zookeeper.connection import BufferedConnection, missing_internals
from model.hosts.zookeeper.link import LastReason, client_options, private_logger
from model.hosts.zookeeper.protocol import OnEvents, ZooKeeperUnsupported
from model.hosts.zookeeper.requests import (
    SetWatches,
    full_path,
    take_bytes,
    take_names,
    take_stat,
    text_bytes,
    watch_event,
)
from model.hosts.zookeeper.settings import TrafficMeter, ZooKeeperSettings
from model.zookeeper import (
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
    ZnodeChanged,
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


GONE = Answer(Code.SESSION_EXPIRED)
Note = Callable[[ZooKeeperRequest, Answer], None]


class PendingQuestion:
    """`done` gets all answers once there are all; `lost` is called once the rest needs to be asked again."""

    def __init__(
        self,
        requests: Sequence[ZooKeeperRequest],
        chroot: str,
        note: Note,
        done: Callable[[tuple[Answer, ...]], None],
        lost: Callable[["PendingQuestion"], None],
    ) -> None:
        self._answers: list[Answer | None] = [None] * len(requests)
        self._note = note
        self._done = done
        self._lost = lost
        self._flying = len(requests)
        self.slots = [RequestSlot(self, place, request, chroot) for place, request in enumerate(requests)]

    def again(self) -> "list[RequestSlot]":
        """The requests that are to be sent once more, in order: their connection was lost, their outcome is unknown."""
        slots = [slot for slot, answer in zip(self.slots, self._answers, strict=True) if answer is None]
        self._flying = len(slots)
        return slots

    def give_up(self) -> None:
        """The session is gone: so are the answers that are still missing."""
        self._done(tuple(GONE if answer is None else answer for answer in self._answers))

    def take(self, place: int, request: ZooKeeperRequest, answer: Answer | None) -> None:
        """One request was answered, or lost (None)."""
        self._flying -= 1
        if answer is not None:
            self._answers[place] = answer
            self._note(request, answer)
        if self._flying:
            return
        answers = tuple(answer for answer in self._answers if answer is not None)
        if len(answers) == len(self._answers):
            self._done(answers)
        else:
            self._lost(self)


class RequestSlot:
    """One request as kazoo's connection sees it: something to serialize, and somebody to tell of a failure."""

    __slots__ = ("_chroot", "_place", "_question", "request", "type")

    def __init__(self, question: PendingQuestion, place: int, request: ZooKeeperRequest, chroot: str) -> None:
        self._question = question
        self._place = place
        self._chroot = chroot
        self.request = request
        self.type = opcode(request)

    def serialize(self) -> bytes:
        """For kazoo."""
        return encode(self.request, self._chroot)

    def hear(self, error: int, buffer: bytes, offset: int) -> None:
        """The server's answer; raises for garbage."""
        answer = Answer(code_of(error)) if error else decode(self.request, buffer, offset)
        self._question.take(self._place, self.request, answer)

    def set_exception(self, reason: KazooException | ValueError) -> None:
        """For kazoo: there will be no answer on this connection."""
        if isinstance(reason, ConnectionLoss):
            self._question.take(self._place, self.request, None)
        elif isinstance(reason, ValueError):  # a path that cannot be encoded
            self._question.take(self._place, self.request, Answer(Code.OTHER))
        else:
            self._question.take(self._place, self.request, GONE)


# pyright: basic, reportOptionalMemberAccess=false
# kazoo has no types; everything on the outside is typed.


_HEADER_BYTES = 16
_ENDS = (KeeperState.EXPIRED_SESSION, KeeperState.CLOSED, KeeperState.AUTH_FAILED)


class WritingClient(KazooClient):
    """For one session: it does not ask for another when that has ended. Callbacks come on kazoo's thread."""

    def __init__(
        self,
        settings: ZooKeeperSettings,
        *,
        on_fired: Callable[[ZnodeChanged], None],
        on_events: OnEvents,
        on_connected: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        """Raises ZooKeeperUnsupported beside a kazoo whose inside we do not know.

        `on_fired` hears of each watch in order with the answers around it, `on_events` of all in one network read.
        """
        lacks = missing_internals()
        if lacks:
            raise ZooKeeperUnsupported(f"this kazoo cannot be used, it lacks {', '.join(lacks)}; install kazoo 2.11")
        self.reason = LastReason()
        options = client_options(settings)
        sasl_options = options.pop("sasl_options", None)
        super().__init__(sasl_options=sasl_options, logger=private_logger(self.reason), **options)
        self._on_connected = on_connected
        self._on_end = on_end
        self.on_fired = on_fired
        retry = self._conn_retry.copy()
        self._connection = _Connection(self, retry, self.logger, sasl_options, on_events, TrafficMeter())

    def send(self, slots: Iterable[RequestSlot]) -> None:
        """Put requests in the queue, behind those that wait."""
        self._queue.extend([(slot, slot) for slot in slots])  # a list: all at once, whatever the other thread does
        self._wake()

    def set_watches(self, requests: Iterable[SetWatches]) -> None:
        """Put these before all that waits; if they get lost, the next connection sets them anyway."""
        self._queue.extendleft((request, None) for request in reversed(tuple(requests)))
        self._wake()

    @property
    def session_id(self) -> int:
        """The owner of this session's ephemeral znodes."""
        return self._session_id or 0

    @property
    def session_timeout_ms(self) -> int:
        """As negotiated."""
        return self._connection.session_timeout_ms

    def put_away(self) -> None:
        """End the session, or what is left of it; waits for the server's farewell."""
        if self._stopped.is_set():
            self._safe_close()
        else:
            self.stop()
        self.close()

    def _wake(self) -> None:
        # It may be full of wake-ups not yet heard, or gone, of which everybody is told.
        with contextlib.suppress(AttributeError, OSError):
            self._connection._write_sock.send(b"\0")

    def _session_callback(self, state: Any) -> None:
        """Not kazoo's listeners: they do not hear of a failure before the first connection."""
        if state in _ENDS:
            self._stopped.set()  # or kazoo would open another session by itself
            self._on_end()
        super()._session_callback(state)
        if state in (KeeperState.CONNECTED, KeeperState.CONNECTED_RO):
            self._on_connected()


class _Connection(BufferedConnection):
    def _whole_frames(self) -> Iterator[tuple[Any, bytes]]:
        for header, frame in super()._whole_frames():
            if header.xid == WATCH_XID:
                for event in watch_event(frame, _HEADER_BYTES, header.zxid):
                    self.client.on_fired(event)
            yield header, frame

    def _read_response(self, header: Any, buffer: bytes, offset: int) -> object:
        pending = self.client._pending
        if not pending or not isinstance(pending[0][1], RequestSlot):
            return super()._read_response(header, buffer, offset)
        _, slot, xid = pending[0]
        self._meter.answered()
        if header.xid != xid:
            raise ConnectionDropped(f"garbled answer (number {header.xid} where {xid} was due)")
        if header.zxid > 0:
            self.client.last_zxid = header.zxid
        # What fails here stays pending, and so is lost with the connection and asked again.
        slot.hear(header.err, buffer, offset)
        pending.popleft()
        return None
