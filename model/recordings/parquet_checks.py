"""What a Parquet file claims to hold, by its footer and page headers: checked before Arrow, which believes it all.

pyarrow's own view of a column's metadata ends the process where a broken footer contradicts itself (26.0.1: 4 of 4,000
footers with a few other bytes), and it makes room for whatever a page header says. The check goes from header to header
as Arrow does, decodes no page, and takes a field as Parquet's C++ library does: by number and type, the last one if
there are several.

Format: Thrift's compact protocol, `parquet.thrift` (FileMetaData 4: row groups; RowGroup 1: columns, 3: num_rows;
ColumnChunk 3: metadata; ColumnMetaData 5: num_values, 6: total_uncompressed_size, 7: total_compressed_size, 9:
data_page_offset, 11: dictionary_page_offset; PageHeader 1: type, 2: uncompressed_page_size, 3: compressed_page_size,
5, 7, 8: the header of the type, and in these 1: num_values, and the encoding).
"""

from collections.abc import Mapping, Sequence
from typing import IO, Final, NamedTuple, cast

from model.log.records.record import MAX_VARLONG, VarintError, read_varint

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


def struct_in(struct: Struct, field: int) -> Struct:
    """A struct within it; an empty one where there is none."""
    return cast(Struct, struct.get((field, STRUCT), {}))


def structs_in(struct: Struct, field: int) -> list[Struct]:
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


MAGIC = b"PAR1"
_LENGTH_BYTES = 4
_MOST_FOOTER_BYTES = 16 << 20


class Chunk(NamedTuple):
    """One column of one row group."""

    at: int
    """Where its first page begins."""
    end: int
    values: int
    bytes: int
    """Before compression."""


def chunks(file: IO[bytes]) -> list[Chunk]:
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
        metadata, _ = read_struct(file.read(length))
        return [chunk for group in structs_in(metadata, 4) for chunk in _chunks(group)]
    except ThriftError:
        raise ValueError("its footer is damaged") from None


def _chunks(group: Struct) -> list[Chunk]:
    """Arrow makes room for a group's rows; each of them is a value in every column, or several."""
    found, rows = [_chunk(struct_in(column, 3)) for column in structs_in(group, 1)], integer(group, 3, I64)
    if any(chunk.values < rows for chunk in found):
        raise ThriftError("a column has no value in some rows")
    return found


def _chunk(column: Struct) -> Chunk:
    """It begins where Arrow begins to read: with the dictionary, if that stands before the data."""
    at, dictionary = integer(column, 9, I64), column.get((11, I64), 0)
    if isinstance(dictionary, int) and 0 < dictionary < at:
        at = dictionary
    return Chunk(at, at + integer(column, 7, I64), integer(column, 5, I64), integer(column, 6, I64))


MOST_PAGES = 1 << 16
"""Of one file: pyarrow makes a new one every 20,000 rows, or every MiB."""
_HEADER_BYTES = (256, 1 << 16)
"""Most headers, and those with long statistics."""
_DICTIONARY: Final = 2
_PARTS: Final = {0: (5, 2), _DICTIONARY: (7, 2), 3: (8, 4)}
"""Type of page → field of its own header → field of the encoding in that."""
_ENCODINGS = (0, 2, 3, 8)
"""PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY: others let a text grow on the one before it."""


class _Page(NamedTuple):
    """`end` is where the next one begins."""

    kind: int
    values: int
    bytes: int
    end: int


def check_pages(file: IO[bytes], chunks: Sequence[Chunk]) -> None:
    """Raises ValueError where a page claims more than the footer has, or cannot be followed."""
    most, pages = sum(chunk.values for chunk in chunks), 0
    for chunk in chunks:
        at, values, size = chunk.at, 0, 0
        while values < chunk.values:
            page = _page(file, at)
            at, size, pages = page.end, size + page.bytes, pages + 1
            if page.kind != _DICTIONARY:
                values += page.values
            elif page.values > most:  # it may have more than the chunk: a table's, with each of its row groups
                raise ValueError("a dictionary has more values than the file")
            if values > chunk.values or size > chunk.bytes or at > chunk.end or pages > MOST_PAGES:
                raise ValueError("its pages hold more than its footer says")


def _page(file: IO[bytes], at: int) -> _Page:
    for most in _HEADER_BYTES:
        file.seek(at)
        try:
            header, length = read_struct(file.read(most))
            kind = integer(header, 1, I32)
            own, encoding = _PARTS[kind]
            values = integer(struct_in(header, own), 1, I32)
            if integer(struct_in(header, own), encoding, I32) not in _ENCODINGS:
                raise ValueError("a page is encoded as no recording is")
            size, stored = integer(header, 2, I32), integer(header, 3, I32)
            return _Page(kind, values, size, at + length + stored)
        except (ThriftError, KeyError):
            continue
    raise ValueError("a page's header is damaged")
