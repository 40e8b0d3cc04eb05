"""Fields of entities of `kio.schema`: what they hold, and numbers, lengths, strings and bytes as they are on the wire.

Null where the schema allows none and negative lengths are taken as by the classes that Kafka 3.9 generates
(`org.apache.kafka.common.message`). What an entity as a whole looks like is not known here.
"""

import dataclasses
import struct
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, cast
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.serial.readers import tz_aware_from_i64

from model.hosts.wire.names import MalformedError

Entity = Any
"""A frozen dataclass of `kio.schema`. Which one depends on the version, so nothing more can be said here."""
Read = Callable[[bytes, int], tuple[Any, int]]
"""What begins at a place, and the place behind it. Raises ValueError, LookupError, struct.error or MalformedError."""
Add = Callable[[bytes], None]
Write = Callable[[Add, Any], None]
"""Adds the bytes of a value. Raises ValueError, TypeError, AttributeError or struct.error where it does not fit."""


class WireField(NamedTuple):
    """`kind` is Kafka's type, empty for an entity of `shape`; `default` is what a tag that is left out stands for."""

    name: str
    kind: str
    shape: type[Entity] | None
    is_array: bool
    is_nullable: bool
    is_flexible: bool
    tag: int | None
    default: object


@cache
def fields_of(shape: type[Entity]) -> tuple[WireField, ...]:
    """In the order of the schema."""
    hints = typing.get_type_hints(shape)
    return tuple(_field(shape, field, hints[field.name]) for field in dataclasses.fields(shape))


def _field(shape: type[Entity], field: dataclasses.Field[Any], hint: Any) -> WireField:
    hint, is_nullable = _unwrapped(hint)
    is_array = typing.get_origin(hint) is tuple
    inner = _unwrapped(typing.get_args(hint)[0])[0] if is_array else hint
    tag = cast("int | None", field.metadata.get("tag"))
    return WireField(
        field.name,
        field.metadata.get("kafka_type", ""),
        cast(Any, inner) if dataclasses.is_dataclass(inner) else None,
        is_array,
        is_nullable and tag is None,
        shape.__flexible__ and (shape.__name__, field.name) != ("RequestHeader", "client_id"),
        tag,
        _left_out(cast(Any, inner)) if field.default is dataclasses.MISSING and tag is not None else field.default,
    )


def _unwrapped(hint: Any) -> tuple[Any, bool]:
    """Without `| None`, and whether it was there."""
    if not isinstance(hint, types.UnionType):
        return hint, False
    return next(each for each in typing.get_args(hint) if each is not type(None)), True


def _left_out(shape: type[Entity]) -> Entity:
    """What the schemas leave without a default are entities of numbers."""
    unset = (field.name for field in dataclasses.fields(shape) if field.default is dataclasses.MISSING)
    return shape(**dict.fromkeys(unset, 0))


class _Fixed(NamedTuple):
    """A type of fixed width: its code in `struct`, and how its number is made of a value and back."""

    code: str
    read: str = "{}"
    write: str = "{}"


_NO_UUID = bytes(16)
FIXED: Mapping[str, _Fixed] = {
    "bool": _Fixed("?"),
    "int8": _Fixed("b"),
    "int16": _Fixed("h"),
    "int32": _Fixed("i"),
    "int64": _Fixed("q"),
    "uint8": _Fixed("B"),
    "uint16": _Fixed("H"),
    "uint32": _Fixed("I"),
    "uint64": _Fixed("Q"),
    "float64": _Fixed("d"),
    "error_code": _Fixed("h", "error_codes[{}]", "{}.value"),
    "timedelta_i32": _Fixed("i", "timedelta(0, 0, 0, {})", "round({}.total_seconds() * 1000)"),
    "timedelta_i64": _Fixed("q", "timedelta(0, 0, 0, {})", "round({}.total_seconds() * 1000)"),
    "datetime_i64": _Fixed("q", "time_at({})", "ms_of({})"),
    "uuid": _Fixed("16s", "uuid_of({})", "uuid_bytes({})"),
}
ERROR_CODES: Mapping[int, ErrorCode] = {code.value: code for code in ErrorCode}


