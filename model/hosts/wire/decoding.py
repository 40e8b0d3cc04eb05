"""Entities of `kio.schema` from bytes, as Kafka's own classes read them; `kio` reads what well-behaved peers send.

Lengths below zero are null, and refused where nothing may be null; no array is longer than the bytes that are left;
tags that are not known are passed over (KIP-482); bytes that are no UTF-8 become replacement characters. Kafka 3.9.1:
`MessageDataGenerator`, `ByteBufferAccessor`.
"""

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from kio.serial import readers

from model.hosts.wire.names import MalformedError

Reader = Callable[[bytes, int], tuple[Any, int]]
"""Reads a value at an offset; returns it and its size. Raises MalformedError and what `kio` raises."""
_FIXED: Mapping[str, Any] = MappingProxyType(
    {
        "bool": readers.read_boolean,
        "datetime_i64": readers.read_datetime_i64,
        "error_code": readers.read_error_code,
        "float64": readers.read_float64,
        "int8": readers.read_int8,
        "int16": readers.read_int16,
        "int32": readers.read_int32,
        "int64": readers.read_int64,
        "timedelta_i32": readers.read_timedelta_i32,
        "timedelta_i64": readers.read_timedelta_i64,
        "uint8": readers.read_uint8,
        "uint16": readers.read_uint16,
        "uint32": readers.read_uint32,
        "uint64": readers.read_uint64,
        "uuid": readers.read_uuid,
    }
)


def _compact_length(data: bytes, at: int) -> tuple[int, int]:
    value, size = readers.read_unsigned_varint(data, at)
    return (value + 2**31) % 2**32 - 2**31 - 1, size


def _content(name: str, length_of: Any, is_nullable: bool) -> Reader:
    def read(data: bytes, at: int) -> tuple[bytes | None, int]:
        length, size = length_of(data, at)
        if length < 0:
            return _null(name, is_nullable), size
        end = at + size + length
        if end > len(data):
            raise MalformedError(f"{name} has {length} bytes where {len(data) - at - size} are left")
        return data[at + size : end], size + length

    return read


def _null(name: str, is_nullable: bool) -> None:
    if not is_nullable:
        raise MalformedError(f"{name} is null")


def _text(name: str, length_of: Any, is_nullable: bool) -> Reader:
    read_content = _content(name, length_of, is_nullable)

    def read(data: bytes, at: int) -> tuple[str | None, int]:
        content, size = read_content(data, at)
        return None if content is None else content.decode(errors="replace"), size

    return read


def _array(name: str, length_of: Any, is_nullable: bool, read_item: Reader) -> Reader:
    def read(data: bytes, at: int) -> tuple[tuple[Any, ...] | None, int]:
        length, size = length_of(data, at)
        if length < 0:
            return _null(name, is_nullable), size
        if length > len(data) - at - size:
            raise MalformedError(f"{name} has {length} entries where {len(data) - at - size} bytes are left")
        items: list[Any] = []
        for _ in range(length):
            item, item_size = read_item(data, at + size)
            items.append(item)
            size += item_size
        return tuple(items), size

    return read


def _nullable_entity(name: str, is_nullable: bool, read_entity: Reader) -> Reader:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        if readers.read_int8(data, at)[0] < 0:
            return None, 1
        value, size = read_entity(data, at + 1)
        return value, size + 1

    return read if is_nullable else read_entity


class _Tagged(NamedTuple):
    name: str
    read: Reader


@cache
def reader_of(shape: type[Any]) -> Reader:
    """Reads such an entity."""
    known = fields(shape)
    plain = tuple((each.name, _field_reader(shape, each)) for each in known if "tag" not in each.metadata)
    tagged = {
        each.metadata["tag"]: _Tagged(each.name, _field_reader(shape, each)) for each in known if _is_tagged(each)
    }
    # Only what nobody here asks for has none.
    defaults = {each.name: None if each.default is MISSING else each.default for each in known if _is_tagged(each)}
    is_flexible = shape.__flexible__

    def read(data: bytes, at: int) -> tuple[Any, int]:
        size = 0
        values: dict[str, Any] = dict(defaults)
        for name, read_field in plain:
            values[name], field_size = read_field(data, at + size)
            size += field_size
        if is_flexible:
            size += _read_tags(data, at + size, tagged, values)
        return shape(**values), size

    return read


def _is_tagged(field: Field[Any]) -> bool:
    return "tag" in field.metadata


def _read_tags(data: bytes, at: int, tagged: Mapping[int, _Tagged], values: dict[str, Any]) -> int:
    count, size = readers.read_unsigned_varint(data, at)
    for _ in range(count):
        tag, tag_size = readers.read_unsigned_varint(data, at + size)
        length, length_size = readers.read_unsigned_varint(data, at + size + tag_size)
        size += tag_size + length_size
        if at + size + length > len(data):
            raise MalformedError(f"tag {tag} has {length} bytes where {len(data) - at - size} are left")
        if tag in tagged:
            name, read = tagged[tag]
            values[name], length = read(data, at + size)
        size += length
    return size


def _field_reader(shape: type[Any], field: Field[Any]) -> Reader:
    choices = typing.get_args(field.type) if isinstance(field.type, types.UnionType) else (field.type,)
    is_nullable, kind = type(None) in choices, next(each for each in choices if each is not type(None))
    # A request's header keeps the old form of its client id in each version (`RequestHeader.json`).
    is_compact = shape.__flexible__ and not (shape.__name__ == "RequestHeader" and field.name == "client_id")
    name = field.name
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        items = reader_of(item) if is_dataclass(item) else _primitive_reader(field, is_compact, is_nullable=False)
        return _array(name, _compact_length if is_compact else readers.read_int32, is_nullable, items)
    if is_dataclass(kind):
        return _nullable_entity(name, is_nullable, reader_of(cast("type[Any]", kind)))
    return _primitive_reader(field, is_compact, is_nullable)


def _primitive_reader(field: Field[Any], is_compact: bool, is_nullable: bool) -> Reader:
    kind: str = field.metadata["kafka_type"]
    if kind == "string":
        return _text(field.name, _compact_length if is_compact else readers.read_int16, is_nullable)
    if kind in ("bytes", "records"):
        return _content(field.name, _compact_length if is_compact else readers.read_int32, is_nullable)
    if kind == "datetime_i64" and is_nullable:
        return readers.read_nullable_datetime_i64
    return _FIXED[kind]
