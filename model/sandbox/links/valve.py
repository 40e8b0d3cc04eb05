"""The state of one link, and one direction of one connection through it. Knows no sockets but asyncio's transports.

A cut link loses nothing: what was on its way arrives after `heal`, as TCP would send it again.
"""

import asyncio
import time
from collections import deque
from typing import Protocol

MOST_WAITING_BYTES = 1 << 20


class Stops(Protocol):
    """A connection through a valve."""

    def valve_changed(self) -> None:
        """The link was cut, slowed or healed."""
        ...


class Valve:
    """Open until it is cut or slowed."""

    def __init__(self) -> None:
        self.is_cut = False
        self.delay_s = 0.0
        self.connections: set[Stops] = set()

    def cut(self) -> None:
        """Let nothing through any more."""
        self._set(is_cut=True, delay_s=self.delay_s)

    def slow(self, delay_s: float) -> None:
        """Let everything through, so much later; 0 for at once."""
        self._set(is_cut=False, delay_s=delay_s)

    def heal(self) -> None:
        """As it was at first."""
        self._set(is_cut=False, delay_s=0.0)

    def _set(self, *, is_cut: bool, delay_s: float) -> None:
        self.is_cut, self.delay_s = is_cut, delay_s
        for connection in list(self.connections):
            connection.valve_changed()


class Lane:
    """Bytes from one end to the other, in order: at once, after the valve's delay, or when it opens."""

    def __init__(self) -> None:
        self.source: asyncio.Transport | None = None
        self.target: asyncio.Transport | None = None
        self.valve: Valve | None = None
        """Not known before the first request is read."""
        self._waiting: deque[tuple[float, bytes | None]] = deque()
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._target_is_full = False

    def put(self, data: bytes | None) -> None:
        """Pass on; None is the end."""
        delay_s = self.valve.delay_s if self.valve else 0.0
        self._waiting.append((time.monotonic() + delay_s, data))
        self._waiting_bytes += len(data or b"")
        self.flow()

    def flow(self) -> None:
        """Pass on what is due, and see to it that the source does not send more than is bearable."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        is_open = self.target is not None and self.valve is not None and not self.valve.is_cut
        while is_open and self._waiting and not self._target_is_full:
            due_s, data = self._waiting[0]
            if (wait_s := due_s - time.monotonic()) > 0 and self.valve and self.valve.delay_s:
                self._timer = asyncio.get_running_loop().call_later(wait_s, self.flow)
                break
            self._waiting.popleft()
            self._pass_on(data)
        self._hold_or_release(may_read=is_open or self.valve is None)

    def target_full(self, full: bool) -> None:
        """The target reads more slowly than the source writes, or not any more."""
        self._target_is_full = full
        self.flow()

    def close(self) -> None:
        """Pass on nothing more."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _pass_on(self, data: bytes | None) -> None:
        assert self.target is not None
        if data is None:
            self.target.close()
        else:
            self._waiting_bytes -= len(data)
            self.target.write(data)

    def _hold_or_release(self, *, may_read: bool) -> None:
        if self.source is None or self.source.is_closing():
            return
        if may_read and not self._target_is_full and self._waiting_bytes < MOST_WAITING_BYTES:
            self.source.resume_reading()
        else:
            self.source.pause_reading()
