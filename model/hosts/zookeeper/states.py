"""What a ZooKeeper session says of its connection and of the server behind it, as values."""

import msgspec


class Server(msgspec.Struct, frozen=True):
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
    server: Server
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


class Lost(msgspec.Struct, frozen=True):
    """The session expired or was given up; a new one is being made. `since_ms` is when the connection went."""

    since_ms: int
    reason: str


class AuthFailed(msgspec.Struct, frozen=True):
    """The server refuses who we say we are. Final: nothing is retried."""

    reason: str


class Closed(msgspec.Struct, frozen=True):
    """`close` was called. Final."""

    reason: str = "closed"


ConnectionState = Connecting | Connected | Suspended | Lost | AuthFailed | Closed
