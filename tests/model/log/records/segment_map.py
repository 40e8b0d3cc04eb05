"""The map of a segment: every entry's header, position and whether its CRC holds, as columns. No record is read.

A batch costs 70 bytes. Whoever has no room for the map of a large segment of tiny batches takes `map_pieces`.
"""

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from model.log.records import layout
from model.log.records.batch import Buffer, ByteSource, RecordBatch, crc_holds, parse_batch, source_of
from model.log.records.layout import Damage
from model.log.records.scan import batch_windows

if TYPE_CHECKING:
    from model.log.records.columns import HeaderColumns


class SegmentMap(msgspec.Struct, frozen=True, gc=False):
    """Entries of a file in order, v2 or older."""

    positions: "array[int]"
    """Where each starts in the file, in bytes."""
    headers: bytearray
    """The first 61 bytes of each, zeros where an old message is shorter."""
    crc_valid: bytearray
    """A byte for each: 1 where its CRC holds."""
    damage: Damage | None = None
    """Why there are no more entries, where that is not the file's end."""

    def __len__(self) -> int:
        return len(self.positions)

    def batch(self, index: int) -> RecordBatch:
        """The header of one entry."""
        return parse_batch(self.headers, index * layout.BATCH_SIZE, self.positions[index])

    def columns(self) -> "HeaderColumns":
        """All headers, field by field, as numpy arrays."""
        from model.log.records.columns import header_columns  # noqa: PLC0415 - numpy takes long to load

        return header_columns(self.positions, self.headers, self.crc_valid)


def segment_map(source: ByteSource | Buffer, *, check_crc: bool = True) -> SegmentMap:
    """The map of all entries."""
    whole = SegmentMap(array("q"), bytearray(), bytearray())
    damage = None
    for piece in map_pieces(source, check_crc=check_crc):
        whole.positions.extend(piece.positions)
        whole.headers.extend(piece.headers)
        whole.crc_valid.extend(piece.crc_valid)
        damage = piece.damage
    return msgspec.structs.replace(whole, damage=damage)


def map_pieces(source: ByteSource | Buffer, *, check_crc: bool = True) -> Iterator[SegmentMap]:
    """The map in pieces of about a MiB of the file each; only the last one can have a damage."""
    source = source_of(source)
    for part in batch_windows(source, check_crc=check_crc):
        if isinstance(part, Damage):
            yield SegmentMap(array("q"), bytearray(), bytearray(), part)
        elif isinstance(part, RecordBatch):
            header = bytes(source.read(part.position, min(layout.BATCH_SIZE, part.size)))
            is_valid = not check_crc or crc_holds(source, part)
            headers = bytearray(header.ljust(layout.BATCH_SIZE, b"\0"))
            yield SegmentMap(array("q", [part.position]), headers, bytearray([is_valid]))
        else:
            yield SegmentMap(part.positions(), bytearray(part.headers()), bytearray(part.crc_valid))
