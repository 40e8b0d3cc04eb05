"""What a Parquet file claims to hold, by its footer alone: asked before Arrow is let at it, which believes it all.

Pages that hold more than the footer says are not found out here: that takes a walk through the whole file.
pyarrow's own view of a column's metadata ends the process where a broken footer contradicts itself.
Format: `parquet.thrift` (FileMetaData 4: row groups; RowGroup 1: columns; ColumnChunk 3: metadata; ColumnMetaData 5:
num_values, 6: total_uncompressed_size) in Thrift's compact protocol. Reads no column.
"""

from collections.abc import Mapping
from typing import IO, NamedTuple, cast

from model.log.records.varint import MAX_VARLONG, VarintError, read_varint

MAGIC = b"PAR1"
_LENGTH_BYTES = 4
_MOST_FOOTER_BYTES = 16 << 20
_DEEPEST = 16
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)

_Struct = Mapping[int, object]
"""Field → value; nested structs and lists are read, texts are passed over."""


class Claims(NamedTuple):
    """Of all columns together."""

    values: int
    bytes: int
    """Before compression."""


def claims(file: IO[bytes]) -> Claims:
    """Raises ValueError where there is no footer that can be read."""
    file.seek(0, 2)
    end = file.tell()
    tail_bytes = _LENGTH_BYTES + len(MAGIC)
    file.seek(max(end - tail_bytes, 0))
    tail = file.read(tail_bytes)
    length = int.from_bytes(tail[:_LENGTH_BYTES], "little")
    if tail[_LENGTH_BYTES:] != MAGIC or length > min(end - tail_bytes, _MOST_FOOTER_BYTES):
        raise ValueError("it does not end as Parquet does")
    file.seek(end - tail_bytes - length)
    try:
        metadata, _ = _struct(file.read(length), 0, _DEEPEST)
        columns = [_part(column, 3) for group in _parts(metadata, 4) for column in _parts(group, 1)]
        return Claims(sum(_number(each, 5) for each in columns), sum(_number(each, 6) for each in columns))
    except (VarintError, IndexError):
        raise ValueError("its footer is damaged") from None


def _parts(struct: _Struct, field: int) -> list[_Struct]:
    found = struct.get(field, [])
    if not isinstance(found, list):
        raise ValueError("its footer is damaged")
    return [part for part in cast(list[object], found) if isinstance(part, dict)]


def _part(struct: _Struct, field: int) -> _Struct:
    found = struct.get(field)
    return cast(_Struct, found) if isinstance(found, dict) else {}


def _number(struct: _Struct, field: int) -> int:
    found = struct.get(field)
    if not isinstance(found, int) or found < 0:
        raise ValueError("its footer is damaged")
    return found


def _struct(data: bytes, at: int, deepest: int) -> tuple[_Struct, int]:
    fields: dict[int, object] = {}
    field = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = read_varint(data, at)
        kind = head & 0x0F
        if kind in (_TRUE, _FALSE):
            fields[field] = kind == _TRUE
        else:
            fields[field], at = _value(data, at, kind, deepest)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, deepest: int) -> tuple[object, int]:
    if kind in _INTEGERS:
        return read_varint(data, at, MAX_VARLONG)
    if kind in (_TRUE, _FALSE, _BYTE):
        return None, at + 1
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        length, at = _unsigned(data, at)
        return None, at + length
    if not deepest:
        raise ValueError("its footer is nested too deep")
    if kind == _STRUCT:
        return _struct(data, at, deepest - 1)
    if kind in (_LIST, _SET):
        return _list(data, at, deepest - 1)
    raise ValueError("its footer is damaged")


def _list(data: bytes, at: int, deepest: int) -> tuple[list[object], int]:
    head, at = data[at], at + 1
    count = head >> 4
    if count == 0x0F:
        count, at = _unsigned(data, at)
    found: list[object] = []
    for _ in range(count):
        if at >= len(data):
            raise ValueError("its footer is damaged")
        value, at = _value(data, at, head & 0x0F, deepest)
        found.append(value)
    return found, at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Thrift's sizes are varints without zigzag."""
    zigzag, at = read_varint(data, at, MAX_VARLONG)
    return (zigzag << 1) ^ (zigzag >> 63), at
