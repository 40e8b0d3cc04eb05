"""The CRC of an entry: CRC-32C for batches, CRC-32 for v0 and v1 messages."""

import zlib

from model.log.records import layout
from model.log.records.batch import Buffer, RecordBatch
from model.log.records.crc32c import crc32c
from model.log.records.source import Source, source_of

_PIECE = 1 << 20


def stored_crc(entry: Buffer, magic: int) -> int:
    """The CRC that a whole entry in memory should hold."""
    view = memoryview(entry)
    return crc32c(view[layout.BATCH_CRC_START :]) if magic >= 2 else zlib.crc32(view[layout.LEGACY_CRC_START :])


def crc_holds(source: Source | Buffer, batch: RecordBatch) -> bool:
    """Whether the batch's bytes in its file are those its CRC was made from; read in pieces however large it is."""
    source = source_of(source)
    start, add = (layout.BATCH_CRC_START, crc32c) if batch.magic >= 2 else (layout.LEGACY_CRC_START, zlib.crc32)
    crc = 0
    for position in range(batch.position + start, batch.end, _PIECE):
        crc = add(source.read(position, min(_PIECE, batch.end - position)), crc)
    return crc == batch.crc
