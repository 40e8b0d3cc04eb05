"""A ZooKeeper session that writes, for an event loop; and a broker's sessions, one after the other.

Questions go out pipelined and are answered in order; watches are reported. While the connection is gone questions
wait; what was on its way is asked again, for its outcome is unknown (`KafkaZkClient.retryRequestsUntilConnected`,
3.9). One-shot watches that have not fired are set again (`org.apache.zookeeper.ZKWatchManager`, 3.9). When the
session has ended everything is answered with SESSION_EXPIRED at once, for good: another session is another object,
which is not used before the controller says so. It retries nothing else and decides nothing.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence

from model.hosts.writing_client import GONE, PendingQuestion, WritingClient
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.requests import SetWatches
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.zookeeper import (
    Answer,
    Code,
    Create,
    EventKind,
    Exists,
    GetChildren,
    GetData,
    ZnodeChanged,
    ZooKeeperRequest,
)

WATCHES_AT_ONCE = 500
"""A SetWatches must stay below the server's jute.maxbuffer of 1 MB."""


class ArmedWatches:
    """Changed on the connection's thread only. Paths are without the chroot."""

    def __init__(self) -> None:
        self._data: set[str] = set()
        self._existence: set[str] = set()
        self._children: set[str] = set()

    def note(self, request: ZooKeeperRequest, answer: Answer) -> None:
        """A request was answered: it may have left a watch."""
        if not isinstance(request, GetData | Exists | GetChildren) or not request.watch:
            return
        if isinstance(request, Exists) and answer.code is Code.NO_NODE:
            self._existence.add(request.path)
        elif answer.ok:
            (self._children if isinstance(request, GetChildren) else self._data).add(request.path)

    def fired(self, path: str, kind: EventKind) -> None:
        """A watch has fired and is gone."""
        if kind is not EventKind.CHILDREN_CHANGED:
            self._data.discard(path)
            self._existence.discard(path)
        if kind in (EventKind.CHILDREN_CHANGED, EventKind.DELETED):
            self._children.discard(path)

    def again(self, chroot: str, zxid: int) -> Iterator[SetWatches]:
        """Requests that set them all; those whose znode changed after `zxid` fire at once."""
        every = [
            *((path, 0) for path in sorted(self._data)),
            *((path, 1) for path in sorted(self._existence)),
            *((path, 2) for path in sorted(self._children)),
        ]
        for start in range(0, len(every), WATCHES_AT_ONCE):
            some = every[start : start + WATCHES_AT_ONCE]
            data, existence, children = (tuple(path for path, kind in some if kind == which) for which in range(3))
            yield SetWatches(chroot, zxid, data, existence, children)


OnWatch = Callable[[ZnodeChanged], None]
CLOSE_TIMEOUT_S = 5.0


