"""The value of one record of the metadata log → its type, version and fields; secrets are dropped on the way.

Nothing is fatal here: what this program does not know (a type, a version, a frame) comes back as the bytes it is, with
the reason; unknown tags come beside the fields. Batches, offsets and what records mean are others' business.

Frame: uvarint frame version 1, uvarint api key, uvarint record version, message (`AbstractApiMessageSerde`, 4.4).
Messages have the flexible encoding in all versions (KIP-482). Reasons that Kafka's reader has, too, are in its words.
"""

import base64
import re
import struct
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import msgspec

from model.cluster.texts import HIDDEN, is_sensitive_name
from model.metadata_log.schemas import CONTROL_RECORDS, RECORDS, Field, Schema

Value = bool | int | float | str | bytes | list["Value"] | dict[str, "Value"] | None
"""A field's. A uuid is the text that Kafka prints: base64url without padding."""
Fields = Mapping[str, Value]
"""By the name that Kafka's JSON has, `brokerId`. Absent: this version has no such field, or it is as by default."""

FRAME_VERSION: Final = 1


class Decoded(msgspec.Struct, frozen=True):
    """A record that could be read."""

    schema: Schema
    version: int
    fields: Fields
    unknown_tags: tuple[tuple[int, bytes], ...] = ()
    """Tag and content of the fields that this program does not know, in the record itself or within."""


class Undecoded(msgspec.Struct, frozen=True):
    """A record that could not be; `key` and `version` -1: not even that much is known."""

    data: bytes
    reason: str
    key: int = -1
    version: int = -1


def decode(value: bytes | None, *, with_secrets: bool = False) -> Decoded | Undecoded:
    """What a record says. Never raises.

    Credentials are emptied and sensitive settings replaced, unless they are asked for. Token ids are no secrets.
    """
    if value is None:
        return Undecoded(b"", "no value")
    key = version = -1
    try:
        frame, at = _uvarint(value, 0)
        if frame != FRAME_VERSION:
            raise _MisfitError(
                f"Could not deserialize metadata record due to unknown frame version {frame}"
                f"(only frame version {FRAME_VERSION} is supported)"
            )
        key, at = _uvarint(value, at)
        version, at = _uvarint(value, at)
        return _message(_READERS, (key, version), value, at, with_secrets=with_secrets)
    except _MisfitError as error:
        return Undecoded(value, str(error), key, version)


def decode_control(kind: int, value: bytes | None) -> Decoded | Undecoded:
    """What a control record of this type says (`ControlRecordType`): who leads, who votes. Never raises."""
    data = value or b""
    version = int.from_bytes(data[:2], "big", signed=True) if len(data) >= 2 else -1
    try:
        return _message(_CONTROL_READERS, (kind, version), data, 0, with_secrets=True)
    except _MisfitError as error:
        return Undecoded(data, str(error), kind, version)


def as_json(fields: Fields) -> dict[str, Any]:
    """The same as JSON has it: bytes in base64."""
    return {name: _json(value) for name, value in fields.items()}


def _json(value: Value) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list):
        return [_json(each) for each in value]
    return as_json(value) if isinstance(value, dict) else value


