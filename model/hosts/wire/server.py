"""A small server: accepts connections, and for each takes one request after the other to whoever answers that API.

ApiVersions is answered from the table of APIs, so that what is announced is what is served. What a request means is not
known here. Who fails at a request does not cost the client its connection: it gets UNKNOWN_SERVER_ERROR in the layout
of its API.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

from kio.schema.errors import ErrorCode
from kio.static.primitive import i32Timedelta

from model.hosts.wire.error_responses import error_response
from model.hosts.wire.fields import Entity
from model.hosts.wire.frames import Inflow, Intake, ServerLimits, write_frame
from model.hosts.wire.messages import (
    API_VERSIONS_KEY,
    RequestStart,
    check_header,
    decode_request,
    encode_response,
    name_of,
    request_start,
    shaped,
    shapes,
)
from model.hosts.wire.names import MalformedError, UnavailableError, WireError

FAREWELL_S = 2.0
FIRST_WITH_NAMES = 3
"""ApiVersions from here on says what the client is (KIP-511)."""
_CLIENT_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
NOT_THROTTLED = i32Timedelta.resolution * 0
_LOGGER = logging.getLogger(__name__)


class Request:
    """A request of a version that is served. `body` is decoded when first asked for, and may raise MalformedError.

    `listener` is the name of the listener that it came through.
    """

    def __init__(self, start: RequestStart, frame: bytes, peer: str, listener: str) -> None:
        self.start = start
        self.frame = frame
        self.peer = peer
        self.listener = listener
        self.spent_ns = 0
        """How long was worked on it, if that is measured."""
        self.mute_ms = 0
        """How long its connection is not read from, after the answer."""

    @cached_property
    def client_id(self) -> str:
        """What the client calls itself; empty if it does not."""
        length = int.from_bytes(self.frame[8:10], "big", signed=True)
        return self.frame[10 : 10 + max(length, 0)].decode(errors="replace")

    @cached_property
    def body(self) -> Entity:
        """The request as an entity of `kio.schema`."""
        return decode_request(self.frame)

    def answer(self, name: str, **values: object) -> Entity:
        """The response of this request's version, the class of that name, from the values that the version knows."""
        return shaped(self.shape(name), throttle_time=NOT_THROTTLED, **values)

    def shape(self, name: str) -> type[Entity]:
        """A class nested in the response of this request's version."""
        return getattr(shapes(self.start.api_key, self.start.version, "response"), name)


Answers = Callable[[Request], Awaitable[Entity | None]]
"""Answers requests of one API. None: this request gets no response (Produce with acks=0).

Raises WireError where nothing but the end of the connection tells the client. Whatever else it raises is a failure of
ours: the client gets the API's error response.
"""


class Api(NamedTuple):
    """The versions of an API that are served, and by whom.

    `until_gone`: nobody misses an answer whose client hung up, so it is given up, which may be at any `await`.
    """

    lowest: int
    highest: int
    answer: Answers
    until_gone: bool = False


class Features(NamedTuple):
    """What ApiVersions tells of features (KIP-584): levels that are known here, and those that hold in the cluster."""

    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]
    epoch: int = -1


NO_FEATURES: Final = Features({}, {})
Paces = Callable[[Request, Answers], Awaitable[Entity | None]]
"""Lets a request be answered, and says in `mute_ms` for how long its connection is not read from then."""


