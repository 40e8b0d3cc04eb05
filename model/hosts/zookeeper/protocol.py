"""What a source may ask of ZooKeeper, and what a session says of its connection and server, as values.

There are reads and watches only: there is no way to write here.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from model.hosts.zookeeper.settings import Usage
from model.zookeeper import Children, Stat, Unread, Znode, ZnodeChanged


class ServerInfo(msgspec.Struct, frozen=True):
    """The server behind the present connection and what it can do (an ensemble may be mixed)."""

    address: str
    version: tuple[int, int, int] | None
    """None where `srvr` is not among the server's allowed four-letter words."""
    mode: str
    """standalone, leader, follower, observer or read-only; empty where unknown."""
    has_multi_read: bool
    """ZooKeeper 3.6 and newer: reads go in batches; without it they are pipelined one by one."""
    has_add_watch: bool
    """ZooKeeper 3.6 and newer: recursive watches; without it use one-shot watches and `rearm`."""
    has_watches: bool = True
    """False only beside a kazoo release we do not know the inside of: no event is ever reported, so poll."""


class Wiped(msgspec.Struct, frozen=True):
    """The server's transactions went back: its data was wiped, restored, or another ensemble took the name."""

    seen_zxid: int
    server_zxid: int


class Connecting(msgspec.Struct, frozen=True):
    """No session yet. `reason` is the last failure as one line for the operator, empty before the first."""

    since_ms: int
    reason: str = ""


class Connected(msgspec.Struct, frozen=True):
    """Reads work: a first one was answered.

    `epoch` grows by one with every connection: watches set in an earlier epoch are gone, and what
    happened in between was not reported, so set the watches again first and then read everything again.
    """

    epoch: int
    session_id: int
    session_timeout_ms: int
    server: ServerInfo
    zxid: int
    since_ms: int
    is_new_session: bool
    """False when the session of the epoch before was resumed."""
    wiped: Wiped | None = None
    """Not None: everything known so far is void; do not compare zxids or versions with it."""
    warning: str = ""
    """One line for the operator, such as a chroot that does not exist; empty when all is well."""


class Suspended(msgspec.Struct, frozen=True):
    """The connection is gone, the session may still live. What was read is stale since `since_ms`."""

    since_ms: int
    reason: str


class SessionGone(msgspec.Struct, frozen=True):
    """The session expired or was given up; a new one is being made. `since_ms` is when the connection went."""

    since_ms: int
    reason: str


class AuthFailed(msgspec.Struct, frozen=True):
    """The server refuses who we say we are. Final: nothing is retried."""

    reason: str


class Closed(msgspec.Struct, frozen=True):
    """`close` was called. Final."""

    reason: str = "closed"


ConnectionState = Connecting | Connected | Suspended | SessionGone | AuthFailed | Closed


OnEvents = Callable[[Sequence[ZnodeChanged]], None]
"""Called on the connection's own thread with every event of one network read: only enqueue, never raise."""

OnState = Callable[[ConnectionState], None]
"""Called on the supervisor's thread, once for every change of state, in order: only enqueue."""


class ZooKeeperError(Exception):
    """Something about ZooKeeper an operator can be told in one line: `str(error)`."""


class ZooKeeperUnavailable(ZooKeeperError):  # noqa: N818 - reads as a fact
    """No answer now: not connected, connection lost on the way, or no reply in time. Worth trying again later."""

    unread: tuple[str, ...] = ()
    """The paths that were asked for, where a read failed on the way."""


class ZooKeeperAuthFailed(ZooKeeperUnavailable):
    """The server refuses this session's credentials; trying again does not help."""


class ZooKeeperUnsupported(ZooKeeperUnavailable):
    """This server is too old for the request."""


class ZooKeeperClosed(ZooKeeperUnavailable):
    """The reader was closed."""


class BrowsesZnodes(Protocol):
    """A place znodes, or what looks like them, are read from on demand; see ReadsZnodes."""

    @property
    def state(self) -> ConnectionState: ...

    def read_many(self, paths: Sequence[str]) -> Sequence[Znode | Unread]: ...

    def children(self, path: str) -> Children | Unread: ...

    def exists(self, path: str) -> Stat | Unread: ...


class ReadsZnodes(Protocol):
    """A session with a ZooKeeper ensemble that can only read.

    Every method may be called from any thread but the one that delivers events, blocks for a bounded time and
    raises ZooKeeperUnavailable at once while not connected. Paths are without the chroot.
    """

    @property
    def state(self) -> ConnectionState: ...

    @property
    def last_zxid(self) -> int:
        """The newest transaction any reply has mentioned so far (0 before the first)."""
        ...

    @property
    def usage(self) -> Usage:
        """What the session has cost its servers so far."""
        ...

    def read(self, path: str, *, watch: bool = False) -> Znode | Unread:
        """One znode; `watch` sets a one-shot data watch (not where the answer is Missing)."""
        ...

    def read_many(self, paths: Sequence[str], *, watch: bool = False) -> Sequence[Znode | Unread]:
        """Many znodes, in the order of `paths`; with `watch` one by one, each with a one-shot data watch."""
        ...

    def children(self, path: str, *, watch: bool = False) -> Children | Unread:
        """The names under one znode, with its Stat; `watch` sets a one-shot child watch."""
        ...

    def children_many(self, paths: Sequence[str], *, watch: bool = False) -> list[Children | Unread]:
        """The names under many znodes, in the order of `paths`; Stats only with `watch` or without MultiRead."""
        ...

    def exists(self, path: str, *, watch: bool = False) -> Stat | Unread:
        """A znode's Stat; `watch` also watches for the creation of a missing znode."""
        ...

    def exist_many(self, paths: Sequence[str], *, watch: bool = False) -> list[Stat | Unread]:
        """As `exists`, many znodes, in the order of `paths`."""
        ...

    def watch_recursive(self, path: str) -> None:
        """Report every change at and under `path` until the connection ends. Needs `ServerInfo.has_add_watch`."""
        ...

    def rearm(
        self,
        zxid: int,
        *,
        data: Sequence[str] = (),
        existence: Sequence[str] = (),
        children: Sequence[str] = (),
    ) -> None:
        """Set one-shot watches again without reading (SetWatches); those changed after `zxid` fire at once."""
        ...

    def sync(self) -> None:
        """Let the server behind the connection catch up with the leader (no transaction)."""
        ...

    def close(self, timeout_s: float = 2.0) -> None:
        """End the session; returns within `timeout_s` even if the server never answers."""
        ...
