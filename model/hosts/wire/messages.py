"""Requests and responses as bytes and back: headers, and bodies by the schemas of `kio`, in any version it knows.

A body whose bytes are at hand already (`Encoded`) goes out as it is. Nothing is sent here.
"""

import struct
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import ModuleType
from typing import Any, Final, cast

import msgspec
from kio.index import load_payload_module, load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

from model.hosts.wire import later_versions, vote_v2
from model.hosts.wire.codec import reader, writer
from model.hosts.wire.fields import Entity
from model.hosts.wire.names import MalformedError

API_VERSIONS_KEY = 18
_VOTE = 52
_START = struct.Struct(">hhi")
_CORRELATION = struct.Struct(">i")
_TYPES = {"request": EntityType.request, "response": EntityType.response}
_LATER: Final[Mapping[tuple[int, int], tuple[type[Entity], type[Entity]]]] = {
    (1, 18): (later_versions.FetchRequest, later_versions.FetchResponse),
    (52, 2): (vote_v2.VoteRequest, vote_v2.VoteResponse),
    (63, 2): (later_versions.BrokerHeartbeatRequest, later_versions.BrokerHeartbeatResponse),
    (60, 2): (later_versions.DescribeClusterRequest, later_versions.DescribeClusterResponse),
    (80, 1): (later_versions.AddRaftVoterRequest, later_versions.AddRaftVoterResponse),
}
"""Versions that `kio` does not have: API and version → the classes of its request and of its response."""

_SAME_AS = {(77, 1): 0}
"""API and version that `kio` does not have → the version that has the same fields.

Source: `ShareGroupDescribeRequest.json` and `…Response.json` (4.4): version 0 was that of 4.0, 4.1 knows 1 alone.
"""


class RequestStart(msgspec.Struct, frozen=True):
    """The fields that every request of every version starts with."""

    api_key: int
    version: int
    correlation_id: int


class Encoded(msgspec.Struct, frozen=True):
    """A request's body as bytes."""

    api_key: int
    version: int
    body: bytes


@cache
def versions_known(api_key: int) -> tuple[int, int]:
    """The lowest and highest version of an API that can be written down here. Raises KeyError for an unknown one."""
    versions = schema_name_map[api_key_map[api_key]]
    return min(versions), max({*versions, *(version for key, version in _LATER if key == api_key)})


@cache
def shapes(api_key: int, version: int, kind: str) -> ModuleType:
    """The classes of one version of a `request` or `response`, nested ones included, by `kio`'s names."""
    if (api_key, version) in _LATER:
        return vote_v2 if api_key == _VOTE else later_versions
    return load_payload_module(api_key, version, _TYPES[kind])  # pyright: ignore[reportArgumentType]


def later_version(api_key: int, theirs: tuple[int, int] | None) -> int | None:
    """The version of theirs that looks like one that can be written down here, and has to be sent as `Encoded`."""
    low, high = theirs or (0, -1)
    return max((version for key, version in _SAME_AS if key == api_key and low <= version <= high), default=None)


def shaped(shape: type[Entity], **values: object) -> Entity:
    """An entity with those of the values that this version of it knows. Raises TypeError where one is missing."""
    known = _names(shape)
    if known.issuperset(values):
        return shape(**values)
    return shape(**{name: value for name, value in values.items() if name in known})


def encode_request(body: Entity | Encoded, correlation_id: int, client_id: str | None) -> tuple[bytes, bytes]:
    """A request's header and body."""
    if isinstance(body, Encoded):
        schema: Any = request_schema(body.api_key, _SAME_AS.get((body.api_key, body.version), body.version))
        return _request_header(schema, correlation_id, client_id, body.version), body.body
    return _request_header(type(body), correlation_id, client_id), encode(body)


def encode_response(body: Entity, correlation_id: int) -> list[bytes]:
    """The pieces of a response, header first: large records are not copied."""
    return [*_parts(body.__header_schema__(correlation_id=correlation_id)), *_parts(body)]