class Server:
    """Listens from `start` to `close`. `pace` may slow clients down. Before `opens` whoever connects waits."""

    def __init__(
        self,
        apis: Mapping[int, Api],
        *,
        listener: str = "PLAINTEXT",
        limits: ServerLimits | None = None,
        pace: Paces | None = None,
        features: Callable[[], Features] = lambda: NO_FEATURES,
        opens: asyncio.Event | None = None,
    ) -> None:
        self._features = features
        self._opens = opens
        self._pace = pace
        self._listener = listener
        self._apis = {**apis, API_VERSIONS_KEY: Api(0, 4, self._api_versions)}
        self._limits = limits or ServerLimits()
        self._intake = Intake(self._limits)
        self._connections: set[asyncio.Task[None]] = set()
        self._is_full = False
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; port 0 lets the system choose. Returns the port. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocol, host, port)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        inflow = Inflow(self._intake)
        return asyncio.StreamReaderProtocol(inflow, lambda _, writer: self._accept(inflow, writer))

    async def _accept(self, inflow: Inflow, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        peer = "{}:{}".format(*(writer.get_extra_info("peername") or ("?", "?"))[:2])
        if self._has_place(peer):
            self._connections.add(task)
            await self._attend(inflow, writer, peer)
            self._connections.discard(task)
        inflow.close()
        await self._hang_up(writer)

    def _has_place(self, peer: str) -> bool:
        was_full, self._is_full = self._is_full, len(self._connections) >= self._limits.most_connections
        if self._is_full and not was_full:
            most = self._limits.most_connections
            _LOGGER.warning("closing the connection of %s, and whoever comes: there are %d already", peer, most)
        return not self._is_full

    async def _attend(self, inflow: Inflow, writer: asyncio.StreamWriter, peer: str) -> None:
        try:
            await self._serve(inflow, writer, peer)
        except WireError as error:
            _LOGGER.warning("closing the connection of %s: %s", peer, error)
        except (OSError, asyncio.CancelledError):
            pass  # it went away, or we do
        except Exception:
            _LOGGER.exception("closing the connection of %s: a request could not be answered", peer)

    async def _serve(self, inflow: Inflow, writer: asyncio.StreamWriter, peer: str) -> None:
        if self._opens is not None:
            await self._opens.wait()
        while (frame := await inflow.next_frame()) is not None:
            start = request_start(frame)
            request = Request(start, frame, peer, self._listener)
            response = await self._answer(request, inflow)
            if response is not None:
                await self._send(writer, *encode_response(response, start.correlation_id))
            if request.mute_ms or inflow.has_more:  # others' turn, even if this client's next requests are here
                await asyncio.sleep(request.mute_ms / 1000)

    async def _send(self, writer: asyncio.StreamWriter, *parts: bytes) -> None:
        try:
            await write_frame(writer, *parts, patience_s=self._limits.idle_s)
        except TimeoutError:
            size, most_s = sum(map(len, parts)), self._limits.idle_s
            raise UnavailableError(f"an answer of {size} bytes was not taken within {most_s:g} s") from None

    async def _hang_up(self, writer: asyncio.StreamWriter) -> None:
        """What the client does not take soon is lost, or it could keep the connection open for ever."""
        writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            async with asyncio.timeout(FAREWELL_S):
                await writer.wait_closed()
        writer.transport.abort()

    async def _answer(self, request: Request, inflow: Inflow) -> Entity | None:
        start = request.start
        api = self._apis.get(start.api_key)
        if api is not None and api.lowest <= start.version <= api.highest:
            try:
                with inflow.cancels_at_end() if api.until_gone else contextlib.nullcontext():
                    return await (api.answer(request) if self._pace is None else self._pace(request, api.answer))
            except WireError:
                raise
            except Exception as error:
                _LOGGER.exception("%s", failure_line(start, request.peer, error))
            return await (_failed(request) if self._pace is None else self._pace(request, _failed))
        if start.api_key == API_VERSIONS_KEY:
            check_header(request.frame)
            return _versions(0, {API_VERSIONS_KEY: self._apis[API_VERSIONS_KEY]}, ErrorCode.unsupported_version)
        raise MalformedError(f"{name_of(start.api_key)} v{start.version} is not served here")

    async def _api_versions(self, request: Request) -> Entity:
        body = request.body
        names = (getattr(body, "client_software_name", "-"), getattr(body, "client_software_version", "-"))
        if request.start.version >= FIRST_WITH_NAMES and not all(map(_CLIENT_NAME.fullmatch, names)):
            return _versions(request.start.version, {}, ErrorCode.invalid_request)
        return _versions(request.start.version, self._apis, features=self._features())


def failure_line(start: RequestStart, peer: str, error: Exception) -> str:
    """What the log says, before the traceback."""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{name_of(start.api_key)} v{start.version} of {peer} failed here: {what}"


async def _failed(request: Request) -> Entity:
    answer = error_response(request.start, request.body)
    if answer is None:
        raise WireError(f"{name_of(request.start.api_key)} failed, and gets no answer that could say so")
    return answer


def _versions(
    version: int, apis: Mapping[int, Api], error: ErrorCode = ErrorCode.none, features: Features = NO_FEATURES
) -> Entity:
    """The ranges of these APIs. An unknown version of ApiVersions is answered in version 0 with its own (KIP-511)."""
    module = shapes(API_VERSIONS_KEY, version, "response")
    keys = tuple(
        module.ApiVersion(api_key=key, min_version=api.lowest, max_version=api.highest)
        for key, api in sorted(apis.items())
    )
    values: dict[str, object] = {"error_code": error, "api_keys": keys, "throttle_time": NOT_THROTTLED}
    if hasattr(module, "SupportedFeatureKey"):
        values.update(_told_features(module, version, features))
    return shaped(module.ApiVersionsResponse, **values)


def _told_features(module: Any, version: int, told: Features) -> Mapping[str, object]:
    """Before version 4 without features whose levels begin at 0 (KAFKA-17011)."""
    supported = tuple(
        module.SupportedFeatureKey(name=name, min_version=low, max_version=high)
        for name, (low, high) in told.supported.items()
        if low or version >= 4
    )
    shape = module.FinalizedFeatureKey
    levels = tuple(shape(name=name, max_version_level=at, min_version_level=at) for name, at in told.finalized.items())
    return {"supported_features": supported, "finalized_features": levels, "finalized_features_epoch": told.epoch}
