"""Whether the pages of a Parquet file hold what its footer says, by their headers, which Arrow makes room for unasked.

Goes from header to header as Arrow does; decodes no page.
Format: `parquet.thrift` (PageHeader 1: type, 2: uncompressed_page_size, 3: compressed_page_size, 5, 7, 8: the header of
the type; in these 1: num_values, and the encoding).
"""

from collections.abc import Sequence
from typing import IO, Final, NamedTuple

from model.recordings.parquet_footer import Chunk
from model.recordings.thrift_compact import I32, ThriftError, integer, part, read_struct

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
            values = integer(part(header, own), 1, I32)
            if integer(part(header, own), encoding, I32) not in _ENCODINGS:
                raise ValueError("a page is encoded as no recording is")
            size, stored = integer(header, 2, I32), integer(header, 3, I32)
            return _Page(kind, values, size, at + length + stored)
        except (ThriftError, KeyError):
            continue
    raise ValueError("a page's header is damaged")