def encode(entity: Entity) -> bytes:
    """The bytes of an entity alone. Raises as `Write` does for values that do not fit."""
    return b"".join(_parts(entity))


def _parts(entity: Entity) -> list[bytes]:
    parts: list[bytes] = []
    writer(cast(Any, type(entity)))(parts.append, entity)
    return parts


def request_start(frame: bytes) -> RequestStart:
    """What a request is. Raises MalformedError."""
    if len(frame) < _START.size:
        raise MalformedError(f"a request of {len(frame)} bytes")
    return RequestStart(*_START.unpack_from(frame))


def check_header(frame: bytes) -> None:
    """Of a request of a version that nobody knows: it has that of the nearest. Raises MalformedError."""
    start = request_start(frame)
    lowest, highest = versions_known(start.api_key)
    nearest = min(max(start.version, lowest), highest)
    try:
        reader(request_schema(start.api_key, nearest).__header_schema__)(frame, 0)
    except Exception as error:
        raise MalformedError(f"{_named(start)} has no header ({_one_line(error)})") from error


def decode_request(frame: bytes) -> Entity:
    """A request's body. Raises MalformedError, also for a version that nobody knows.

    Bytes behind it are ignored, as Kafka does: librdkafka leaves three behind some Metadata requests.
    """
    start = request_start(frame)
    try:
        schema: Any = request_schema(start.api_key, start.version)
        _, offset = reader(schema.__header_schema__)(frame, 0)
        return reader(schema)(frame, offset)[0]
    except Exception as error:  # a schema applied to garbage fails in every way there is
        raise MalformedError(f"{_named(start)} is garbled ({_one_line(error)})") from error


def decode_response(frame: bytes, api_key: int, version: int) -> tuple[int, Entity]:
    """A response's correlation id and body. Raises MalformedError."""
    try:
        schema: Any = response_schema(api_key, _SAME_AS.get((api_key, version), version))
        header, offset = reader(schema.__header_schema__)(frame, 0)
        entity, end = reader(schema)(frame, offset)
    except Exception as error:
        start = RequestStart(api_key, version, 0)
        raise MalformedError(f"the response to {_named(start)} is garbled ({_one_line(error)})") from error
    if end != len(frame):
        raise MalformedError(f"{len(frame) - end} bytes are left behind a {schema.__name__}")
    return header.correlation_id, entity


def correlation_id(frame: bytes) -> int:
    """Which request a response answers. Raises MalformedError."""
    if len(frame) < _CORRELATION.size:
        raise MalformedError(f"a response of {len(frame)} bytes")
    return int(_CORRELATION.unpack_from(frame)[0])


def name_of(api_key: int) -> str:
    """An API's name, or its number where it has none."""
    return api_key_map.get(api_key, f"API {api_key}")


def _request_header(schema: Any, correlation_id: int, client_id: str | None, version: int | None = None) -> bytes:
    header = schema.__header_schema__
    values: dict[str, object] = {
        "request_api_key": schema.__api_key__,
        "request_api_version": schema.__version__ if version is None else version,
        "correlation_id": correlation_id,
        "client_id": client_id,
    }
    return encode(shaped(header, **values))


@cache
def request_schema(api_key: int, version: int) -> type[Entity]:
    """The class of a request's body. Raises LookupError for a version that cannot be written down here."""
    later = _LATER.get((api_key, version))
    return later[0] if later else load_request_schema(api_key, version)


@cache
def response_schema(api_key: int, version: int) -> type[Entity]:
    """The class of a response's body. Raises as `request_schema` does."""
    later = _LATER.get((api_key, version))
    return later[1] if later else load_response_schema(api_key, version)


@cache
def _names(shape: type[Entity]) -> frozenset[str]:
    return frozenset(field.name for field in fields(shape))


def _named(start: RequestStart) -> str:
    return f"{name_of(start.api_key)} v{start.version}"


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
