"""A client's connection to one broker, and a channel that opens it anew when it has broken.

Requests go out at once, responses come back in the same order; the versions that the broker knows are asked for
first. A connection is secured by TLS, by a SASL mechanism, by both or neither: the mechanisms' steps are
kafka-python's (`kafka.net.sasl`), which know no sockets. A channel connects when there is something to ask, again and
again with back-off. It does not repeat a request whose outcome is unknown: the caller decides that.
"""

import asyncio
import contextlib
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol, Self, cast

from kio.schema.errors import ErrorCode

from model.hosts.tls import is_refused_for_good, tls_refusal
from model.hosts.wire.frames import MAX_FRAME_BYTES, read_frame, write_frame
from model.hosts.wire.messages import (
    API_VERSIONS_KEY,
    Encoded,
    Entity,
    correlation_id,
    decode_response,
    encode_request,
    name_of,
    shaped,
    shapes,
    versions_known,
)
from model.hosts.wire.names import (
    ApiKey,
    DeniedError,
    MalformedError,
    UnavailableError,
    UnsupportedVersionError,
    WireError,
    error_name,
)


class SaslSteps(Protocol):
    """One login, from our side."""

    def auth_bytes(self) -> bytes: ...

    def receive(self, auth_bytes: bytes, /) -> object:
        """What came back. Raises ValueError where it is not what a broker would say that knows the password."""
        ...

    def is_done(self) -> bool:
        """Whether nothing more is to be sent."""
        ...


@dataclass(frozen=True)
class Security:
    """`sasl` begins a login at a host; `mechanism` is its name."""

    tls: ssl.SSLContext | None = None
    mechanism: str = ""
    sasl: Callable[[str], SaslSteps] | None = None


PLAINTEXT = Security()


def security_of(options: Mapping[str, Any]) -> Security:
    """From options as kafka-python takes them: security_protocol, ssl_context, sasl_mechanism, sasl_plain_username …

    An empty mapping is PLAINTEXT. Raises ValueError for a mechanism that nobody knows here.
    """
    protocol: str = options.get("security_protocol", "PLAINTEXT")
    tls: ssl.SSLContext | None = None
    if protocol.endswith("SSL"):
        tls = options.get("ssl_context") or ssl.create_default_context()
    if not protocol.startswith("SASL"):
        return Security(tls)
    # Loads all of kafka-python, which only those pay for who log in.
    from kafka.net import sasl  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs]

    mechanisms = cast("Mapping[str, Callable[..., SaslSteps]]", vars(sasl)["SASL_MECHANISMS"])
    mechanism: str = options.get("sasl_mechanism") or ""
    if mechanism not in mechanisms:
        raise ValueError(f"{mechanism or 'no SASL mechanism'}: write one of {', '.join(sorted(mechanisms))}")
    return Security(tls, mechanism, lambda host: mechanisms[mechanism](host=host, **options))


_CHECK = "check sasl.mechanism and sasl.jaas.config"
CLOSED = "the broker closed the connection"
CLOSED_AT_ONCE = (
    "the connection was closed when asked for versions: this is no broker's port, "
    "or the broker is older than 0.10 (name its ZooKeeper: zk://host:port)"
)
NEWEST_API_VERSIONS = 3
"""Version 4 differs by the announcement of features only, and brokers before 4.0 do not know it."""
VersionRanges = Mapping[int, tuple[int, int]]
_LAST_ID = 2**31 - 1


