"""What passes between ZooKeeper's threads and the follower's: changed paths, the connection's state, parts read ahead.

The inbox never makes writers wait. Reading ahead, the server need not wait while we work on the part before.
"""

import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

from model.hosts.zookeeper.protocol import Connected, Connecting, ConnectionState
from model.zookeeper import EventKind, ZnodeChanged


class Inbox:
    """Filled by the connection's threads, emptied by the follower's. Paths are kept once, however often they change."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paths: dict[str, None] = {}
        self._relist: dict[str, None] = {}
        self._state: ConnectionState = Connecting(since_ms=0)
        self._closed = False
        self.wiped_epoch = 0
        """The last connection that found the server's data wiped or replaced; 0 for none."""

    def on_events(self, events: Sequence[ZnodeChanged]) -> None:
        with self._changed:
            for event in events:
                aside = self._relist if event.kind is EventKind.CHILDREN_CHANGED else self._paths
                aside[event.path] = None
            self._changed.notify_all()

    def on_state(self, state: ConnectionState) -> None:
        with self._changed:
            if isinstance(state, Connected) and state.wiped is not None:
                self.wiped_epoch = state.epoch
            self._state = state
            self._changed.notify_all()

    def close(self) -> None:
        """Wakes the follower for the last time."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether the follower is to end."""
        return self._closed

    @property
    def state(self) -> ConnectionState:
        return self._state

    def wait_for(self, reached: Callable[[ConnectionState], bool], timeout_s: float) -> bool:
        """Waits until the state satisfies `reached`, or the inbox is closed; whether it did."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or reached(self._state), timeout_s)
            return not self._closed and reached(self._state)

    def wait_for_change(self, seen: ConnectionState, timeout_s: float) -> bool:
        """Waits until a path changed or the state is no longer `seen`; whether either came within `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._closed or bool(self._paths or self._relist) or self._state is not seen, timeout_s
            )

    def drain(self) -> tuple[list[str], list[str]]:
        """Takes out (paths whose data changed, paths whose children changed) since the last time."""
        with self._changed:
            paths, relist = list(self._paths), list(self._relist)
            self._paths.clear()
            self._relist.clear()
            return paths, relist


P = TypeVar("P")
T = TypeVar("T")


def read_ahead(read: Callable[[P], T], parts: Iterable[P]) -> Generator[T]:
    """What `read` returns for each part, in order, or raises; never two parts at a time.

    Whoever stops early has to close it: that waits until nothing is read any more.
    """
    readings = (_begun(read, part) for part in parts)
    reading = next(readings, None)
    try:
        while reading is not None:
            done = reading.result()
            reading = next(readings, None)
            yield done
    finally:
        if reading is not None:
            wait([reading])


def _begun(read: Callable[[P], T], part: P) -> Future[T]:
    future: Future[T] = Future()

    def settle() -> None:
        try:
            future.set_result(read(part))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=settle, name="zookeeper-ahead", daemon=True).start()
    return future
