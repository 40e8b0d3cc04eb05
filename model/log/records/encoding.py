"""Writes v2 record batches and v0 and v1 message sets, stamps what a leader was sent (offsets, epoch, append time), and
converts records for readers that know older formats only: v2 as v1 or v0, v1 as v0. Bytes in, bytes out.

As `org.apache.kafka.common.record.MemoryRecordsBuilder` and `LegacyRecord` 3.9 write, and as `LogValidator` (3.9)
stamps where neither format nor codec changes. Stamping touches no record, so a compressed v0 set, whose inner offsets
are absolute, cannot be stamped.

An old reader takes what is cut off at the end for the rest of a message that did not fit, and asks again from there. So
what is announced to it is filled up: converted batches, the last cut off where it must be, and where they are too short
the start of a message that is never sent as a whole.
Kafka 3.9 `RecordsUtil.downConvert`, `LazyDownConversionRecords`, `LazyDownConversionRecordsSend`.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from model.log.names import LogError
from model.log.records import layout
from model.log.records.batch import Buffer, RecordBatch, crc32c, stored_crc
from model.log.records.codecs import compress
from model.log.records.layout import (
    BATCH_SIZE,
    FRAME_SIZE,
    FRAME_START,
    LOG_OVERHEAD,
    Codec,
    Damage,
    DamageKind,
    TimestampType,
)
from model.log.records.record import Record, records_of, write_varint
from model.log.records.scan import scan

_NULL = write_varint(-1)


class Producer(msgspec.Struct, frozen=True):
    """Who wrote a batch, where idempotence or transactions make that known (KIP-98)."""

    id: int
    epoch: int = 0
    base_sequence: int = 0
    transactional: bool = False


_NO_PRODUCER = Producer(layout.NO_PRODUCER_ID, -1, layout.NO_SEQUENCE)


def encode_batch(
    records: Sequence[Record],
    *,
    base_offset: int | None = None,
    last_offset: int | None = None,
    codec: Codec = Codec.NONE,
    leader_epoch: int = layout.NO_LEADER_EPOCH,
    producer: Producer | None = None,
    control: bool = False,
    append_time_ms: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytes:
    """One batch with these records at their offsets.

    Base and last offset are those of the records unless given: what a compacted batch keeps. Without records, both are
    to be given: that is a batch emptied by compaction. `append_time_ms` makes it a batch with append time, which all
    its records take. Record timestamps are ms; the sequences of records follow from the producer's, their own are not
    looked at. Raises ValueError for offsets that do not fit a batch.
    """
    base, last = _offset_range(records, base_offset, last_offset)
    times = [record.timestamp for record in records] or [layout.NO_TIMESTAMP]
    base_timestamp = times[0] if delete_horizon_ms is None else delete_horizon_ms
    by = producer or _NO_PRODUCER
    flags = _flags(append_time_ms is not None, by.transactional, control, delete_horizon_ms is not None)
    encoded = b"".join([_encode_record(record, base, base_timestamp) for record in records])
    body = compress(codec, encoded) if records else b""
    covered = layout.BATCH_COVERED.pack(
        codec | flags,
        last - base,
        base_timestamp,
        max(times) if append_time_ms is None else append_time_ms,
        by.id,
        by.epoch,
        layout.NO_SEQUENCE if control else by.base_sequence,
        len(records),
    )
    crc = crc32c(body, crc32c(covered))
    length = layout.BATCH_SIZE - layout.LOG_OVERHEAD + len(body)
    return layout.BATCH_START.pack(base, length, leader_epoch, 2, crc) + covered + body


def _flags(append_time: bool, transactional: bool, control: bool, delete_horizon: bool) -> int:
    return (
        append_time * layout.APPEND_TIME
        | transactional * layout.TRANSACTIONAL
        | control * layout.CONTROL
        | delete_horizon * layout.DELETE_HORIZON
    )


def _offset_range(records: Sequence[Record], base_offset: int | None, last_offset: int | None) -> tuple[int, int]:
    if not records and (base_offset is None or last_offset is None):
        raise ValueError("a batch without records needs a base offset and a last offset")
    first = records[0].offset if base_offset is None else base_offset
    last = records[-1].offset if last_offset is None else last_offset
    offsets = [first, *(record.offset for record in records), last]
    if any(later < earlier for earlier, later in pairwise(offsets)):
        raise ValueError(f"offsets fall within the batch from {first} to {last}")
    if last - first > layout.INT32_MAX:
        raise ValueError(f"offsets from {first} to {last} do not fit one batch")
    return first, last


def _encode_record(record: Record, base_offset: int, base_timestamp: int) -> bytes:
    fields = b"".join(
        (
            b"\0",
            write_varint(record.timestamp - base_timestamp),
            write_varint(record.offset - base_offset),
            _encode_field(record.key),
            _encode_field(record.value),
            write_varint(len(record.headers)),
            *_encode_headers(record),
        )
    )
    return write_varint(len(fields)) + fields


def _encode_headers(record: Record) -> Iterable[bytes]:
    for key, value in record.headers:
        yield _encode_field(key)
        yield _encode_field(value)


def _encode_field(field: bytes | None) -> bytes:
    return _NULL if field is None else write_varint(len(field)) + field


def encode_message_set(
    records: Sequence[Record], magic: int, codec: Codec = Codec.NONE, append_time_ms: int | None = None
) -> bytes:
    """The records at their offsets: an entry for each, or one wrapper around all if there is a codec.

    Headers and sequences cannot be kept by these formats, nor timestamps by v0: they are left out. With
    `append_time_ms` (v1) every message takes that time. Raises ValueError for no records, zstd, or another magic.
    """
    if magic not in (0, 1) or codec is Codec.ZSTD or not records:
        raise ValueError(f"no message set of {len(records)} records with magic {magic} and codec {codec.name.lower()}")
    time_bit = layout.APPEND_TIME if magic == 1 and append_time_ms is not None else 0
    times = [record.timestamp if append_time_ms is None else append_time_ms for record in records]
    if codec is Codec.NONE:
        each = zip(records, times, strict=True)
        return b"".join(_message(r.offset, magic, time_bit, time, r.key, r.value) for r, time in each)
    base = records[0].offset if magic == 1 else 0
    each = zip(records, times, strict=True)
    inner = b"".join(_message(r.offset - base, magic, time_bit, time, r.key, r.value) for r, time in each)
    payload = compress(codec, inner, magic)
    return _message(records[-1].offset, magic, codec | time_bit, max(times), None, payload)


def _message(offset: int, magic: int, attributes: int, timestamp: int, key: bytes | None, value: bytes | None) -> bytes:
    covered = b"".join(
        (
            bytes((magic, attributes)),
            layout.TIMESTAMP.pack(timestamp) if magic == 1 else b"",
            _field(key),
            _field(value),
        )
    )
    crc = zlib.crc32(covered).to_bytes(4, "big")
    return layout.FRAME_START.pack(offset, len(crc) + len(covered)) + crc + covered


def _field(field: bytes | None) -> bytes:
    return layout.LENGTH.pack(-1) if field is None else layout.LENGTH.pack(len(field)) + field


_LEADER_EPOCH_AT = 12


class _TimeFields(msgspec.Struct, frozen=True):
    """Where a format has its CRC, the byte of its attributes with the kind of time, and the (largest) timestamp."""

    crc: slice
    attributes: int
    timestamp: slice


_TIMES = {
    1: _TimeFields(slice(12, layout.LEGACY_CRC_START), 17, slice(18, 26)),
    2: _TimeFields(slice(layout.BATCH_CRC_AT, layout.BATCH_CRC_START), 22, slice(35, 43)),
}


def stamp(
    entry: bytearray | memoryview,
    batch: RecordBatch,
    last_offset: int,
    leader_epoch: int,
    append_time_ms: int | None = None,
) -> None:
    """Gives the batch, whose header lies at the start of `entry`, its offsets, its leader's epoch and its kind of time.

    `last_offset` is the one that its last record gets: its base follows. With `append_time_ms` the batch gets append
    time and that as its (max) timestamp; without, the times are those that its producer set. The CRC is made anew only
    where what it covers changed. Raises ValueError for what cannot be stamped.
    """
    compressed = batch.attributes & layout.CODEC_MASK
    if batch.magic == 0 and (append_time_ms is not None or compressed):
        raise ValueError("a message of magic 0 cannot be stamped in place: encode it anew")
    entry[:8] = (last_offset - batch.last_offset_delta).to_bytes(8, "big")
    if batch.magic >= 2:
        entry[_LEADER_EPOCH_AT : _LEADER_EPOCH_AT + 4] = leader_epoch.to_bytes(4, "big", signed=True)
    if batch.magic == 0 or (append_time_ms is None and not batch.attributes & layout.APPEND_TIME):
        return
    at = _TIMES[min(batch.magic, 2)]
    if append_time_ms is None:
        entry[at.attributes] = batch.attributes & ~layout.APPEND_TIME
    else:
        entry[at.attributes] = batch.attributes | layout.APPEND_TIME
        entry[at.timestamp] = append_time_ms.to_bytes(8, "big", signed=True)
    entry[at.crc] = stored_crc(memoryview(entry)[: batch.size], batch.magic).to_bytes(4, "big")


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