_SURROGATES = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def java_text(data: bytes) -> str:
    """UTF-8 with U+FFFD for what is malformed, as `new String(bytes, UTF_8)` puts it.

    Java's rule differs from Python's for encoded surrogates only: one mark for all of their bytes.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _SURROGATES.sub(b"\xff", data).decode(errors="replace")


class _MisfitError(ValueError):
    """Bytes that are not what the table says; the message says why."""


def _message(
    readers: "_Readers", named: tuple[int, int], data: bytes, at: int, *, with_secrets: bool
) -> Decoded | Undecoded:
    reader = readers.get(named)
    if reader is None:
        raise _MisfitError(_unknown(readers, *named))
    unknown: list[tuple[int, bytes]] = []
    fields, at = reader.read(data, at, unknown)
    if at != len(data):
        raise _MisfitError(f"Found {len(data) - at} byte(s) of garbage after {reader.schema.name}")
    if not with_secrets:
        fields = {**fields, **{name: drop(fields) for name, drop in _SECRETS.get(named[0], {}).items()}}
    return Decoded(reader.schema, named[1], fields, tuple(unknown))


def _unknown(readers: "_Readers", key: int, version: int) -> str:
    known = readers.get((key, 0))
    return f"Can't read version {version} of {known.schema.name}" if known else f"Unknown metadata id {key}"


_SECRETS: Final[Mapping[int, Mapping[str, Callable[[Fields], Value]]]] = {
    4: {"value": lambda fields: HIDDEN if is_sensitive_name(str(fields["name"])) else fields["value"]},
    11: dict.fromkeys(("salt", "storedKey", "serverKey"), lambda _: b""),
}
"""Of ConfigRecord and UserScramCredentialRecord: what stands there afterwards."""

_Read = Callable[[bytes, int, list[tuple[int, bytes]]], tuple[Any, int]]
"""Reads at a place of some bytes, and tells the place behind. Unknown tags go to the list. Raises _MisfitError."""


def _uvarint(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned number of at most 32 bits."""
    if at < len(data) and data[at] < 0x80:  # as a rule
        return data[at], at + 1
    raw = shift = 0
    for place in range(at, min(at + 5, len(data))):
        byte = data[place]
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            return raw & 0xFFFFFFFF, place + 1
        shift += 7
    raise _MisfitError("a number runs past the end" if len(data) - at < 5 else "a number is longer than 5 bytes")


def _taken(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    end = at + size
    if end > len(data):
        raise _MisfitError(f"Error reading byte array of {size} byte(s): only {len(data) - at} byte(s) available")
    return data[at:end], end


def _length(field: Field, data: bytes, at: int) -> tuple[int, int]:
    """Of a string, bytes or an array; -1 for null."""
    raw, at = _uvarint(data, at)
    if not raw and not field.nullable:
        raise _MisfitError(f"non-nullable field {field.json_name} was serialized as null")
    return raw - 1, at


def _number(shape: struct.Struct, data: bytes, at: int, _: object) -> tuple[Any, int]:
    try:
        return shape.unpack_from(data, at)[0], at + shape.size
    except struct.error:
        raise _MisfitError(f"{shape.size} bytes were due, {max(len(data) - at, 0)} are left") from None


def _boolean(data: bytes, at: int, _: object) -> tuple[bool, int]:
    (byte,), at = _taken(data, at, 1)
    return byte != 0, at


def _uuid(data: bytes, at: int, _: object) -> tuple[str, int]:
    raw, at = _taken(data, at, 16)
    return uuid_text(raw), at


def uuid_text(raw: bytes) -> str:
    """As Kafka prints it."""
    return b2a_base64(raw)[:22].translate(_URL_SAFE).decode()


def uuid_texts(raw: bytes) -> list[str]:
    """Many of them, 16 bytes each."""
    # Groups of three bytes are four characters: with two bytes more, each begins a group.
    apart = b"\0\0".join([raw[at : at + 16] for at in range(0, len(raw), 16)])
    text = b2a_base64(apart, newline=False).translate(_URL_SAFE).decode()
    return [text[at : at + 22] for at in range(0, len(text), 24)]


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _string(field: Field, data: bytes, at: int, _: object) -> tuple[str | None, int]:
    size, at = _length(field, data, at)
    if size < 0:
        return None, at
    if size > 0x7FFF:
        raise _MisfitError(f"string field {field.json_name} had invalid length {size}")
    raw, at = _taken(data, at, size)
    return java_text(raw), at


def _bytes(field: Field, data: bytes, at: int, _: object) -> tuple[bytes | None, int]:
    size, at = _length(field, data, at)
    return (None, at) if size < 0 else _taken(data, at, size)


def _array(field: Field, read: _Read, data: bytes, at: int, unknown: list[tuple[int, bytes]]) -> tuple[Any, int]:
    count, at = _length(field, data, at)
    if count < 0:
        return None, at
    if count > len(data) - at:  # each takes a byte at least
        raise _MisfitError(
            f"Tried to allocate a collection of size {count}, but there are only {len(data) - at} bytes remaining."
        )
    found: list[Any] = []
    for _ in range(count):
        element, at = read(data, at, unknown)
        found.append(element)
    return found, at


def _array_of_fixed(field: Field, size: int, data: bytes, at: int, _: object) -> tuple[Any, int]:
    """Of numbers or uuids: all at once."""
    count, at = _length(field, data, at)
    if count <= 0:
        return (None if count < 0 else []), at
    end = at + count * size
    if end > len(data):
        raise _MisfitError(
            f"Tried to allocate a collection of size {count}, but there are only {len(data) - at} bytes remaining."
        )
    if field.type == "uuid":
        return [uuid_text(data[place : place + size]) for place in range(at, end, size)], end
    return [*struct.unpack_from(f">{count}{_SHAPES[field.type].format[1:]}", data, at)], end


def _structure(
    order: tuple[str, ...],
    plain: tuple[tuple[str, _Read], ...],
    tagged: Mapping[int, tuple[str, _Read, object]],
    data: bytes,
    at: int,
    unknown: list[tuple[int, bytes]],
) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    for name, read in plain:
        found[name], at = read(data, at, unknown)
    if at < len(data) and not data[at]:  # as a rule there are none
        return found, at + 1
    count, at = _uvarint(data, at)
    for _ in range(count):
        tag, at = _uvarint(data, at)
        size, at = _uvarint(data, at)
        if tag not in tagged:
            content, at = _taken(data, at, size)
            unknown.append((tag, content))
            continue
        name, read, default = tagged[tag]
        found[name], at = read(data, at, unknown)
        if found[name] == default:
            del found[name]
    return {name: found[name] for name in order if name in found}, at


_SHAPES: Final = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "int32": struct.Struct(">i"),
    "int64": struct.Struct(">q"),
    "uint16": struct.Struct(">H"),
    "float64": struct.Struct(">d"),
}