class Connection:
    """Open until `close`, or until something goes wrong: then all that wait are told, and `is_open` is false."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client_id: str, address: str
    ) -> None:
        self.versions: VersionRanges = {}
        self.features: Mapping[str, int] = {}
        """Finalized features and their levels, where the broker tells them (KIP-584): `metadata.version`."""
        self._reader = reader
        self._writer = writer
        self._client_id = client_id
        self._address = address
        self._next_id = 0
        self._waiting: deque[tuple[int, int, int, asyncio.Future[Entity]]] = deque()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def open(
        cls, host: str, port: int, client_id: str, timeout_s: float = 30.0, security: Security = PLAINTEXT
    ) -> Self:
        """Connect, ask for the versions and log in. Raises UnavailableError, DeniedError or another WireError."""
        address = f"{host}:{port}"
        try:
            async with asyncio.timeout(timeout_s):
                reader, writer = await asyncio.open_connection(host, port, ssl=security.tls)
        except (OSError, TimeoutError) as error:
            raise _broken(error, address, in_handshake=security.tls is not None) from None
        connection = cls(reader, writer, client_id, address)
        try:
            await connection._ask_versions(timeout_s)
            if security.sasl is not None:
                await connection._log_in(security.mechanism, security.sasl(host), address, timeout_s)
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def is_open(self) -> bool:
        return not self._listening.done() and not self._writer.is_closing()

    def newest(self, api_key: int, highest: int | None = None) -> int:
        """The highest version that both sides know, and none above `highest`. Raises UnsupportedVersionError."""
        theirs = self.versions.get(api_key)
        ours = versions_known(api_key)
        if theirs is not None:
            version = min(ours[1], theirs[1], ours[1] if highest is None else highest)
            if version >= max(ours[0], theirs[0]):
                return version
        if theirs is None:
            raise UnsupportedVersionError(f"the broker does not know {name_of(api_key)}")
        raise UnsupportedVersionError(f"the broker has no version of {name_of(api_key)} that is known here: {theirs}")

    def request_shapes(self, api_key: int, highest: int | None = None) -> ModuleType:
        """The classes of a request's `newest` version. Raises UnsupportedVersionError."""
        return shapes(api_key, self.newest(api_key, highest), "request")

    async def ask(self, request: Entity | Encoded, timeout_s: float = 30.0) -> Entity:
        """Send a request and wait for its response. Raises UnavailableError or another WireError.

        No response in time ends the connection, for all who wait. Whoever is cancelled harms nobody else.
        """
        key, version = _key_of(request)
        answer: asyncio.Future[Entity] = asyncio.get_running_loop().create_future()
        self._next_id = self._next_id + 1 if self._next_id < _LAST_ID else 0
        header, body = encode_request(request, self._next_id, self._client_id)
        if not self.is_open:
            raise UnavailableError("the connection is closed")
        self._waiting.append((self._next_id, key, version, answer))
        late = answer.get_loop().call_later(timeout_s, _tell_late, answer)
        try:
            await write_frame(self._writer, header, body, patience_s=timeout_s)
            return await answer
        except TimeoutError:
            reason = UnavailableError(f"no response to {name_of(key)} within {timeout_s:g} s")
        except OSError as error:
            reason = UnavailableError(str(error))
        finally:
            late.cancel()
        await self._end(reason)
        raise reason

    async def close(self) -> None:
        """End the connection; who still waits gets UnavailableError."""
        await self._end(UnavailableError("the connection was closed"))

    async def _ask_versions(self, timeout_s: float) -> None:
        response = await self.ask(_api_versions(NEWEST_API_VERSIONS), timeout_s)
        if response.error_code == ErrorCode.unsupported_version:
            response = await self.ask(_api_versions(0), timeout_s)
        if response.error_code != ErrorCode.none:
            raise UnavailableError(f"the broker refuses to tell its versions: {response.error_code.name}")
        self.versions = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
        self.features = {str(each.name): each.max_version_level for each in getattr(response, "finalized_features", ())}

    async def _log_in(self, mechanism: str, steps: SaslSteps, address: str, timeout_s: float) -> None:
        """SaslHandshake, and SaslAuthenticate until both sides are content (KIP-152)."""

        async def ask(key: int, name: str, **values: object) -> Entity:
            version = self.newest(key)
            request = shaped(getattr(shapes(key, version, "request"), name), **values)
            try:
                response = await self.ask(request, timeout_s)
            except UnavailableError as error:
                # Brokers close the connection of whom they do not know, some a little before they have said so.
                raise DeniedError(f"{address}: the login with {mechanism} failed: {error}") from None
            if response.error_code != ErrorCode.none:
                said = getattr(response, "error_message", None) or error_name(response.error_code)
                raise DeniedError(f"{address}: the login with {mechanism} is refused: {said}; {_CHECK}")
            return response

        await ask(ApiKey.SASL_HANDSHAKE, "SaslHandshakeRequest", mechanism=mechanism)
        try:
            while not steps.is_done():
                response = await ask(ApiKey.SASL_AUTHENTICATE, "SaslAuthenticateRequest", auth_bytes=steps.auth_bytes())
                steps.receive(bytes(response.auth_bytes))
        except (ValueError, KeyError) as error:
            raise DeniedError(f"{address}: the login with {mechanism} failed: {error}") from None

    async def _listen(self) -> None:
        reason: WireError = UnavailableError(CLOSED if self.versions else CLOSED_AT_ONCE)
        try:
            while (frame := await read_frame(self._reader, MAX_FRAME_BYTES)) is not None:
                self._hear(frame)
        except WireError as error:
            reason = error
        except OSError as error:
            reason = _broken(error, self._address)
        finally:
            self._give_up(reason)
            self._writer.close()

    def _hear(self, frame: bytes) -> None:
        if not self._waiting:
            raise MalformedError("a response that nobody waits for")
        number, key, version, answer = self._waiting.popleft()
        try:
            if correlation_id(frame) != number:
                raise MalformedError(f"response {correlation_id(frame)} where {number} was due")
            response = _decode(frame, key, version)
        except WireError as error:
            if not answer.done():
                answer.set_exception(error)
            raise
        if not answer.done():
            answer.set_result(response)

    def _give_up(self, reason: WireError) -> None:
        while self._waiting:
            answer = self._waiting.popleft()[3]
            if not answer.done():
                answer.set_exception(reason)
                answer.exception()  # looked at, or asyncio complains about those whom nobody waits for any more

    async def _end(self, reason: WireError) -> None:
        self._give_up(reason)
        self._listening.cancel()
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._writer.wait_closed()


