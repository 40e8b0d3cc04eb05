"""What a session costs its server: counted where bytes leave and arrive. Outlives connections; decides nothing."""

import threading
import time
from collections import deque
from collections.abc import Callable

import msgspec

from model.hosts.zookeeper.courtesy import Courtesy


class Usage(msgspec.Struct, frozen=True):
    """Totals of a session so far; pings are not among the requests."""

    requests: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    in_flight: int = 0
    """Right now."""
    courtesy: Courtesy = Courtesy()


class Meter:
    """Written by the connection's thread only; read by anyone."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._sent_s: deque[float] = deque()
        self.usage = Usage()

    def connected(self) -> None:
        """A new connection: what was under way before is not answered any more, and the server may be another."""
        self._sent_s.clear()
        self._note(in_flight=0, courtesy=Courtesy())

    def sent(self, requests: int, length: int) -> None:
        """So many requests left together, so many bytes long."""
        self._sent_s.extend([self._clock_s()] * requests)
        usage = self.usage
        self._note(requests=usage.requests + requests, bytes_out=usage.bytes_out + length, in_flight=len(self._sent_s))

    def received(self, length: int) -> None:
        """So many bytes arrived."""
        self._note(bytes_in=self.usage.bytes_in + length)

    def answered(self) -> None:
        """The oldest request was answered: ZooKeeper answers in order."""
        if self._sent_s:
            latency_ms = 1000 * (self._clock_s() - self._sent_s.popleft())
            self._note(in_flight=len(self._sent_s), courtesy=self.usage.courtesy.after(latency_ms))

    def _note(self, **changed: object) -> None:
        self.usage = msgspec.structs.replace(self.usage, **changed)


class Turnstile:
    """Lets so many reads through each second; for any thread."""

    def __init__(self, reads_per_s: float) -> None:
        """0: all at once."""
        self._reads_per_s = reads_per_s
        self._lock = threading.Lock()
        self._free_s = 0.0

    def wait_s(self, reads: int, now_s: float) -> float:
        """How long to wait before sending these reads, which are counted as sent."""
        if not self._reads_per_s:
            return 0.0
        with self._lock:
            begins_s = max(self._free_s, now_s)
            self._free_s = begins_s + reads / self._reads_per_s
            return begins_s - now_s