class WritingSession:
    """Made and used on an event loop's thread; `on_watch` and `on_expired` are called there, too."""

    def __init__(self, settings: ZooKeeperSettings, on_watch: OnWatch, on_expired: Callable[[], None]) -> None:
        """Connects to nothing yet. Raises ZooKeeperUnsupported beside an unknown kazoo."""
        self._settings = settings
        self._on_watch = on_watch
        self._on_expired = on_expired
        self._loop = asyncio.get_running_loop()
        self._settled = asyncio.Event()
        self._lock = threading.Lock()
        self._ended = False
        self._closing = False
        self._watches = ArmedWatches()
        self._waiting: list[PendingQuestion] = []
        self._client = WritingClient(
            settings,
            on_fired=self._fired,
            on_events=self._events,
            on_connected=self._reconnected,
            on_end=self._end,
        )

    @property
    def id(self) -> int:
        """The owner of this session's ephemeral znodes, once open."""
        return self._client.session_id

    @property
    def timeout_ms(self) -> int:
        """How long the server waits for a sign of life, as negotiated."""
        return self._client.session_timeout_ms

    @property
    def reason(self) -> str:
        """What went wrong last, as one line."""
        return self._client.reason.text

    async def open(self, timeout_s: float | None = None) -> None:
        """Connect, and make the chroot if it is missing.

        Raises ZooKeeperUnavailable after `timeout_s` (None: never), or when the server refuses this session.
        """
        self._client.start_async()
        try:
            async with asyncio.timeout(timeout_s):
                await self._settled.wait()
        except TimeoutError:
            reason = self.reason or "no connection"
            raise ZooKeeperUnavailable(f"no ZooKeeper session within {timeout_s:g} s: {reason}") from None
        if self._ended:
            raise ZooKeeperUnavailable(f"no ZooKeeper session: {self.reason or 'it was refused'}")
        parts = self._settings.chroot.split("/")
        for depth in range(2, len(parts) + 1):
            await self.ask((Create("/".join(parts[:depth])),), chroot="")

    async def ask(self, requests: Sequence[ZooKeeperRequest], chroot: str | None = None) -> tuple[Answer, ...]:
        """The answers, one for each request, in order; SESSION_EXPIRED for those that the session did not live for."""
        answered: asyncio.Future[tuple[Answer, ...]] = self._loop.create_future()

        def done(answers: tuple[Answer, ...]) -> None:
            self._tell(_resolve, answered, answers)

        root = self._settings.chroot if chroot is None else chroot
        question = PendingQuestion(requests, root, self._watches.note, done, self._lost)
        with self._lock:
            if self._ended or not requests:
                return (GONE,) * len(requests)
            self._client.send(question.slots)
        return await answered

    async def close(self) -> None:
        """End the session: its ephemeral znodes go at once, if the server still answers."""
        self._closing = True
        done = asyncio.Event()

        def put_away() -> None:
            with contextlib.suppress(Exception):  # a client that is given up may fail in any way it likes
                self._client.put_away()
            self._tell(done.set)

        threading.Thread(target=put_away, name="zookeeper-farewell", daemon=True).start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await done.wait()

    # On kazoo's thread

    def _fired(self, event: ZnodeChanged) -> None:
        self._watches.fired(event.path.removeprefix(self._settings.chroot), event.kind)

    def _events(self, events: Sequence[ZnodeChanged]) -> None:
        chroot = self._settings.chroot
        changed = [ZnodeChanged(event.kind, event.path.removeprefix(chroot), event.zxid) for event in events]
        self._tell(self._deliver, changed)

    def _reconnected(self) -> None:
        with self._lock:
            self._client.set_watches(self._watches.again(self._settings.chroot, self._client.last_zxid))
            for question in self._waiting:
                self._client.send(question.again())
            self._waiting.clear()
        self._tell(self._settled.set)

    def _lost(self, question: PendingQuestion) -> None:
        with self._lock:
            if not self._ended:
                self._waiting.append(question)
                return
        question.give_up()

    def _end(self) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended = True
            waiting, self._waiting = self._waiting, []
        for question in waiting:
            question.give_up()
        self._tell(self._expired)

    def _tell(self, call: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before the session
            self._loop.call_soon_threadsafe(call, *arguments)

    # On the loop's thread

    def _deliver(self, events: Sequence[ZnodeChanged]) -> None:
        if not self._closing:
            for event in events:
                self._on_watch(event)

    def _expired(self) -> None:
        was_open = self._settled.is_set()
        self._settled.set()
        if was_open and not self._closing:
            self._on_expired()


def _resolve(answered: "asyncio.Future[tuple[Answer, ...]]", answers: tuple[Answer, ...]) -> None:
    if not answered.done():
        answered.set_result(answers)


RECONNECT_PAUSE_S = 1.0
_LOGGER = logging.getLogger(__name__)


class SuccessiveSessions:
    """For one event loop."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        self.on_watch: OnWatch = lambda changed: None
        self.on_expired: Callable[[], None] = lambda: None
        """Told when the session in use has ended."""
        self._settings = settings
        self._used: WritingSession | None = None
        self._next: WritingSession | None = None

    async def open(self, timeout_s: float) -> None:
        """The first one, to be used at once. Raises ZooKeeperUnavailable."""
        self._used = self._new()
        await self._used.open(timeout_s)

    @property
    def newest_id(self) -> int:
        """The id of the session that was opened last, in use or not yet; 0 if there is none."""
        newest = self._next or self._used
        return 0 if newest is None else newest.id

    async def ask(self, requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
        """The answers, one for each request, in order."""
        return await self._used.ask(requests) if self._used is not None else (GONE,) * len(requests)

    async def renew(self) -> int:
        """Give the present session up and open the next, however long that takes. Returns the id of the old one."""
        gone, self._used = self._used, None
        previous = 0 if gone is None else gone.id
        if gone is not None:
            await gone.close()
        while True:
            self._next = self._new()
            try:
                await self._next.open()
            except ZooKeeperUnavailable as error:
                _LOGGER.warning("%s; trying again", error)
                await self._next.close()
                await asyncio.sleep(RECONNECT_PAUSE_S)
            else:
                return previous

    def use_next(self) -> None:
        """The controller is ready for the session that `renew` opened."""
        self._used, self._next = self._next, None

    async def close(self) -> None:
        """End what is open: ephemeral znodes go at once."""
        for session in (self._used, self._next):
            if session is not None:
                await session.close()

    def _new(self) -> WritingSession:
        return WritingSession(self._settings, self._watched, self._expired)

    def _watched(self, changed: ZnodeChanged) -> None:
        self.on_watch(changed)

    def _expired(self) -> None:
        self.on_expired()
