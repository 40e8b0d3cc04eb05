"""The records of a batch, of any format: read, checked against the header, decompressed within a bound.

Damage is a value: the records before it come first, then it ends the iteration. Inside a v0 wrapper offsets are
absolute; inside a v1 wrapper they are relative, and the wrapper's own offset is that of the last message.

Kafka 3.9 `org.apache.kafka.common.record.DefaultRecord`, `AbstractLegacyRecordBatch`, `ControlRecordType`;
`org.apache.kafka.common.utils.ByteUtils` (variable-length integers: zigzag, groups of seven bits, the lowest first, a
set top bit for more; at most 5 bytes for 32 bits, 10 for 64).
"""

import struct
import zlib
from array import array
from collections.abc import Iterator
from enum import IntEnum

import msgspec

from model.log.records import layout
from model.log.records.batch import Buffer, ByteSource, RecordBatch, parse_batch, source_of
from model.log.records.codecs import StreamError, TooLargeError, decompress
from model.log.records.layout import (
    CODEC_MASK,
    INT64_MAX,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Codec,
    Damage,
    DamageKind,
    TimestampType,
    add_sequence,
    int64,
)

MAX_VARINT = 5
MAX_VARLONG = 10


class VarintError(ValueError):
    """A number that ends too early or too late; the message says which."""


def read_varint(data: Buffer, at: int, max_size: int = MAX_VARINT) -> tuple[int, int]:
    """The number at `at` and the place after it; MAX_VARLONG for one of 64 bits. Raises VarintError."""
    if at + 1 < len(data):  # most numbers take a byte or two
        raw = data[at]
        if raw < 0x80:
            return (raw >> 1) ^ -(raw & 1), at + 1
        second = data[at + 1]
        if second < 0x80:
            raw = raw & 0x7F | second << 7
            return (raw >> 1) ^ -(raw & 1), at + 2
    raw = shift = 0
    for place in range(at, min(at + max_size, len(data))):
        byte = data[place]
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            # Bits that a 5th or 10th byte carries beyond the width are lost in Java as well.
            raw &= 0xFFFFFFFF if max_size == MAX_VARINT else 0xFFFFFFFFFFFFFFFF
            return (raw >> 1) ^ -(raw & 1), place + 1
        shift += 7
    if len(data) - at < max_size:
        raise VarintError("a number runs past the end")
    raise VarintError(f"a number is longer than {max_size} bytes")


def write_varint(number: int) -> bytes:
    """The shortest form of a number; 32 and 64 bits are written alike."""
    raw = (number << 1) ^ (number >> 63)
    if raw < 0x80:
        return _SINGLE[raw]
    if raw < 0x4000:
        return bytes((raw & 0x7F | 0x80, raw >> 7))
    encoded = bytearray()
    while raw >= 0x80:
        encoded.append(raw & 0x7F | 0x80)
        raw >>= 7
    encoded.append(raw)
    return bytes(encoded)


_SINGLE = tuple(bytes([raw]) for raw in range(0x80))


Header = tuple[bytes, bytes | None]
"""Key and value. Keys are meant to be UTF-8, which nothing enforces on disk."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record at its absolute offset."""

    offset: int
    timestamp: int = NO_TIMESTAMP
    """Milliseconds since the epoch, -1 for none. With append time all records of a batch have the batch's."""
    key: bytes | None = None
    value: bytes | None = None
    """None is a tombstone, where there is a key."""
    headers: tuple[Header, ...] = ()
    """v2 only; keys may repeat."""
    sequence: int = NO_SEQUENCE
    """Of an idempotent producer; v2 only."""
    crc: int | None = None
    """v0 and v1: the message's own stored CRC-32."""
    crc_valid: bool = True
    """v0 and v1: whether that CRC holds."""


class ControlType(IntEnum):
    """What a control record says (`org.apache.kafka.common.record.ControlRecordType`, 3.9)."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_CONTROL_KEY = struct.Struct(">hh")
_END_MARKER = struct.Struct(">hi")


class EndTransactionMarker(msgspec.Struct, frozen=True):
    """The record that ends a transaction in a partition (KIP-98)."""

    committed: bool
    coordinator_epoch: int


def control_type(key: bytes | None) -> ControlType | None:
    """What a control record's key says: UNKNOWN for types of later releases, None for a key that is too short."""
    if key is None or len(key) < _CONTROL_KEY.size:
        return None
    number = _CONTROL_KEY.unpack_from(key)[1]
    return ControlType(number) if number in ControlType.__members__.values() else ControlType.UNKNOWN


