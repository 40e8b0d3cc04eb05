"""A client's connection to one broker: requests go out at once, responses come back in the same order.

The versions that the broker knows are asked for first. It does not reconnect; `channel` does.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping
from typing import Self

from kio.schema.errors import ErrorCode

from model.hosts.client_security.refusals import is_refused_for_good, tls_refusal
from model.hosts.wire.api_keys import SASL_AUTHENTICATE, SASL_HANDSHAKE
from model.hosts.wire.errors import DeniedError, MalformedError, UnavailableError, UnsupportedVersionError, WireError
from model.hosts.wire.frames import MAX_FRAME_BYTES, read_frame, write_frame
from model.hosts.wire.messages import (
    API_VERSIONS,
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
from model.hosts.wire.names import error_name
from model.hosts.wire.security import PLAINTEXT, Security, Steps

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
        try:
            async with asyncio.timeout(timeout_s):
                await write_frame(self._writer, header, body)
                return await answer
        except TimeoutError:
            reason = UnavailableError(f"no response to {name_of(key)} within {timeout_s:g} s")
        except OSError as error:
            reason = UnavailableError(str(error))
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

    async def _log_in(self, mechanism: str, steps: Steps, address: str, timeout_s: float) -> None:
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

        await ask(SASL_HANDSHAKE, "SaslHandshakeRequest", mechanism=mechanism)
        try:
            while not steps.is_done():
                response = await ask(SASL_AUTHENTICATE, "SaslAuthenticateRequest", auth_bytes=steps.auth_bytes())
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


def _broken(error: OSError, address: str, *, in_handshake: bool = False) -> WireError:
    kind = DeniedError if is_refused_for_good(error) else UnavailableError
    why = tls_refusal(error, address, in_handshake=in_handshake)
    return kind(why or f"{address}: {str(error) or 'no connection in time'}")


def _decode(frame: bytes, key: int, version: int) -> Entity:
    if key == API_VERSIONS and len(frame) >= 6 and frame[4:6] == b"\0\x23":
        # A broker that does not know the version asked with answers UNSUPPORTED_VERSION (35), in version 0 (KIP-511).
        version = 0
    return decode_response(frame, key, version)[1]


def _key_of(request: Entity | Encoded) -> tuple[int, int]:
    if isinstance(request, Encoded):
        return request.api_key, request.version
    return request.__api_key__, request.__version__


def _api_versions(version: int) -> Entity:
    shape = shapes(API_VERSIONS, version, "request").ApiVersionsRequest
    return shaped(shape, client_software_name="kdrill", client_software_version="1")
