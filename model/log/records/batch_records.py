"""The records of a v2 batch (`org.apache.kafka.common.record.DefaultRecord`, 3.9)."""

from collections.abc import Iterator

from model.log.records import layout
from model.log.records.batch import Buffer, RecordBatch
from model.log.records.damage import Damage, DamageKind
from model.log.records.layout import INT64_MAX, Codec, TimestampType, add_sequence, int64
from model.log.records.record import Header, Record
from model.log.records.unpacking import damaged, unpack
from model.log.records.varint import MAX_VARLONG, VarintError, read_varint


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