def end_transaction_marker(record: Record) -> EndTransactionMarker | None:
    """The marker in a record of a control batch; None for any other, or a value that is too short."""
    kind = control_type(record.key)
    if kind not in (ControlType.ABORT, ControlType.COMMIT) or len(record.value or b"") < _END_MARKER.size:
        return None
    return EndTransactionMarker(kind == ControlType.COMMIT, _END_MARKER.unpack_from(record.value or b"")[1])


def unpack(payload: Buffer, batch: RecordBatch, limit: int) -> Buffer | Damage:
    """The payload of a batch as its attributes say it is compressed: plain bytes, at most `limit`."""
    codec = batch.codec
    if codec is None:
        return damaged(batch, DamageKind.UNKNOWN_CODEC, f"codec {batch.attributes & CODEC_MASK}")
    if codec == Codec.ZSTD and batch.magic < 2:
        return damaged(batch, DamageKind.UNKNOWN_CODEC, f"zstd in magic {batch.magic}")
    try:
        return decompress(codec, payload, batch.magic, limit)
    except StreamError as error:
        return damaged(batch, DamageKind.BAD_STREAM, str(error))
    except TooLargeError as error:
        return damaged(batch, DamageKind.TOO_LARGE, str(error))


def damaged(batch: RecordBatch, kind: DamageKind, cause: str) -> Damage:
    """Damage to the whole of a batch."""
    return Damage(batch.position, batch.size, kind, cause)


class _MisfitError(ValueError):
    """A record whose fields do not fit."""


def batch_records(entry: Buffer, batch: RecordBatch, limit: int) -> Iterator[Record | Damage]:
    """The records of a whole entry in memory; a Damage comes last."""
    if batch.count < 0:
        yield damaged(batch, DamageKind.BAD_RECORDS, f"a record count of {batch.count}")
        return
    if batch.count == 0 and batch.size == layout.BATCH_SIZE:
        return  # emptied by compaction, whatever its codec
    body, at = entry, layout.BATCH_SIZE  # plain records are read where they are: a copy may be large
    if batch.codec is not Codec.NONE:
        body, at = unpack(memoryview(entry)[layout.BATCH_SIZE :], batch, limit), 0
    if isinstance(body, Damage):
        yield body
        return
    append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    body = bytes(body)
    index = 0
    try:
        for index in range(batch.count):
            if at == len(body):
                raise _MisfitError(f"the records end after {index} of {batch.count}")
            record, at = _read_record(body, at, batch, append_time)
            yield record
    except (VarintError, _MisfitError) as error:
        yield damaged(batch, DamageKind.BAD_RECORDS, f"record {index}: {error}")
        return
    if at < len(body):
        cause = f"{len(body) - at:,} bytes after the last of {batch.count} records"
        yield damaged(batch, DamageKind.BAD_RECORDS, cause)


def _read_record(body: bytes, at: int, batch: RecordBatch, append_time: int | None) -> tuple[Record, int]:
    length, start = read_varint(body, at)
    end = start + length
    if not start < end <= len(body):
        raise _MisfitError(f"a length of {length:,}, {len(body) - start:,} bytes are left")
    time_delta, at = read_varint(body, start + 1, MAX_VARLONG)
    offset_delta, at = read_varint(body, at)
    size, at = read_varint(body, at)
    key, at = (None, at) if size < 0 else (body[at : at + size], at + size)
    size, at = read_varint(body, at)
    value, at = (None, at) if size < 0 else (body[at : at + size], at + size)
    count, at = read_varint(body, at)
    headers = ()
    if count:
        headers, at = _read_headers(body, at, end, count)
    if at != end:
        raise _MisfitError(f"a length of {length:,}, its fields take {at - start:,}")
    timestamp = batch.base_timestamp + time_delta if append_time is None else append_time
    offset, sequence = batch.base_offset + offset_delta, batch.base_sequence
    if not -INT64_MAX <= timestamp <= INT64_MAX or not -INT64_MAX <= offset <= INT64_MAX:
        timestamp, offset = int64(timestamp), int64(offset)
    if sequence >= 0:
        sequence = add_sequence(sequence, offset_delta)
    return Record(offset, timestamp, key, value, headers, sequence), end


def _read_headers(body: bytes, at: int, end: int, count: int) -> tuple[tuple[Header, ...], int]:
    if not 0 < count <= end - at:  # a header takes two bytes at least
        raise _MisfitError(f"a header count of {count:,}")
    headers: list[Header] = []
    for _ in range(count):
        size, at = read_varint(body, at)
        if size < 0:
            raise _MisfitError("a header without a key")
        key, at = body[at : at + size], at + size
        size, at = read_varint(body, at)
        value, at = (None, at) if size < 0 else (body[at : at + size], at + size)
        headers.append((key, value))
    return tuple(headers), at