def _tell_late(answer: "asyncio.Future[Entity]") -> None:
    if not answer.done():
        answer.set_exception(TimeoutError())


def _broken(error: OSError, address: str, *, in_handshake: bool = False) -> WireError:
    kind = DeniedError if is_refused_for_good(error) else UnavailableError
    why = tls_refusal(error, address, in_handshake=in_handshake)
    return kind(why or f"{address}: {str(error) or 'no connection in time'}")


def _decode(frame: bytes, key: int, version: int) -> Entity:
    if key == API_VERSIONS_KEY and len(frame) >= 6 and frame[4:6] == b"\0\x23":
        # A broker that does not know the version asked with answers UNSUPPORTED_VERSION (35), in version 0 (KIP-511).
        version = 0
    return decode_response(frame, key, version)[1]


def _key_of(request: Entity | Encoded) -> tuple[int, int]:
    if isinstance(request, Encoded):
        return request.api_key, request.version
    return request.__api_key__, request.__version__


def _api_versions(version: int) -> Entity:
    shape = shapes(API_VERSIONS_KEY, version, "request").ApiVersionsRequest
    return shaped(shape, client_software_name="kdrill", client_software_version="1")


async def supported_features(connection: Connection, timeout_s: float) -> Mapping[str, tuple[int, int]]:
    """Which levels of which features the other side knows; before version 4 without those that begin at 0."""
    shape = connection.request_shapes(API_VERSIONS_KEY).ApiVersionsRequest
    request = shaped(shape, client_software_name="kdrill", client_software_version="1")
    told = getattr(await connection.ask(request, timeout_s), "supported_features", ())
    return {str(each.name): (int(each.min_version), int(each.max_version)) for each in told}


FIRST_BACKOFF_S = 0.05
LONGEST_BACKOFF_S = 1.0
"""Kafka's `reconnect.backoff.ms` and `reconnect.backoff.max.ms`."""

Build = Callable[[Connection], Entity | Encoded]
"""Makes a request in a version that the broker behind a connection knows."""


class Channel:
    """For one event loop. Requests asked at the same time share the connection and are answered in order."""

    def __init__(
        self, host: str, port: int, client_id: str, timeout_s: float = 30.0, security: Security = PLAINTEXT
    ) -> None:
        self._address = (host, port)
        self._security = security
        self._client_id = client_id
        self._timeout_s = timeout_s
        self.connections = 0
        """So many were opened."""
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._failures = 0
        self._not_before_s = 0.0

    async def ask(self, build: Build) -> Entity:
        """Connect if need be, after the back-off, and ask. Raises UnavailableError or another WireError."""
        connection = self._connection
        if connection is None or not connection.is_open:
            connection = await self.connected()
        return await connection.ask(build(connection), self._timeout_s)

    async def connected(self) -> Connection:
        """The connection, opened if need be, after the back-off. Raises UnavailableError or another WireError."""
        async with self._connecting:
            if self._connection is not None and self._connection.is_open:
                return self._connection
            await self.close()
            await asyncio.sleep(max(0.0, self._not_before_s - time.monotonic()))
            try:
                self._connection = await Connection.open(
                    *self._address, self._client_id, self._timeout_s, self._security
                )
            except UnavailableError:
                pause_s = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2**self._failures)
                self._failures += 1
                self._not_before_s = time.monotonic() + pause_s
                raise
            self._failures = 0
            self.connections += 1
            return self._connection

    async def close(self) -> None:
        """End the connection, if there is one."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None
