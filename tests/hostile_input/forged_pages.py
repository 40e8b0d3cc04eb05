"""Parquet files of pyarrow whose page headers or footer say other numbers, with every byte where it is looked for."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pyarrow.parquet as pq

from model.log.records.record import read_varint, write_varint

HEADER = ("kind", "size", "stored", "", "values", "encoding")
"""Numbers of a page's header in their order, without a checksum; where there is none, the header of its kind begins."""
FOOTER = ("num_values", "total_uncompressed_size", "total_compressed_size")
_STRUCT = 12


def with_page(data: bytes, column: int, numbers: dict[str, int], *, is_dictionary: bool = False) -> bytes:
    """The column's first page of that kind says other numbers; there is room for them at the end of the file."""
    said = _column(data, column)
    start = said.dictionary_page_offset or said.data_page_offset
    at = start if is_dictionary else said.data_page_offset
    chunk = data[start:at]
    for name in HEADER:
        chunk += data[at : at + 1]
        assert name or chunk[-1] & 0x0F == _STRUCT
        at += 1
        if name:
            number, at = read_varint(data, at)
            chunk += write_varint(numbers.get(name, number))
    chunk += data[at : start + said.total_compressed_size]
    end = _end_of_pages(data)
    longer = data[:end] + chunk + data[end:]
    return _with_footer(longer, said, {"total_compressed_size": len(chunk)}, end - start)


def with_footer(data: bytes, column: int, numbers: dict[str, int]) -> bytes:
    """The footer says other numbers of a column."""
    return _with_footer(data, _column(data, column), numbers, 0)


def with_rows(data: bytes, rows: int) -> bytes:
    """The footer says that there are so many rows in the first group."""
    group = _group(data)
    size = int(group.total_byte_size)
    return _replaced(data, _fields((size, int(group.num_rows))), _fields((size, rows)))


def _with_footer(data: bytes, said: Any, numbers: dict[str, int], moved: int) -> bytes:
    was = {name: int(getattr(said, name)) for name in FOOTER}
    places = [place for place in (said.data_page_offset, said.dictionary_page_offset) if place is not None]
    return _replaced(
        data,
        _fields(was.values(), places),
        _fields((was | numbers).values(), [place + moved for place in places]),
    )


def _fields(numbers: Iterable[int], places: Iterable[int] = ()) -> bytes:
    """As the footer has them: each one the next field (1) or the one after it (2), of 64 bits (6)."""
    heads = [*((b"\x16", number) for number in numbers), *((b"\x26", place) for place in places)]
    return b"".join(head + write_varint(number) for head, number in heads)


def _replaced(data: bytes, before: bytes, after: bytes) -> bytes:
    """In the footer, where it stands once."""
    end = _end_of_pages(data)
    footer = data[end:-8]
    assert footer.count(before) == 1
    footer = footer.replace(before, after)
    return data[:end] + footer + len(footer).to_bytes(4, "little") + data[-4:]


def _column(data: bytes, column: int) -> Any:
    return _group(data).column(column)


def _group(data: bytes) -> Any:
    return pq.read_metadata(io.BytesIO(data)).row_group(0)


def _end_of_pages(data: bytes) -> int:
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")
