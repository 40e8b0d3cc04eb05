"""One ZooKeeper session for an event loop: questions go out pipelined and are answered in order, watches are told.

While the connection is gone questions wait; what was on its way is asked again, for its outcome is unknown
(`KafkaZkClient.retryRequestsUntilConnected`, 3.9). When the session has ended everything is answered with
SESSION_EXPIRED at once, for good: another session is another object. It retries nothing else and decides nothing.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence

from model.controller.zookeeper import Answer, Create, ZooKeeperRequest
from model.hosts.writing_zookeeper.armed_watches import ArmedWatches
from model.hosts.writing_zookeeper.client import WritingClient
from model.hosts.writing_zookeeper.question import GONE, Question
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.settings import Settings
from model.hosts.zookeeper.values import ZnodeChanged

OnWatch = Callable[[ZnodeChanged], None]
CLOSE_TIMEOUT_S = 5.0


class WritingSession:
    """Made and used on an event loop's thread; `on_watch` and `on_expired` are called there, too."""

    def __init__(self, settings: Settings, on_watch: OnWatch, on_expired: Callable[[], None]) -> None:
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
        self._waiting: list[Question] = []
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
        question = Question(requests, root, self._watches.note, done, self._lost)
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

    def _lost(self, question: Question) -> None:
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
