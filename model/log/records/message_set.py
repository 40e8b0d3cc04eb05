"""The records of a v0 or v1 entry: one message, or the messages inside a compressed one.

As `org.apache.kafka.common.record.AbstractLegacyRecordBatch` 3.9: inside a v0 wrapper offsets are absolute; inside a v1
wrapper they are relative, and the wrapper's own offset is that of the last message.
"""

import zlib
from array import array
from collections.abc import Iterator

import msgspec

from model.log.records import layout
from model.log.records.batch import Buffer, RecordBatch, parse_batch
from model.log.records.damage import Damage, DamageKind
from model.log.records.record import Record
from model.log.records.unpacking import damaged, unpack

_LENGTH_SIZE = layout.LENGTH.size


class _MisfitError(ValueError):
    """A message whose fields do not fit."""


def message_records(entry: Buffer, batch: RecordBatch, limit: int) -> Iterator[Record | Damage]:
    """The records of a whole entry in memory; a Damage comes last."""
    entry = bytes(entry)
    try:
        outer = _read_message(entry, batch)
    except _MisfitError as error:
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
            yield damaged(wrapper, DamageKind.BAD_RECORDS, "a compressed message inside a compressed message")
            return
        try:
            record = _read_message(data[at : at + message.size], message)
        except _MisfitError as error:
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
        raise _MisfitError(f"{len(data) - at:,} bytes after the value")
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
        raise _MisfitError(f"the message ends before the {what}'s length")
    (size,) = layout.LENGTH.unpack_from(data, at)
    at += _LENGTH_SIZE
    if size < 0:
        return None, at
    if size > len(data) - at:
        raise _MisfitError(f"a {what} of {size:,} bytes, {len(data) - at:,} are left")
    return data[at : at + size], at + size
