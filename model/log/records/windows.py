"""Many batches at once: runs of whole v2 entries in one piece of a file, found and their CRCs checked.

`scan` gives one value for each entry, which is what decisions want; here the same walk does as little as possible for
each, which is what a view on a whole segment wants. Nothing is decompressed.
"""

from array import array
from collections.abc import Iterator
from struct import Struct

import msgspec

from model.log.records import layout
from model.log.records.batch import Buffer, RecordBatch, parse_batch
from model.log.records.crc32c import crc32c
from model.log.records.damage import Damage
from model.log.records.scan import damage_at
from model.log.records.source import Source, source_of

WINDOW = 1 << 20
LARGEST_WINDOW = 1 << 24
"""Bytes read at once; the second for an entry that is larger than the first, or than the caller's window."""

_FIRST_WINDOW = 1 << 16
"""What is read first; each time twice as much is, so that a start after damage costs little."""

_CHECK = Struct(">i4xbI")
_CHECK_AT = 8
"""Length, magic and CRC of a v2 entry."""
_SMALLEST = layout.SMALLEST_LENGTH_BY_MAGIC[2]


class BatchWindow(msgspec.Struct, frozen=True, gc=False):
    """v2 entries that follow each other without a gap, and the bytes they lie in."""

    position: int
    """Where `data` starts in the file, in bytes."""
    data: bytes
    starts: list[int]
    """Where each entry starts in `data`, and last where the last one ends."""
    crc_valid: bytes
    """A byte for each entry: 1 where its CRC holds, and everywhere if CRCs were not to be checked."""

    def __len__(self) -> int:
        return len(self.crc_valid)

    def positions(self) -> "array[int]":
        """Where each entry starts in the file, in bytes."""
        return array("q", [self.position + start for start in self.starts[:-1]])

    def headers(self) -> bytes:
        """The first 61 bytes of each entry (`layout.BATCH`)."""
        return b"".join([self.data[start : start + layout.BATCH_SIZE] for start in self.starts[:-1]])

    def batch(self, index: int) -> RecordBatch:
        """The header of one entry."""
        return parse_batch(self.data, self.starts[index], self.position + self.starts[index])


def batch_windows(
    source: Source | Buffer,
    start: int = 0,
    end: int | None = None,
    *,
    check_crc: bool = True,
    window: int = WINDOW,
) -> Iterator[BatchWindow | RecordBatch | Damage]:
    """All entries from `start` (where one begins) to `end`, in order; a Damage as in `scan` comes last.

    `window` is how many bytes are read at once. What fits no window comes by itself, its CRC not looked at: entries of
    v0 and v1, and batches of more than 16 MiB.
    """
    source = source_of(source)
    end = source.size if end is None else min(end, source.size)
    data, data_start, position, enlarged_at = b"", start, start, -1
    size, needed = min(window, _FIRST_WINDOW), layout.BATCH_SIZE
    while position < end:
        at = position - data_start
        if len(data) - at < min(needed, end - position):
            data, data_start, at = bytes(source.read(position, min(max(size, needed), end - position))), position, 0
            size, needed = min(2 * size, window), layout.BATCH_SIZE
        starts, crc_valid = _walk(data, at, check_crc)
        if crc_valid:
            yield BatchWindow(data_start, data, starts, crc_valid)
            position = data_start + starts[-1]
            continue
        damage = damage_at(source, data, at, position, end)
        if damage is not None:
            yield damage
            return
        batch = parse_batch(data, at, position)
        if batch.magic >= 2 and batch.size <= LARGEST_WINDOW and position != enlarged_at:
            needed, enlarged_at = batch.size, position
            continue
        yield batch
        position = batch.end


def _walk(data: bytes, at: int, check_crc: bool) -> tuple[list[int], bytes]:
    """Starts and CRC verdicts of the whole v2 entries that are at `at` of `data`."""
    view = memoryview(data)
    starts = [at]
    invalid: list[int] = []
    check, add, check_at, crc_start = _CHECK.unpack_from, crc32c, _CHECK_AT, layout.BATCH_CRC_START
    overhead, smallest, size, last = layout.LOG_OVERHEAD, _SMALLEST, len(data), len(data) - layout.BATCH_SIZE
    while at <= last:
        length, magic, crc = check(data, at + check_at)
        end = at + overhead + length
        if magic < 2 or length < smallest or end > size:
            break
        if check_crc and add(view[at + crc_start : end]) != crc:
            invalid.append(len(starts) - 1)
        starts.append(end)
        at = end
    crc_valid = bytearray(b"\1") * (len(starts) - 1)
    for index in invalid:
        crc_valid[index] = 0
    return starts, bytes(crc_valid)
