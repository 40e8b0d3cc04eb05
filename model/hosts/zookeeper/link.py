"""One kazoo client behind types: start it, ask whether it lives, send requests, put it away.

Never reused after it ended; it decides nothing and retries nothing: the session does. Requests go out a window at a
time, and kazoo's exceptions become values and our errors. The last failure that kazoo logged is kept as one line for
an operator, as kazoo reports the reason nowhere else. TLS is by a context that was made once: kazoo would make one of
files for every connection, trust this machine's authorities beside those it was given, and try for ever where a
certificate is not accepted.
"""

import contextlib
import logging
import re
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from kazoo.exceptions import (  # pyright: ignore[reportMissingTypeStubs]
    AuthFailedError,
    ConnectionLoss,
    SessionClosedRequireSaslError,
    SessionExpiredError,
    UnimplementedError,
    ZookeeperError,
)
from kazoo.handlers.threading import (
    KazooTimeoutError,  # pyright: ignore[reportMissingTypeStubs]
    SequentialThreadingHandler,
)
from kazoo.protocol.states import KeeperState

from model.hosts.tls import is_refused_for_good, why_tls_failed
from model.hosts.zookeeper.connection import BufferedClient, ReadOnlyClient, missing_internals
from model.hosts.zookeeper.protocol import OnEvents, ZooKeeperAuthFailed, ZooKeeperUnavailable, ZooKeeperUnsupported
from model.hosts.zookeeper.requests import ZooKeeperRequest
from model.hosts.zookeeper.settings import TrafficMeter, ZooKeeperSettings, hosts_of


class LastReason(logging.Handler):
    """Remembers what went wrong last, and with which server."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.text = ""
        self.address = ""
        self.is_refusal = False
        """Whether it was a login or a certificate that was not taken; the client's own state is CLOSED soon after."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.msg == "Connecting to %s(%s):%s, use_ssl: %r" and isinstance(record.args, tuple):
            self.address = f"{record.args[0]}:{record.args[2]}"
        elif record.levelno >= logging.WARNING and message != "Transition to CONNECTING":
            self.text = self._sentence(message, record)
            self.is_refusal |= message.startswith(_REFUSED)

    def _sentence(self, message: str, record: logging.LogRecord) -> str:
        if record.exc_info and record.exc_info[1]:
            return _one_line(f"{self.address}: {message}: {record.exc_info[1]!r}")
        for start, sentence in _SENTENCES.items():
            if message.startswith(start):
                detail = message.removeprefix(start)
                return _one_line(sentence.format(address=self.address, detail=_DETAILS.get(detail, detail)))
        return _one_line(message)


_REFUSED = "AUTH_FAILED closing: "
_SENTENCES = {
    "Cannot resolve ": "cannot resolve host {detail}",
    "Connection dropped: socket connection error: ": "{address}: {detail}",
    "Connection dropped: ": "{address}: {detail}",
    "Connection time-out: ": "{address}: no answer in time (not ZooKeeper, overloaded, or TLS on one side only?)",
    "Session has expired": "{address}: the session expired",
    _REFUSED: "{address}: authentication failed: {detail}",
}
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_DETAILS = {
    "None": "connecting timed out",
    "timed out": "connecting timed out",
    "socket connection broken": "the server closed the connection",
    "outstanding heartbeat ping not received": "the server stopped answering",
}


def _one_line(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in text)
    return _ERRNO.sub("", " ".join(printable.split())).rstrip(": ")


def private_logger(reason: LastReason) -> logging.Logger:
    """A logger nobody else hears, since the terminal belongs to the dashboard."""
    logger = logging.Logger("kazoo", logging.INFO)
    logger.addHandler(reason)
    return logger


# pyright: basic
# kazoo has no types.


