"""Walks the entries of a log file, of a fetch response, or of any other run of entries, and reads no record.

Lengths are believed only as far as there are bytes: whatever the bytes are, a scan ends and raises nothing. It does
not look at CRCs (`crc_holds`) and takes any order of offsets. Kafka's own walk: `FileLogInputStream` 3.9.
"""

from collections.abc import Iterator

from model.log.records import layout
from model.log.records.batch import Buffer, RecordBatch, parse_batch
from model.log.records.damage import Damage, DamageKind, unknown_magic
from model.log.records.source import Source, source_of

_WINDOW = 1 << 16
_ZEROS = bytes(1 << 20)


def scan(source: Source | Buffer, start: int = 0, end: int | None = None) -> Iterator[RecordBatch | Damage]:
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


def damage_at(source: Source, window: Buffer, at: int, position: int, end: int) -> Damage | None:
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


def _zeros(source: Source, start: int, end: int) -> Damage | None:
    for position in range(start, end, len(_ZEROS)):
        piece = source.read(position, min(len(_ZEROS), end - position))
        if piece != _ZEROS[: len(piece)]:
            return None
    return Damage(start, end - start, DamageKind.ZEROS, f"{end - start:,} zero bytes up to the end")
