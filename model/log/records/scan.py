"""Walks the entries of a log file, of a fetch response, or of any other run of entries, and reads no record.

Lengths are believed only as far as there are bytes: whatever the bytes are, a scan ends and raises nothing. It takes
any order of offsets. `scan` gives one value for each entry, which is what decisions want, and does not look at CRCs;
`batch_windows` gives runs of whole v2 entries with their CRCs checked, and does as little as possible for each, which
is what a view on a whole segment wants. Nothing is decompressed. Kafka's own walk: `FileLogInputStream` 3.9.
"""

from array import array
from collections.abc import Iterator
from struct import Struct

import msgspec

from model.log.records import layout
from model.log.records.batch import Buffer, ByteSource, RecordBatch, crc32c, parse_batch, source_of
from model.log.records.layout import Damage, DamageKind, unknown_magic

_WINDOW = 1 << 16
_ZEROS = bytes(1 << 20)


def scan(source: ByteSource | Buffer, start: int = 0, end: int | None = None) -> Iterator[RecordBatch | Damage]:
    """The entries from `start` (where an entry begins) to `end` (default: all), in bytes.

    After a Damage nothing follows: without a length that can be believed there is no way to the next entry.
    """
    source = source_of(source)
    end = source.size if end is None else min(end, source.size)
    if start < 0:
        yield Damage(start, end, DamageKind.BAD_ENTRY, "in front of the first byte, where an index points")
        return
    window: Buffer = b""
    window_start = position = start
    while position < end:
        at = position - window_start
        if len(window) - at < min(layout.BATCH_SIZE, end - position):
            window, window_start, at = source.read(position, min(_WINDOW, end - position)), position, 0
        damage = damage_at(source, window, at, position, end)
        if damage is not None:
            yield damage
            return
        batch = parse_batch(window, at, position)
        yield batch
        position = batch.end


def damage_at(source: ByteSource, window: Buffer, at: int, position: int, end: int) -> Damage | None:
    """Why no entry can be read at `at` of `window`, which is `position` of `source`; None if one can."""
    left = end - position

    def damage(kind: DamageKind, cause: str) -> Damage:
        return Damage(position, left, kind, cause)

    if min(left, len(window) - at) < layout.FRAME_SIZE:
        return _zeros(source, position, end) or damage(DamageKind.TORN, f"{left:,} bytes, too few for any entry")
    length: int
    magic: int
    _, length, magic = layout.FRAME.unpack_from(window, at)
    if length < layout.SMALLEST_LENGTH:
        smallest = f"a length of {length:,}, less than the smallest of {layout.SMALLEST_LENGTH}"
        return _zeros(source, position, end) or damage(DamageKind.BAD_LENGTH, smallest)
    size = length + layout.LOG_OVERHEAD
    if size > left:
        return damage(DamageKind.TRUNCATED, f"an entry of {size:,} bytes, {left:,} are left")
    if magic < 0:
        return damage(DamageKind.UNKNOWN_MAGIC, unknown_magic(magic))
    smallest_length = layout.SMALLEST_LENGTH_BY_MAGIC[min(magic, 2)]
    if length < smallest_length:
        cause = f"a length of {length}, less than the smallest of {smallest_length} for magic {magic}"
        return damage(DamageKind.BAD_LENGTH, cause)
    if len(window) - at < min(layout.BATCH_SIZE, size):
        return damage(DamageKind.TORN, "the file became shorter while it was read")
    return None


def _zeros(source: ByteSource, start: int, end: int) -> Damage | None:
    for position in range(start, end, len(_ZEROS)):
        piece = source.read(position, min(len(_ZEROS), end - position))
        if piece != _ZEROS[: len(piece)]:
            return None
    return Damage(start, end - start, DamageKind.ZEROS, f"{end - start:,} zero bytes up to the end")


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
        return parse_batch(self.data, self.starts[index], self.position + self.starts[index])


def batch_windows(
    source: ByteSource | Buffer,
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