class TlsConnector(SequentialThreadingHandler):
    """Connects by TLS. Where every host in turn has a certificate that is not taken, AuthFailedError ends the tries."""

    def __init__(self, context: ssl.SSLContext, hosts: int) -> None:
        super().__init__()
        self._context = context
        self._context.sslsocket_class = _Socket
        self._hosts = hosts
        self._refusals = 0

    def create_connection(self, address: Any, hostname: Any = None, timeout: Any = None, **_: object) -> ssl.SSLSocket:
        """A socket after its handshake; what else kazoo says of TLS is the context's. Raises OSError."""
        plain = socket.create_connection(address, timeout)
        with contextlib.ExitStack() as undo:
            undo.callback(plain.close)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                secured = self._context.wrap_socket(plain, server_hostname=hostname)
            except OSError as error:
                self._refusals += is_refused_for_good(error)
                why = why_tls_failed(error, in_handshake=True)
                raise _told(error, why, is_final=self._refusals >= self._hosts) from error
            undo.pop_all()
        self._refusals = 0
        return secured


class _Socket(ssl.SSLSocket):
    """Says in words why the server ended it: with TLS 1.3 a server judges our certificate after the handshake."""

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        try:
            return super().recv(buflen, flags)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError as error:
            why = why_tls_failed(error, in_handshake=False)
            raise _told(error, why, is_final=is_refused_for_good(error)) from error


def _told(error: OSError, why: str, *, is_final: bool) -> Exception:
    if not why:
        return error
    return AuthFailedError(why) if is_final else OSError(error.errno, why)


# pyright: basic, reportOptionalMemberAccess=false
# The one place that talks to kazoo's untyped client; everything on the outside is typed.


# Without max_tries kazoo gives up after one try; its own back-off may sleep for an hour.
_RETRY_FOR_EVER = {"max_tries": -1, "delay": 0.1, "backoff": 1.5, "max_delay": 2.0}


class PendingAnswer(Protocol):
    """kazoo's AsyncResult."""

    def get(self, block: bool = True, timeout: float | None = None) -> object: ...


class KazooLink:
    """A kazoo client with its thread. `on_change` gets the link and kazoo's KeeperState, on kazoo's thread."""

    def __init__(
        self,
        settings: ZooKeeperSettings,
        on_events: OnEvents,
        on_change: Callable[["KazooLink", str], None],
        meter: TrafficMeter,
    ) -> None:
        self.lacks = missing_internals()
        self._settings, self._meter = settings, meter
        self._reason = LastReason()
        self._on_change = on_change
        options: dict[str, Any] = {**client_options(settings), "logger": private_logger(self._reason)}
        if self.lacks:
            self._client: Any = ReadOnlyClient(**options)
        else:
            self._client = BufferedClient(on_events=on_events, meter=meter, **options)
        self._client.add_listener(self._changed)

    def _changed(self, _kazoo_state: object) -> None:
        self._on_change(self, self._client._state)

    def start(self) -> None:
        """Connect in the background, for ever."""
        self._client.start_async()

    def retire(self) -> threading.Thread:
        """Stop in a daemon thread, which ends with the server's farewell or kazoo's patience; join it to wait."""
        self._on_change = _ignore
        if not self.lacks:
            self._client._connection.on_events = _ignore
        thread = threading.Thread(target=self._stop, name="zookeeper-farewell", daemon=True)
        thread.start()
        return thread

    def _stop(self) -> None:
        for step in (self._client.stop, self._client.close):
            with contextlib.suppress(Exception):  # a client that is given up may fail in any way it likes
                step()

    def submit(self, request: ZooKeeperRequest) -> PendingAnswer:
        """Send a request; PermissionError for anything but a read."""
        answer = self._client.handler.async_result()
        self._client._call(request, answer)
        return answer

    @property
    def is_up(self) -> bool:
        return self._client.connected

    @property
    def is_alive(self) -> bool:
        """Whether the connection's thread still runs."""
        thread = self._client._connection._connection_routine
        return thread is not None and thread.is_alive()

    @property
    def is_refused(self) -> bool:
        return self._reason.is_refusal or self._client._state == KeeperState.AUTH_FAILED

    @property
    def is_read_only(self) -> bool:
        return self._client._state == KeeperState.CONNECTED_RO

    @property
    def last_zxid(self) -> int:
        return self._client.last_zxid

    @property
    def session_id(self) -> int:
        return self._client._session_id or 0

    @property
    def session_timeout_ms(self) -> int:
        """As negotiated with the server, or as asked for before."""
        negotiated = getattr(self._client._connection, "session_timeout_ms", 0)
        return negotiated or self._settings.session_timeout_ms

    @property
    def pieces(self) -> int:
        """In how many pieces long answers have arrived: as long as there are more, the next answer is on its way."""
        return self._meter.usage.pieces

    @property
    def reason(self) -> str:
        """The last failure, as one line."""
        return self._reason.text

    @property
    def address(self) -> str:
        """The server tried last, as it was named."""
        return self._reason.address

    def four_letters(self, word: bytes, timeout_s: float) -> str:
        """Ask the connected server one of ZooKeeper's four-letter words; OSError or ValueError if that fails."""
        client, socket = self._client, self._client._connection._socket
        if socket is None:
            raise OSError("not connected")
        host = self.address.rpartition(":")[0]
        peer = socket.getpeername()[:2]
        with client.handler.create_connection(peer, hostname=host, timeout=timeout_s) as connection:
            connection.sendall(word)
            return b"".join(iter(lambda: connection.recv(4096), b"")).decode(errors="replace")