def _reader_of(field: Field, version: int) -> _Read:
    read: _Read
    match field.type:
        case "struct":
            read = _structure_of(field.fields, version)
        case "string" | "bytes":
            # null is about the array where there is one
            element = msgspec.structs.replace(field, nullable=field.nullable and not field.is_array)
            read = partial(_string if field.type == "string" else _bytes, element)
        case "bool":
            read = _boolean
        case "uuid":
            read = _uuid
        case _:
            read = partial(_number, _SHAPES[field.type])
    if not field.is_array:
        return read
    fixed = 16 if field.type == "uuid" else _SHAPES[field.type].size if field.type in _SHAPES else 0
    return partial(_array_of_fixed, field, fixed) if fixed else partial(_array, field, read)


def _structure_of(fields: tuple[Field, ...], version: int) -> _Read:
    there = [field for field in fields if field.first <= version <= field.last]
    plain = tuple((field.json_name, _reader_of(field, version)) for field in there if field.tag < 0)
    tagged = {
        field.tag: (field.json_name, _reader_of(field, version), field.left_out) for field in there if field.tag >= 0
    }
    return partial(_structure, tuple(field.json_name for field in there), plain, tagged)


class _Known(msgspec.Struct, frozen=True):
    """A record in one version."""

    schema: Schema
    read: _Read


_Readers = Mapping[tuple[int, int], _Known]
"""By key and version."""


def _readers(schemas: tuple[Schema, ...]) -> _Readers:
    return MappingProxyType(
        {
            (schema.key, version): _Known(schema, _structure_of(schema.fields, version))
            for schema in schemas
            for version in range(schema.newest + 1)
        }
    )


_READERS: Final = _readers(RECORDS)
_CONTROL_READERS: Final = _readers(CONTROL_RECORDS)