def time_at(ms: int) -> datetime | None:
    """-1: none."""
    return None if ms == -1 else tz_aware_from_i64(cast(Any, ms))


def ms_of(time: datetime | None) -> int:
    """The other way."""
    return -1 if time is None else round(time.timestamp() * 1000)


def uuid_of(data: bytes) -> UUID | None:
    """All zeros: none."""
    return None if data == _NO_UUID else UUID(bytes=data)


def uuid_bytes(value: UUID | None) -> bytes:
    """The other way."""
    return _NO_UUID if value is None else value.bytes


# Numbers of variable length and what is counted by them.

_ONE_BYTE = tuple(bytes([number]) for number in range(128))
_LONGEST = 5


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Raises IndexError and ValueError."""
    number = 0
    for place in range(_LONGEST):
        byte = data[at + place]
        number |= (byte & 127) << 7 * place
        if byte < 128:
            return number, at + place + 1
    raise ValueError(f"a number of more than {_LONGEST} bytes")


def varint_bytes(number: int) -> bytes:
    """A number of 0 or more, seven bits a byte."""
    if number < 128:
        return _ONE_BYTE[number]
    rest, place = number, bytearray()
    while rest > 127:
        place.append(rest & 127 | 128)
        rest >>= 7
    place.append(rest)
    return bytes(place)


class _Length(NamedTuple):
    """How a length is read (below 0: null) and written (None: null)."""

    read: Callable[[bytes, int], tuple[int, int]]
    write: Callable[[int | None], bytes]


def _compact() -> _Length:
    def read(data: bytes, at: int) -> tuple[int, int]:
        number, at = (data[at], at + 1) if data[at] < 128 else read_varint(data, at)
        return (number + 2**31) % 2**32 - 2**31 - 1, at  # of 32 bits, as in Java

    def write(length: int | None) -> bytes:
        return varint_bytes(0 if length is None else length + 1)

    return _Length(read, write)


def _legacy(code: str) -> _Length:
    form = struct.Struct(f">{code}")
    unpack, pack, size = form.unpack_from, form.pack, form.size

    def read(data: bytes, at: int) -> tuple[int, int]:
        return unpack(data, at)[0], at + size

    def write(length: int | None) -> bytes:
        return pack(-1 if length is None else length)

    return _Length(read, write)


_COMPACT, _SHORT, _LONG = _compact(), _legacy("h"), _legacy("i")


def length_of(field: WireField) -> _Length:
    """How the length of a string, of bytes or of an array is on the wire."""
    if field.is_flexible:
        return _COMPACT
    return _SHORT if field.kind == "string" and not field.is_array else _LONG


def reads_bytes(field: WireField) -> Read:
    """Of a string or of bytes."""
    is_text, is_nullable, name, read_length = (
        field.kind == "string",
        field.is_nullable,
        field.name,
        length_of(field).read,
    )

    def read(data: bytes, at: int) -> tuple[Any, int]:
        size, at = read_length(data, at)
        if size < 0:
            if is_nullable:
                return None, at
            raise MalformedError(f"{name} is null")
        end = at + size
        if end > len(data):
            raise ValueError(f"{name} ends after {len(data) - at} bytes of {size}")
        return (data[at:end].decode(errors="replace") if is_text else data[at:end]), end

    return read


def writes_bytes(field: WireField) -> Write:
    """Of a string or of bytes."""
    is_nullable, name, length_bytes = field.is_nullable, field.name, length_of(field).write

    def write(add: Add, value: str | bytes | None) -> None:
        if value is None:
            if not is_nullable:
                raise TypeError(f"{name} is null")
            add(length_bytes(None))
            return
        data = value.encode() if isinstance(value, str) else value
        add(length_bytes(len(data)))
        add(data)

    return write
