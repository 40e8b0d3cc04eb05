"""Keeps one session with an ensemble alive and reports, as values, what state it is in.

Follows kazoo's changes on a thread of its own, makes sure that a connection answers before calling it connected, and
replaces the client when its thread died or the server will not have the session back. It reads no data and sets no
watches: whoever listens does that on every `Connected`.

A fresh connection is surveyed: version, mode, abilities. ZooKeeper announces a session before it has looked at
credentials, and old servers hang up on requests they do not know, so `srvr` is asked first, MultiRead is tried only
where it may exist, and a connection counts once a read was answered.
"""

import logging
import queue
import re
import socket
import threading
import time

import msgspec
from kazoo.protocol.states import KeeperState  # pyright: ignore[reportMissingTypeStubs]

from model.hosts.zookeeper import protocol
from model.hosts.zookeeper.link import KazooLink, RequestRefused, ask
from model.hosts.zookeeper.protocol import (
    AuthFailed,
    Closed,
    Connected,
    Connecting,
    ConnectionState,
    ServerInfo,
    SessionGone,
    Suspended,
    Wiped,
    ZooKeeperUnavailable,
    ZooKeeperUnsupported,
)
from model.hosts.zookeeper.requests import NO_NODE, GetChildren2, GetData, MultiOp, MultiRead, Sync
from model.hosts.zookeeper.settings import TrafficMeter, ZooKeeperSettings, hosts_of
from model.zookeeper import Children, Missing

FIRST_WITH_MULTI_READ = (3, 6, 0)
_VERSION = re.compile(r"Zookeeper version: (\d+)\.(\d+)\.(\d+)")
_MODE = re.compile(r"Mode: ([\w-]+)")
_FOUR_LETTER_TIMEOUT_S = 3.0


class MultiReadRefused(ZooKeeperUnavailable):
    """The server does not know MultiRead: do not try again on the next connection."""


class MultiReadLost(ZooKeeperUnavailable):
    """The connection to a server of unknown version broke at MultiRead: by that, or by anything else."""


def survey(
    link: KazooLink, chroot: str, timeout_s: float, *, try_multi_read: bool, try_it_on_unknown: bool
) -> tuple[ServerInfo, str]:
    """The server and a warning about the chroot, empty if it is there.

    Raises what `ask` raises, and MultiReadRefused or MultiReadLost when MultiRead was tried in vain.
    """
    version, mode = _srvr(link)
    try_multi_read &= try_it_on_unknown if version is None else version >= FIRST_WITH_MULTI_READ
    try:
        is_missing = _is_missing(link, chroot, timeout_s, multi=try_multi_read)
    except ZooKeeperUnsupported:
        raise MultiReadRefused(f"{link.address}: the server refuses MultiRead") from None
    except ZooKeeperUnavailable as error:
        # The refusal itself can be lost: such a server answers and hangs up at once.
        if try_multi_read and version is None and not link.is_refused:
            raise MultiReadLost(str(error)) from None
        raise
    server = ServerInfo(
        address=link.address,
        version=version,
        mode="read-only" if link.is_read_only else mode,
        has_multi_read=try_multi_read,
        has_add_watch=try_multi_read and not link.lacks,
        has_watches=not link.lacks,
    )
    return server, _chroot_warning(link, chroot, timeout_s) if is_missing else ""


def _srvr(link: KazooLink) -> tuple[tuple[int, int, int] | None, str]:
    try:
        text = link.four_letters(b"srvr", _FOUR_LETTER_TIMEOUT_S)
    except (OSError, ValueError):
        return None, ""
    version, mode = _VERSION.search(text), _MODE.search(text)
    numbers = (int(version[1]), int(version[2]), int(version[3])) if version else None
    return numbers, mode[1] if mode else ""


def _is_missing(link: KazooLink, chroot: str, timeout_s: float, *, multi: bool) -> bool:
    request = MultiRead(chroot, MultiOp.GET_DATA, ("/",)) if multi else GetData(chroot, "/")
    answer = ask(link, request, timeout_s)
    return answer == [Missing("/")] or answer == RequestRefused(NO_NODE)


def _chroot_warning(link: KazooLink, chroot: str, timeout_s: float) -> str:
    root = ask(link, GetChildren2("", "/"), timeout_s)
    names = ", ".join(sorted(root.names)[:8]) if isinstance(root, Children) else ""
    return f"chroot {chroot} does not exist on {link.address}" + (f"; its root has: {names}" if names else "")