def _ignore(*_: object) -> None:
    """What a retired link still reports concerns nobody."""


def client_options(settings: ZooKeeperSettings) -> dict[str, Any]:
    """kazoo's keyword arguments."""
    options: dict[str, Any] = {
        "hosts": settings.address,
        "timeout": settings.session_timeout_ms / 1000,
        "connection_retry": _RETRY_FOR_EVER,
        "auth_data": {(credential.scheme, credential.secret) for credential in settings.credentials},
        "read_only": settings.accept_read_only_server,
    }
    if sasl := settings.sasl:
        options["sasl_options"] = {name: value for name, value in msgspec.structs.asdict(sasl).items() if value}
    if settings.tls:
        options["handler"] = TlsConnector(settings.tls, len(hosts_of(settings.address)))
    return options


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """The server answered one request with an error code (ZooKeeper's `KeeperException.Code`)."""

    code: int


def ask(link: KazooLink, request: ZooKeeperRequest, timeout_s: float) -> object:
    """Send one request; returns its answer or a Refusal.

    Raises ZooKeeperAuthFailed, ZooKeeperUnsupported, or ZooKeeperUnavailable when the connection breaks or
    neither the answer nor a piece of it comes within `timeout_s`.
    """
    return _wait(link, link.submit(request), timeout_s)


def ask_many(
    link: KazooLink, requests: Iterable[ZooKeeperRequest], window: Callable[[], int], timeout_s: float
) -> Iterator[object]:
    """Send requests with at most `window` of them unanswered just then; yields answers as `ask` does, in order."""
    flying: deque[PendingAnswer] = deque()
    for request in requests:
        while len(flying) >= window():
            yield _wait(link, flying.popleft(), timeout_s)
        flying.append(link.submit(request))
    while flying:
        yield _wait(link, flying.popleft(), timeout_s)


def _got(link: KazooLink, answer: PendingAnswer, timeout_s: float) -> object:
    """A long answer over a slow link takes its time, and would take no less if it were asked for again."""
    while True:
        pieces = link.pieces
        try:
            return answer.get(timeout=timeout_s)
        except KazooTimeoutError:
            if link.pieces == pieces:
                raise


def _wait(link: KazooLink, answer: PendingAnswer, timeout_s: float) -> object:
    try:
        return _got(link, answer, timeout_s)
    except KazooTimeoutError:
        raise ZooKeeperUnavailable(f"{link.address}: no answer within {timeout_s:g} s") from None
    except AuthFailedError:
        raise ZooKeeperAuthFailed(link.reason or f"{link.address}: authentication failed") from None
    except SessionClosedRequireSaslError:
        raise ZooKeeperAuthFailed(f"{link.address}: the server accepts authenticated sessions only") from None
    except UnimplementedError:
        raise ZooKeeperUnsupported(f"{link.address}: this ZooKeeper does not know the request (before 3.6?)") from None
    except (ConnectionLoss, SessionExpiredError):
        raise ZooKeeperUnavailable(link.reason or f"{link.address}: the connection was lost") from None
    except ZookeeperError as error:
        return RequestRefused(int(getattr(error, "code", 0)))
    except (ValueError, LookupError, RuntimeError, struct.error) as error:
        raise ZooKeeperUnavailable(f"{link.address}: the answer is garbled: {error}") from None
