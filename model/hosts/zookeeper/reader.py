"""Reads and watches znodes: the one way into ZooKeeper for the rest of the program.

Fast where the server can (MultiRead), bounded everywhere: no call waits for a connection or for ever. It can't write,
keeps nothing it read, and does not repeat what failed: a new `Connected` is the sign to read everything again.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import msgspec

from model.hosts.zookeeper.connection import MAX_KEPT_BYTES, SHORT_BYTES
from model.hosts.zookeeper.link import KazooLink, RequestRefused, ask, ask_many
from model.hosts.zookeeper.protocol import (
    Connected,
    ConnectionState,
    OnEvents,
    OnState,
    ZooKeeperUnavailable,
    ZooKeeperUnsupported,
)
from model.hosts.zookeeper.requests import (
    AddWatch,
    Exists,
    GetChildren2,
    GetData,
    MultiOp,
    MultiRead,
    SetWatches,
    Sync,
    ZooKeeperRequest,
    unread,
)
from model.hosts.zookeeper.session import Session
from model.hosts.zookeeper.settings import Turnstile, Usage, ZooKeeperSettings
from model.zookeeper import (
    Children,
    Missing,
    Stat,
    Unread,
    WatchMode,
    Znode,
    ZnodeChanged,
    ZnodeColumns,
    columns_of,
)

# Batches of 200, two in flight: of 400 a large image would come a little sooner, and other clients wait longer.
MULTI_READ_BATCH = 200
MULTI_READ_WINDOW = 2
SINGLE_READ_WINDOW = 500
_PLAIN_KAZOO_WINDOW = 100
_SET_WATCHES_BATCH = 1000
_BATCH_LETTERS = 200_000
"""Of the paths of one request, without the chroot: a server hangs up on a request above its jute.maxbuffer, 1 MB where
nobody set it, and a letter has up to four bytes."""


class ZooKeeperReader:
    """A read-only session with an ensemble (see `ReadsZnodes`); ends with `close`."""

    def __init__(
        self,
        settings: ZooKeeperSettings,
        *,
        on_events: OnEvents,
        on_state: OnState,
        pace: Callable[[int], None] | None = None,
    ) -> None:
        self._chroot = settings.chroot
        self._timeout_s = settings.request_timeout_ms / 1000
        self._on_events = on_events
        self._limits = settings.limits
        self._turnstile = Turnstile(settings.limits.reads_per_s)
        self._pace = pace or _at_once
        self._session = Session(settings, self._deliver if settings.chroot else on_events, on_state)

    @classmethod
    def open(
        cls,
        settings: ZooKeeperSettings,
        *,
        on_events: OnEvents,
        on_state: OnState,
        pace: Callable[[int], None] | None = None,
    ) -> "ZooKeeperReader":
        """Start connecting and return at once; `pace` is called with a number of reads before they are sent."""
        reader = cls(settings, on_events=on_events, on_state=on_state, pace=pace)
        reader._session.start()
        return reader

    @property
    def state(self) -> ConnectionState:
        return self._session.state

    @property
    def last_zxid(self) -> int:
        return self._session.last_zxid

    @property
    def usage(self) -> Usage:
        """What this session has cost its servers so far."""
        return self._session.meter.usage

    def wait_connected(self, timeout_s: float) -> Connected:
        """Wait for a connection that answers; raises ZooKeeperUnavailable with the last reason."""
        return self._session.wait_connected(timeout_s)

    def close(self, timeout_s: float = 2.0) -> None:
        self._session.close(timeout_s)

    def read(self, path: str, *, watch: bool = False) -> Znode | Unread:
        return cast("Znode | Unread", self._one(path, GetData(self._chroot, path, watch)))

    def children(self, path: str, *, watch: bool = False) -> Children | Unread:
        return cast("Children | Unread", self._one(path, GetChildren2(self._chroot, path, watch)))

    def exists(self, path: str, *, watch: bool = False) -> Stat | Unread:
        stat = cast("Stat | Unread | None", self._one(path, Exists(self._chroot, path, watch)))
        return Missing(path) if stat is None else stat

    def read_many(self, paths: Sequence[str], *, watch: bool = False) -> Sequence[Znode | Unread]:
        answers = cast("Iterator[Sequence[Znode | Unread]]", self._many(paths, MultiOp.GET_DATA, GetData, watch))
        replies = list(_fitting(answers))
        if replies and all(isinstance(reply, ZnodeColumns) for reply in replies):
            return ZnodeColumns.joined(cast("list[ZnodeColumns]", replies))
        return [answer for reply in replies for answer in reply]

    def children_many(self, paths: Sequence[str], *, watch: bool = False) -> list[Children | Unread]:
        replies = self._many(paths, MultiOp.GET_CHILDREN, GetChildren2, watch)
        return [answer for reply in replies for answer in cast("Sequence[Children | Unread]", reply)]

    def exist_many(self, paths: Sequence[str], *, watch: bool = False) -> list[Stat | Unread]:
        replies = self._many(paths, None, Exists, watch)
        stats = [stat for answers in replies for stat in cast("Sequence[Stat | Unread | None]", answers)]
        return [Missing(path) if stat is None else stat for path, stat in zip(paths, stats, strict=True)]

    def watch_recursive(self, path: str) -> None:
        link, state = self._session.connected()
        if not state.server.has_add_watch:
            raise ZooKeeperUnsupported(f"{state.server.address}: no recursive watches (ZooKeeper before 3.6)")
        self._demand(link, AddWatch(self._chroot, path, WatchMode.PERSISTENT_RECURSIVE))

    def rearm(
        self,
        zxid: int,
        *,
        data: Sequence[str] = (),
        existence: Sequence[str] = (),
        children: Sequence[str] = (),
    ) -> None:
        link, _ = self._session.connected()
        for batch in _batches(data, _SET_WATCHES_BATCH):
            self._demand(link, SetWatches(self._chroot, zxid, batch, (), ()))
        for batch in _batches(existence, _SET_WATCHES_BATCH):
            self._demand(link, SetWatches(self._chroot, zxid, (), batch, ()))
        for batch in _batches(children, _SET_WATCHES_BATCH):
            self._demand(link, SetWatches(self._chroot, zxid, (), (), batch))

    def sync(self) -> None:
        link, _ = self._session.connected()
        self._demand(link, Sync(self._chroot, "/"))

    def _deliver(self, events: Sequence[ZnodeChanged]) -> None:
        """Hand events on as the caller knows the paths."""
        skip = len(self._chroot)
        self._on_events([msgspec.structs.replace(event, path=event.path[skip:] or "/") for event in events])

    def _demand(self, link: KazooLink, request: ZooKeeperRequest) -> None:
        answer = ask(link, request, self._timeout_s)
        if isinstance(answer, RequestRefused):
            name = type(request).__name__
            raise ZooKeeperUnavailable(f"{link.address}: the server refused {name} (error {answer.code})")

    def _one(self, path: str, request: ZooKeeperRequest) -> object:
        link, _ = self._session.connected()
        self._take_turn(1, 1)
        try:
            answer = ask(link, request, self._timeout_s)
        except ZooKeeperUnavailable as error:
            error.unread = (path,)
            raise
        return unread(path, answer.code) if isinstance(answer, RequestRefused) else answer

    def _many(
        self,
        paths: Sequence[str],
        op: MultiOp | None,
        single: Callable[[str, str, bool], ZooKeeperRequest],
        watch: bool,
    ) -> Iterator[Sequence[object]]:
        """Answers in the order of `paths`, as many at a time as were asked for together; without `op` one by one."""
        link, state = self._session.connected()
        if op is not None and state.server.has_multi_read and not watch:
            batches = list(_batches(paths, MULTI_READ_BATCH))
            requests: Iterator[ZooKeeperRequest] = (MultiRead(self._chroot, op, batch) for batch in batches)
            window = MULTI_READ_WINDOW
        else:
            batches = [(path,) for path in paths]
            requests = (single(self._chroot, path, watch) for path in paths)
            window = _PLAIN_KAZOO_WINDOW if link.lacks else SINGLE_READ_WINDOW
        most = min(window, self._limits.in_flight)
        paced = self._paced(requests, batches, most)
        replies = ask_many(link, paced, lambda: self.usage.courtesy.in_flight(most), self._timeout_s)
        for batch in batches:
            try:
                reply = next(replies)
            except ZooKeeperUnavailable as error:
                error.unread = batch
                raise
            if isinstance(reply, RequestRefused):
                yield [unread(path, reply.code) for path in batch]
            else:
                yield reply if isinstance(reply, Sequence) else [reply]

    def _paced(
        self, requests: Iterator[ZooKeeperRequest], batches: Sequence[tuple[str, ...]], most: int
    ) -> Iterator[ZooKeeperRequest]:
        for request, batch in zip(requests, batches, strict=True):
            self._take_turn(len(batch), most)
            yield request

    def _take_turn(self, reads: int, most: int) -> None:
        """Wait until so many reads may be sent, where `most` requests may be in flight on a good day."""
        self._pace(reads)
        pause_s = max(self._turnstile.wait_s(reads, time.monotonic()), self.usage.courtesy.pause_s(most))
        if pause_s > 0:
            time.sleep(pause_s)


def _fitting(replies: Iterator[Sequence[Znode | Unread]]) -> Iterator[Sequence[Znode | Unread]]:
    """Without the long payloads behind more of them than can be Kafka's."""
    kept_bytes = 0
    for reply in replies:
        fitting = columns_of(reply).without_longer(SHORT_BYTES) if kept_bytes > MAX_KEPT_BYTES else reply
        data = fitting.data if isinstance(fitting, ZnodeColumns) else [getattr(each, "data", None) for each in fitting]
        kept_bytes += sum(len(datum) for datum in data if isinstance(datum, bytes))
        yield fitting


def _batches(paths: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """So many paths at a time, or fewer where they are long."""
    for start in range(0, len(paths), size):
        batch = tuple(paths[start : start + size])
        if sum(map(len, batch)) <= _BATCH_LETTERS or size == 1:
            yield batch
        else:
            yield from _batches(batch, max(size // 8, 1))


def _at_once(_reads: int) -> None:
    """Without a pace there is nothing to wait for."""
