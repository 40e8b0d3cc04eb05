"""The records of a batch, of any format: read, checked against the header, decompressed within a bound.

Damage is a value: the records before it come first, then it ends the iteration.
"""

from collections.abc import Iterator

from model.log.records.batch import Buffer, RecordBatch
from model.log.records.batch_records import batch_records
from model.log.records.damage import Damage, DamageKind
from model.log.records.message_set import message_records
from model.log.records.record import Record
from model.log.records.source import Source, source_of

MAX_CONTENTS = 64 * 1024 * 1024
"""Bytes that a batch's contents may take in memory, unless the caller says otherwise; Kafka's default for a whole
compressed batch is 1 MiB (message.max.bytes)."""


def records_of(source: Source | Buffer, batch: RecordBatch, limit: int = MAX_CONTENTS) -> Iterator[Record | Damage]:
    """The records of the batch in order; a Damage comes last, and only where not all could be read.

    `source` is what the batch was scanned from. Offsets and timestamps are absolute. The batch's CRC is not looked at.
    At most `limit` bytes are read, and at most that many come out of a compressed stream.
    """
    if batch.size > limit:
        cause = f"a batch of {batch.size:,} bytes, more than the {limit:,} that may be read"
        yield Damage(batch.position, batch.size, DamageKind.TOO_LARGE, cause)
        return
    entry = source_of(source).read(batch.position, batch.size)
    if len(entry) < batch.size:
        cause = "the file became shorter while it was read"
        yield Damage(batch.position, batch.size, DamageKind.TRUNCATED, cause)
        return
    decode = batch_records if batch.magic >= 2 else message_records
    yield from decode(entry, batch, limit)
