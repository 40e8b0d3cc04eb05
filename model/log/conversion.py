"""Records for readers that know older formats only: v2 as v1 or v0, v1 as v0. Pure, bytes in, bytes out.

An old reader takes what is cut off at the end for the rest of a message that did not fit, and asks again from there. So
what is announced to it is filled up: converted batches, the last cut off where it must be, and where they are too short
the start of a message that is never sent as a whole.

Kafka 3.9 `RecordsUtil.downConvert`, `LazyDownConversionRecords`, `LazyDownConversionRecordsSend`.
"""

from collections.abc import Iterator, Sequence

from model.log.names import LogError
from model.log.records import (
    Buffer,
    Codec,
    Damage,
    DamageKind,
    RecordBatch,
    TimestampType,
    encode_message_set,
    records_of,
    scan,
)
from model.log.records.layout import BATCH_SIZE, FRAME_SIZE, FRAME_START, LOG_OVERHEAD

PIECE = 128 << 10
"""Bytes of batches that are converted at once: one that cannot be spoils its piece."""


def converted(data: Buffer, magic: int, first_offset: int) -> bytes:
    """Batches as read from a log, the last maybe cut off, for a reader from an offset on that knows `magic` at most.

    Raises LogError: UNSUPPORTED_COMPRESSION_TYPE where the first that is to be converted is compressed with zstd,
    CORRUPT_MESSAGE.
    """
    batches = list(_whole(data))
    if not batches:
        return b""
    waiting = iter(batches)
    first = next((entry for each in waiting if (entry := _converted(data, each, magic, first_offset))), None)
    if first is None:
        return _stump(LOG_OVERHEAD)
    size = max(len(data), len(first))
    filled = bytearray(first)
    for piece in _pieces(list(waiting)):
        if len(filled) >= size:
            break
        try:
            filled += b"".join([_converted(data, each, magic, first_offset) for each in piece])
        except LogError:
            break  # the reader comes to it with its next question, and hears why
    if len(filled) < size:
        filled += _stump(size - len(filled))
    return bytes(filled[:size])


def _whole(data: Buffer) -> Iterator[RecordBatch]:
    """What is cut off at the end is none, though it may be a few zeros, with which offsets begin."""
    for found in scan(data):
        if isinstance(found, RecordBatch):
            yield found
        elif found.kind not in (DamageKind.TORN, DamageKind.TRUNCATED) and len(data) - found.position >= FRAME_SIZE:
            raise LogError("CORRUPT_MESSAGE", f"at byte {found.position}: {found.cause}")


def _pieces(batches: Sequence[RecordBatch]) -> Iterator[Sequence[RecordBatch]]:
    """Runs of batches, each of one batch or of no more bytes than PIECE."""
    start = size = 0
    for end, batch in enumerate(batches):
        if end > start and size + batch.size > PIECE:
            yield batches[start:end]
            start, size = end, 0
        size += batch.size
    if batches:
        yield batches[start:]


def _stump(size: int) -> bytes:
    """The first bytes of a message that is longer than what is left; no reader looks further."""
    return FRAME_START.pack(-1, max(size + 1, BATCH_SIZE)).ljust(size, b"\0")


def _converted(data: Buffer, batch: RecordBatch, magic: int, first_offset: int) -> bytes:
    """Control batches are nothing to old readers. Of what is not compressed, they need not see what they have."""
    if batch.is_control:
        return b""
    if batch.codec is Codec.ZSTD:
        raise LogError("UNSUPPORTED_COMPRESSION_TYPE", f"zstd at offset {batch.base_offset} is unknown to old readers")
    if batch.magic <= magic:
        return bytes(memoryview(data)[batch.position : batch.end])
    records = list(records_of(data, batch))
    kept = [record for record in records if not isinstance(record, Damage)]
    if len(kept) < len(records):
        raise LogError("CORRUPT_MESSAGE", f"the batch at offset {batch.base_offset} cannot be read")
    if batch.codec is Codec.NONE:
        kept = [record for record in kept if record.offset >= first_offset]
    if not kept:
        return b""
    is_stamped = magic == 1 and batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    append_time_ms = batch.max_timestamp if is_stamped else None
    return encode_message_set(kept, magic, batch.codec or Codec.NONE, append_time_ms)