_TICK_S = 0.25
_MULTI_READ_TRIALS = 2
# Each session opened is a transaction of the ensemble: do not churn them.
_LEAST_LIFE_S = 1.0
_LOGGER = logging.getLogger(__name__)


class _BehindError(Exception):
    """A session was resumed by a server that knows less than the session has seen, which ZooKeeper never does."""


class Session:
    """The present link, how it stands, and the thread that looks after it."""

    def __init__(self, settings: ZooKeeperSettings, on_events: protocol.OnEvents, on_state: protocol.OnState) -> None:
        self._settings = settings
        self._on_events = on_events
        self._on_state = on_state
        self._changes: queue.SimpleQueue[tuple[KazooLink, str, int]] = queue.SimpleQueue()
        self._condition = threading.Condition()
        self._state: ConnectionState = Connecting(_now_ms())
        self.meter = TrafficMeter()
        self._link = self._new_link()
        self._started_s = 0.0
        self._patience_ends_s = 0.0
        self._session_id = 0
        self._seen_zxid = 0
        self._epoch = 0
        self._multi_read_refusals = 0
        self._multi_read_losses = 0

    @property
    def state(self) -> ConnectionState:
        return self._state

    @property
    def last_zxid(self) -> int:
        return max(self._seen_zxid, self._link.last_zxid)

    def start(self) -> None:
        """Connect in the background; `on_state` hears of it."""
        self._publish(self._state)
        self._be_patient()
        self._started_s = time.monotonic()
        self._link.start()
        threading.Thread(target=self._look_after, name="zookeeper-session", daemon=True).start()

    def connected(self) -> tuple[KazooLink, Connected]:
        """The link to read from; raises the error that says why there is none."""
        link, state = self._link, self._state
        if not isinstance(state, Connected):
            raise _unavailable(state)
        if not link.is_up:
            raise protocol.ZooKeeperUnavailable(link.reason or f"{link.address}: the connection was lost")
        return link, state

    def wait_connected(self, timeout_s: float) -> Connected:
        """Wait for a connection that answers; raises the error that says why there is none."""
        with self._condition:
            self._condition.wait_for(lambda: isinstance(self._state, Connected) or _is_final(self._state), timeout_s)
            if isinstance(self._state, Connected):
                return self._state
            raise _unavailable(self._state)

    def close(self, timeout_s: float) -> None:
        with self._condition:
            self._publish(Closed())
            link = self._link
        link.retire().join(timeout_s)

    def _new_link(self) -> KazooLink:
        return KazooLink(self._settings, self._on_events, self._note, self.meter)

    def _note(self, link: KazooLink, keeper_state: str) -> None:
        """On kazoo's thread, before it forgets an expired session's zxid."""
        self._changes.put((link, keeper_state, link.last_zxid))

    def _publish(self, state: ConnectionState) -> None:
        with self._condition:
            if not _is_final(self._state):
                self._state = state
                self._condition.notify_all()
                self._on_state(state)

    def _look_after(self) -> None:
        while not _is_final(self._state):
            try:
                self._follow(self._next_change())
                self._tend()
            except Exception:
                _LOGGER.exception("the ZooKeeper session's keeper stumbled")

    def _next_change(self) -> tuple[KazooLink, str, int] | None:
        try:
            return self._changes.get(timeout=_TICK_S)
        except queue.Empty:
            return None

    def _follow(self, change: tuple[KazooLink, str, int] | None) -> None:
        if change is None or change[0] is not self._link:
            return
        link, keeper_state, zxid = change
        self._seen_zxid = max(self._seen_zxid, zxid)
        if keeper_state in (KeeperState.EXPIRED_SESSION, KeeperState.CLOSED):
            self._fell(SessionGone, link.reason)
        elif keeper_state == KeeperState.CONNECTING and isinstance(self._state, Connected):
            self._fell(Suspended, link.reason)

    def _fell(self, kind: type[Suspended | SessionGone], reason: str) -> None:
        self._be_patient()
        since_ms = self._state.since_ms if isinstance(self._state, Suspended | SessionGone) else _now_ms()
        self._publish(kind(since_ms, reason))

    def _be_patient(self) -> None:
        self._patience_ends_s = time.monotonic() + 2 * self._link.session_timeout_ms / 1000

    def _tend(self) -> None:
        link = self._link
        if link.is_refused:
            self._give_up(link.reason)
        elif isinstance(self._state, Connected):
            self._seen_zxid = max(self._seen_zxid, link.last_zxid)
        elif link.is_up:
            self._greet(link)
        elif not link.is_alive and time.monotonic() > self._started_s + _LEAST_LIFE_S:
            self._replace(f"the connection's thread ended: {link.reason}")
        else:
            self._say(link.reason)
        if not isinstance(self._state, Connected) and time.monotonic() > self._patience_ends_s:
            self._lose_patience()

    def _greet(self, link: KazooLink) -> None:
        try:
            self._publish(self._welcome(link))
        except MultiReadRefused:
            self._multi_read_refusals += 1
        except MultiReadLost:
            self._multi_read_losses += 1
        except _BehindError as error:
            self.meter.went_back()
            self._replace(str(error))
        except protocol.ZooKeeperAuthFailed as error:
            self._give_up(str(error))
        except protocol.ZooKeeperUnavailable as error:
            self._say(str(error))

    def _say(self, reason: str) -> None:
        """Why there still is no connection that answers."""
        state = self._state
        if not isinstance(state, Connected) and reason not in ("", state.reason):
            self._publish(msgspec.structs.replace(state, reason=reason))

    def _welcome(self, link: KazooLink) -> Connected:
        timeout_s = self._settings.request_timeout_ms / 1000
        session_id, seen = link.session_id, self._seen_zxid
        is_new_session = session_id != self._session_id
        # A new session may land on a follower that lags behind what we saw; after a sync only other data is older.
        has_caught_up = (
            is_new_session and seen > 0 and not isinstance(ask(link, Sync("", "/"), timeout_s), RequestRefused)
        )
        server, warning = survey(
            link,
            self._settings.chroot,
            timeout_s,
            try_multi_read=self._multi_read_refusals < _MULTI_READ_TRIALS,
            try_it_on_unknown=self._multi_read_losses < _MULTI_READ_TRIALS,
        )
        zxid = link.last_zxid
        if not is_new_session and 0 < zxid < seen:
            raise _BehindError(f"{link.address}: the server is at transaction {zxid:#x}, and had told {seen:#x} before")
        wiped = Wiped(seen, zxid) if has_caught_up and 0 < zxid < seen else None
        self._session_id = session_id
        self._seen_zxid = zxid if wiped else max(seen, zxid)
        self._epoch += 1
        timeout_ms = link.session_timeout_ms
        return Connected(self._epoch, session_id, timeout_ms, server, zxid, _now_ms(), is_new_session, wiped, warning)

    def _give_up(self, reason: str) -> None:
        self._publish(AuthFailed(reason))
        self._link.retire()

    def _lose_patience(self) -> None:
        """A server with other data refuses a session that has seen more for ever; only a new one gets in."""
        had_session = self._link.last_zxid > 0 or self._link.is_up
        if had_session and any(_accepts(host) for host in hosts_of(self._settings.address)):
            self._replace(f"the session was given up: {self._link.reason}")
        else:
            self._patience_ends_s = time.monotonic() + 1

    def _replace(self, reason: str) -> None:
        old = self._link
        self._fell(SessionGone, reason)
        with self._condition:
            if not _is_final(self._state):
                self._link = self._new_link()
                self._started_s = time.monotonic()
                self._link.start()
        old.retire()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _is_final(state: ConnectionState) -> bool:
    return isinstance(state, AuthFailed | Closed)


def _accepts(host: tuple[str, int]) -> bool:
    try:
        socket.create_connection(host, timeout=1).close()
    except OSError:
        return False
    return True


def _unavailable(state: ConnectionState) -> protocol.ZooKeeperUnavailable:
    match state:
        case AuthFailed(reason):
            return protocol.ZooKeeperAuthFailed(reason)
        case Closed(reason):
            return protocol.ZooKeeperClosed(reason)
        case Connected():
            return protocol.ZooKeeperUnavailable("connected just now")
        case Connecting(_, reason):
            return protocol.ZooKeeperUnavailable(reason or "not connected yet")
        case Suspended(_, reason) | SessionGone(_, reason):
            return protocol.ZooKeeperUnavailable(reason or "the connection was lost")
