"""kazoo's client over our own connection, for requests of any kind; and questions, with what became of each request.

Requests are sent in bulk, answers go to their slots. It does not watch over the session; `session` does. Everything
about a question happens on the connection's thread, except its making.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, ConnectionLoss, KazooException  # pyright: ignore[reportMissingTypeStubs]
from kazoo.protocol.connection import WATCH_XID
from kazoo.protocol.states import KeeperState

from model.hosts.writing_zookeeper.requests import code_of, decode, encode, opcode
from model.hosts.zookeeper.connection import BufferedConnection, missing_internals
from model.hosts.zookeeper.link import LastReason, client_options, private_logger
from model.hosts.zookeeper.protocol import OnEvents, ZooKeeperUnsupported
from model.hosts.zookeeper.requests import SetWatches, watch_event
from model.hosts.zookeeper.settings import Settings
from model.hosts.zookeeper.throttle import Meter
from model.zookeeper.operations import Answer, Code, ZooKeeperRequest
from model.zookeeper.znodes import ZnodeChanged

GONE = Answer(Code.SESSION_EXPIRED)
Note = Callable[[ZooKeeperRequest, Answer], None]


class Question:
    """`done` gets all answers once there are all; `lost` is called once the rest needs to be asked again."""

    def __init__(
        self,
        requests: Sequence[ZooKeeperRequest],
        chroot: str,
        note: Note,
        done: Callable[[tuple[Answer, ...]], None],
        lost: Callable[["Question"], None],
    ) -> None:
        self._answers: list[Answer | None] = [None] * len(requests)
        self._note = note
        self._done = done
        self._lost = lost
        self._flying = len(requests)
        self.slots = [Slot(self, place, request, chroot) for place, request in enumerate(requests)]

    def again(self) -> "list[Slot]":
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


class Slot:
    """One request as kazoo's connection sees it: something to serialize, and somebody to tell of a failure."""

    __slots__ = ("_chroot", "_place", "_question", "request", "type")

    def __init__(self, question: Question, place: int, request: ZooKeeperRequest, chroot: str) -> None:
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
        settings: Settings,
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
        self._connection = _Connection(self, retry, self.logger, sasl_options, on_events, Meter())

    def send(self, slots: Iterable[Slot]) -> None:
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
        if not pending or not isinstance(pending[0][1], Slot):
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
