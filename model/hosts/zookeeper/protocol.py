"""What a source may ask of ZooKeeper: reads and watches only. There is no way to write here."""

from collections.abc import Callable, Sequence
from typing import Protocol

from model.hosts.zookeeper.states import ConnectionState
from model.hosts.zookeeper.throttle import Usage
from model.zookeeper.znodes import Children, Stat, Unread, Znode, ZnodeChanged

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
        """Report every change at and under `path` until the connection ends. Needs `Server.has_add_watch`."""
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
