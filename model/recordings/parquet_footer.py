"""What a Parquet file claims to hold, by its footer alone: asked before Arrow is let at it, which believes it all.

pyarrow's own view of a column's metadata ends the process where a broken footer contradicts itself.
Format: `parquet.thrift` (FileMetaData 4: row groups; RowGroup 1: columns, 3: num_rows; ColumnChunk 3: metadata;
ColumnMetaData 5: num_values, 6: total_uncompressed_size, 7: total_compressed_size, 9: data_page_offset, 11:
dictionary_page_offset).
"""

from typing import IO, NamedTuple

from model.recordings.thrift_compact import I64, Struct, ThriftError, integer, part, parts, read_struct

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
        return [chunk for group in parts(metadata, 4) for chunk in _chunks(group)]
    except ThriftError:
        raise ValueError("its footer is damaged") from None


def _chunks(group: Struct) -> list[Chunk]:
    """Arrow makes room for a group's rows; each of them is a value in every column, or several."""
    found, rows = [_chunk(part(column, 3)) for column in parts(group, 1)], integer(group, 3, I64)
    if any(chunk.values < rows for chunk in found):
        raise ThriftError("a column has no value in some rows")
    return found


def _chunk(column: Struct) -> Chunk:
    """It begins where Arrow begins to read: with the dictionary, if that stands before the data."""
    at, dictionary = integer(column, 9, I64), column.get((11, I64), 0)
    if isinstance(dictionary, int) and 0 < dictionary < at:
        at = dictionary
    return Chunk(at, at + integer(column, 7, I64), integer(column, 5, I64), integer(column, 6, I64))
