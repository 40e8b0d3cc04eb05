"""Structs of Thrift's compact protocol, as far as Parquet has them: integers, structs and lists. Texts are passed over.

Takes a field as Parquet's C++ library does: by number and type, the last one if there are several. Who is asked before
that library must not see another file than it does.
"""

from collections.abc import Mapping
from typing import cast

from model.log.records.varint import MAX_VARLONG, VarintError, read_varint

I32, I64, LIST, STRUCT = 5, 6, 9, 12

Struct = Mapping[tuple[int, int], object]
"""(Field, type) → value."""

_I16, _BYTE, _DOUBLE, _BINARY, _SET = 4, 3, 7, 8, 10
_BOOLEANS = (1, 2)
_DEEPEST = 16
_MOST_FIELDS = 1 << 15


class ThriftError(ValueError):
    """Bytes that are no such struct."""


def read_struct(data: bytes) -> tuple[Struct, int]:
    """The struct that they begin with, and how long it is. Raises ThriftError."""
    try:
        return _struct(data, 0, _DEEPEST)
    except (VarintError, IndexError):
        raise ThriftError("it ends too early") from None


def integer(struct: Struct, field: int, kind: int) -> int:
    """Of type I32 or I64; none of Parquet's is negative. Raises ThriftError."""
    found = struct.get((field, kind))
    if not isinstance(found, int) or found < 0:
        raise ThriftError(f"field {field} is no size")
    return found


def part(struct: Struct, field: int) -> Struct:
    """A struct within it; an empty one where there is none."""
    return cast(Struct, struct.get((field, STRUCT), {}))


def parts(struct: Struct, field: int) -> list[Struct]:
    """A list of structs; an empty one where there is none. Raises ThriftError."""
    found = cast(list[object], struct.get((field, LIST), []))
    if not all(isinstance(each, dict) for each in found):
        raise ThriftError(f"field {field} is no list of structs")
    return cast(list[Struct], found)


def _struct(data: bytes, at: int, deepest: int) -> tuple[Struct, int]:
    fields: dict[tuple[int, int], object] = {}
    field = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = read_varint(data, at)
        if not 0 < field < _MOST_FIELDS:
            raise ThriftError(f"{field} is the number of no field")
        kind = head & 0x0F
        if kind not in _BOOLEANS:  # whose value is their type
            fields[field, kind], at = _value(data, at, kind, deepest)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, deepest: int) -> tuple[object, int]:
    if kind in (_I16, I32, I64):
        return read_varint(data, at, MAX_VARLONG)
    if kind in (*_BOOLEANS, _BYTE):
        return None, at + 1
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        length, at = _unsigned(data, at)
        return None, at + length
    if not deepest:
        raise ThriftError("it is nested too deep")
    if kind == STRUCT:
        return _struct(data, at, deepest - 1)
    if kind in (LIST, _SET):
        return _list(data, at, deepest - 1)
    raise ThriftError(f"{kind} is no type")


def _list(data: bytes, at: int, deepest: int) -> tuple[list[object], int]:
    head, at = data[at], at + 1
    count = head >> 4
    if count == 0x0F:
        count, at = _unsigned(data, at)
    found: list[object] = []
    for _ in range(count):
        if at >= len(data):
            raise ThriftError("it ends too early")
        value, at = _value(data, at, head & 0x0F, deepest)
        found.append(value)
    return found, at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Thrift's sizes are varints without zigzag."""
    zigzag, at = read_varint(data, at, MAX_VARLONG)
    return (zigzag << 1) ^ (zigzag >> 63), at
