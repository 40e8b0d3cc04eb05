"""Where and as whom to connect, and how much may be asked at a time: less while answers are slower than usual.

What a session costs its server is counted where bytes leave and arrive; a meter outlives connections. Nothing is sent
here.
"""

import ssl
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import cast

import msgspec

SLOW = 4.0
"""So many times its own usual latency, and a server has too much to do."""

FAST_MS = 50.0
"""What is answered within this is fast enough, whatever is usual."""

WEIGHT = 0.2
"""Of the newest answer in the running mean."""

FORGETTING = 1.002
"""The best latency rises so much with every answer: a server that stays slower is measured by that in the end."""

STEP = 0.1
LEAST = 1 / 32
LONGEST_READ_PAUSE_S = 1.0


class ReadLimits(msgspec.Struct, frozen=True):
    """The operator's ceilings. Raises ValueError, as one line."""

    in_flight: int = 500
    """Requests sent and not answered."""
    reads_per_s: float = 0.0
    """Znodes asked for each second; 0: no ceiling."""

    def __post_init__(self) -> None:
        if self.in_flight < 1:
            raise ValueError(f"{self.in_flight} requests in flight: at least one is needed")
        if not 0 <= self.reads_per_s < float("inf"):
            raise ValueError(f"{self.reads_per_s:g} reads a second: must be a number above 0, or 0 for no ceiling")


class Throttle(msgspec.Struct, frozen=True):
    """What a connection has learnt of its server's latency, in ms, and which share of the usual may be in flight."""

    usual_ms: float = 0.0
    latency_ms: float = 0.0
    share: float = 1.0

    @property
    def is_holding_back(self) -> bool:
        """Whether less is asked than could be."""
        return self.share < 1.0

    def after(self, latency_ms: float) -> "Throttle":
        """One answer later: half as much where answers became slow, a step more where they are not."""
        usual = min(latency_ms, self.usual_ms * FORGETTING) if self.usual_ms else latency_ms
        mean = self.latency_ms + WEIGHT * (latency_ms - self.latency_ms) if self.usual_ms else latency_ms
        is_slow = mean > max(FAST_MS, SLOW * usual)
        share = max(self.share / 2, LEAST) if is_slow else min(self.share + STEP, 1.0)
        return Throttle(usual, mean, share)

    def in_flight(self, most: int) -> int:
        """Requests that may be unanswered where `most` are the usual; at least one."""
        return max(int(most * self.share), 1)

    def pause_s(self, most: int) -> float:
        """To wait before a request: where even one at a time is more than the share, it is asked less often."""
        part = most * self.share
        return 0.0 if part >= 1 else min(self.latency_ms / 1000 * (1 / part - 1), LONGEST_READ_PAUSE_S)


