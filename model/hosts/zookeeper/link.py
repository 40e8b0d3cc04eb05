"""One kazoo client behind types: start it, ask whether it lives, send a request, put it away.

Never reused after it ended, and it decides nothing: the session does.
"""

# pyright: basic, reportOptionalMemberAccess=false
# The one place that talks to kazoo's untyped client; everything on the outside is typed.

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from kazoo.protocol.states import KeeperState

from model.hosts.zookeeper.connection import BufferedClient, ReadOnlyClient, missing_internals
from model.hosts.zookeeper.meter import Meter
from model.hosts.zookeeper.protocol import OnEvents
from model.hosts.zookeeper.reasons import LastReason, private_logger
from model.hosts.zookeeper.requests import Request
from model.hosts.zookeeper.settings import Settings, hosts_of
from model.hosts.zookeeper.tls_connector import TlsConnector

# Without max_tries kazoo gives up after one try; its own back-off may sleep for an hour.
_RETRY_FOR_EVER = {"max_tries": -1, "delay": 0.1, "backoff": 1.5, "max_delay": 2.0}


class Answer(Protocol):
    """kazoo's AsyncResult."""

    def get(self, block: bool = True, timeout: float | None = None) -> object: ...


class Link:
    """A kazoo client with its thread. `on_change` gets the link and kazoo's KeeperState, on kazoo's thread."""

    def __init__(
        self, settings: Settings, on_events: OnEvents, on_change: Callable[["Link", str], None], meter: Meter
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

    def submit(self, request: Request) -> Answer:
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


def client_options(settings: Settings) -> dict[str, Any]:
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