_LENGTH_SIZE = layout.LENGTH.size


NESTED = "a compressed message inside a compressed message"
"""The cause of damage that Kafka takes for a client's mistake."""


class _MisfitMessageError(ValueError):
    """A message whose fields do not fit."""


def message_records(entry: Buffer, batch: RecordBatch, limit: int) -> Iterator[Record | Damage]:
    """The records of a whole entry in memory; a Damage comes last."""
    entry = bytes(entry)
    try:
        outer = _read_message(entry, batch)
    except _MisfitMessageError as error:
        yield damaged(batch, DamageKind.BAD_RECORDS, str(error))
        return
    if batch.attributes & layout.CODEC_MASK == 0:
        yield outer
        return
    if outer.value is None:
        yield damaged(batch, DamageKind.BAD_RECORDS, "a compressed message without a value")
        return
    inner = unpack(outer.value, batch, limit)
    if isinstance(inner, Damage):
        yield inner
    else:
        yield from _inner_records(bytes(inner), batch)


def _inner_records(data: bytes, wrapper: RecordBatch) -> Iterator[Record | Damage]:
    messages, misfit = _walk(data)
    shift = 0
    if wrapper.magic == 1 and messages:
        last = layout.FRAME.unpack_from(data, messages[-1])[0]
        shift = 0 if wrapper.base_offset == 0 else wrapper.base_offset - last
    for at in messages:
        message = parse_batch(data, at, at)
        if message.attributes & layout.CODEC_MASK:
            yield damaged(wrapper, DamageKind.BAD_RECORDS, NESTED)
            return
        try:
            record = _read_message(data[at : at + message.size], message)
        except _MisfitMessageError as error:
            yield damaged(wrapper, DamageKind.BAD_RECORDS, f"the message at byte {at} of the set: {error}")
            return
        timestamp = record.timestamp
        if wrapper.magic == 1 and wrapper.attributes & layout.APPEND_TIME:
            timestamp = wrapper.max_timestamp
        yield msgspec.structs.replace(record, offset=layout.int64(record.offset + shift), timestamp=timestamp)
    if misfit:
        yield damaged(wrapper, DamageKind.BAD_RECORDS, misfit)


def _walk(data: bytes) -> tuple["array[int]", str]:
    """Where the inner messages start, as far as their lengths can be believed; and why not further, if so."""
    starts = array("q")
    at = 0
    while at < len(data):
        left = len(data) - at
        if left < layout.FRAME_SIZE:
            return starts, f"the set ends within a message, {left} bytes after its start"
        _, length, magic = layout.FRAME.unpack_from(data, at)
        if magic not in (0, 1) or length < layout.SMALLEST_LENGTH_BY_MAGIC[magic]:
            return starts, f"the message at byte {at} of the set has magic {magic} and a length of {length}"
        if length + layout.LOG_OVERHEAD > left:
            return starts, f"the message at byte {at} of the set has a length of {length:,}, {left:,} bytes are left"
        starts.append(at)
        at += length + layout.LOG_OVERHEAD
    return starts, "" if starts else "a compressed set without messages"


def _read_message(data: bytes, message: RecordBatch) -> Record:
    at = layout.LEGACY.size + (layout.TIMESTAMP.size if message.magic == 1 else 0)
    key, at = _read_field(data, at, "key")
    value, at = _read_field(data, at, "value")
    if at != len(data):
        raise _MisfitMessageError(f"{len(data) - at:,} bytes after the value")
    crc = zlib.crc32(memoryview(data)[layout.LEGACY_CRC_START :])
    return Record(
        message.base_offset,
        message.max_timestamp,
        key,
        value,
        crc=message.crc,
        crc_valid=crc == message.crc,
    )


def _read_field(data: bytes, at: int, what: str) -> tuple[bytes | None, int]:
    if len(data) - at < _LENGTH_SIZE:
        raise _MisfitMessageError(f"the message ends before the {what}'s length")
    (size,) = layout.LENGTH.unpack_from(data, at)
    at += _LENGTH_SIZE
    if size < 0:
        return None, at
    if size > len(data) - at:
        raise _MisfitMessageError(f"a {what} of {size:,} bytes, {len(data) - at:,} are left")
    return data[at : at + size], at + size


MAX_CONTENTS = 64 * 1024 * 1024
"""Bytes that a batch's contents may take in memory, unless the caller says otherwise; Kafka's default for a whole
compressed batch is 1 MiB (message.max.bytes)."""


def records_of(source: ByteSource | Buffer, batch: RecordBatch, limit: int = MAX_CONTENTS) -> Iterator[Record | Damage]:
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