SHORT_S = 1.0
"""A connection that ends within this was of no use."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
"""Between two connections, where the ones before were of no use."""

PIECE_BYTES = 1 << 20
"""So much of an answer that is not whole yet shows that it is on its way."""

QUESTIONS = 100
"""Whose answers were garbled are remembered, at most."""


class Usage(msgspec.Struct, frozen=True):
    """Totals of a session so far; pings are not among the requests."""

    requests: int = 0
    bytes_out: int = 0
    bytes_in: int = 0
    in_flight: int = 0
    """Right now."""
    courtesy: Throttle = Throttle()
    answers: int = 0
    pieces: int = 0
    """Of PIECE_BYTES, in which answers arrived that were not whole yet."""
    connections: int = 0
    """That a server greeted."""
    garbled: int = 0
    """So many times in a row one and the same question was answered by what is no answer."""
    behind: int = 0
    """So many times a session was resumed by a server that knew less than the session had seen."""


class TrafficMeter:
    """Written by the connection's thread; read by anyone."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._sent_s: deque[float] = deque()
        self._garbled: dict[object, int] = {}
        self._unwhole_bytes = 0
        self._connected_s, self._short_lives = float("-inf"), 0
        self.usage = Usage()

    def connected(self) -> None:
        """A new connection: what was under way before is not answered any more, and the server may be another."""
        self._sent_s.clear()
        self._connected_s = self._clock_s()
        self._note(in_flight=0, courtesy=Throttle())

    def pause_s(self) -> float:
        """To wait before the next connection: the longer, the more of them ended soon after they were made."""
        ended_soon = self._clock_s() - self._connected_s < SHORT_S
        self._short_lives = self._short_lives + 1 if ended_soon else 0
        return min(FIRST_PAUSE_S * 2**self._short_lives, LONGEST_PAUSE_S) if self._short_lives > 1 else 0.0

    def greeted(self) -> None:
        """The server took us in."""
        self._note(connections=self.usage.connections + 1)

    def sent(self, requests: int, length: int) -> None:
        """So many requests left together, so many bytes long."""
        self._sent_s.extend([self._clock_s()] * requests)
        usage = self.usage
        self._note(requests=usage.requests + requests, bytes_out=usage.bytes_out + length, in_flight=len(self._sent_s))

    def received(self, length: int) -> None:
        """So many bytes arrived."""
        self._note(bytes_in=self.usage.bytes_in + length)

    def unfinished(self, length: int) -> None:
        """So many bytes arrived, and what they belong to is not whole."""
        self._unwhole_bytes += length
        if pieces := self._unwhole_bytes // PIECE_BYTES:
            self._unwhole_bytes -= pieces * PIECE_BYTES
            self._note(pieces=self.usage.pieces + pieces)

    def answered(self) -> None:
        """The oldest request was answered: ZooKeeper answers in order."""
        if self._sent_s:
            usage, latency_ms = self.usage, 1000 * (self._clock_s() - self._sent_s.popleft())
            courtesy = usage.courtesy.after(latency_ms)
            self._note(in_flight=len(self._sent_s), courtesy=courtesy, answers=usage.answers + 1)

    def understood(self, question: object) -> None:
        """What was answered could be read."""
        if self._garbled and self._garbled.pop(question, 0):
            self._note(garbled=max(self._garbled.values(), default=0))

    def garbled(self, question: object) -> int:
        """What arrived instead of an answer to the question is none; how often in a row that was so."""
        if len(self._garbled) >= QUESTIONS:
            self._garbled.clear()
        self._garbled[question] = self._garbled.get(question, 0) + 1
        self._note(garbled=max(self._garbled.values()))
        return self._garbled[question]

    def went_back(self) -> None:
        """A server resumed the session and knows less than the session has seen."""
        self._note(behind=self.usage.behind + 1)

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


class Credential(msgspec.Struct, frozen=True):
    """One `addauth` of ZooKeeper, such as scheme `digest` with `user:password`; never shown."""

    scheme: str
    secret: str

    def __repr__(self) -> str:
        return f"Credential(scheme={self.scheme!r}, secret='***')"


class Sasl(msgspec.Struct, frozen=True):
    """SASL login (needs the package pure-sasl); `mechanism` is DIGEST-MD5 or GSSAPI."""

    mechanism: str
    username: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Sasl(mechanism={self.mechanism!r}, username={self.username!r}, password='***')"


class ZooKeeperSettings(msgspec.Struct, frozen=True):
    """One ensemble. Raises ValueError, as one line, for what can't be an address or a chroot."""

    address: str
    """`host:port[,host:port…]`; the port defaults to 2181."""
    chroot: str = ""
    """Empty or `/kafka`, put in front of every path."""
    session_timeout_ms: int = 12_000
    """The server may change it. Short enough that a frozen client does not pile up events in the server's memory."""
    request_timeout_ms: int = 15_000
    """The longest a single answer may take, or a piece of a long one."""
    credentials: tuple[Credential, ...] = ()
    sasl: Sasl | None = None
    tls: ssl.SSLContext | None = None
    """Made by `client_security`, which checks the server's name (kazoo's default is not to)."""
    limits: ReadLimits = ReadLimits()
    accept_read_only_server: bool = False
    """Also talk to a server that lost its quorum; it needs `readonlymode.enabled` there."""

    def __post_init__(self) -> None:
        hosts_of(self.address)
        if self.chroot and (not self.chroot.startswith("/") or self.chroot.endswith("/") or "//" in self.chroot):
            raise ValueError(f"chroot {self.chroot!r} must start with / and not end with it, for example /kafka")


def hosts_of(address: str) -> list[tuple[str, int]]:
    """The hosts and ports of `host:port[,host:port…]`."""
    # kazoo takes a while to load, and options are read without.
    from kazoo.hosts import (  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]
        collect_hosts,  # pyright: ignore[reportUnknownVariableType]
    )

    try:
        hosts, chroot = cast("tuple[list[tuple[str, int]], str | None]", collect_hosts(address))
    except ValueError as error:
        raise ValueError(f"ZooKeeper address {address!r}: {error}; write host:port[,host:port…]") from None
    if chroot:
        raise ValueError(f"ZooKeeper address {address!r}: give the chroot {chroot} on its own")
    return hosts
