"""Writes v2 record batches, as `org.apache.kafka.common.record.MemoryRecordsBuilder` 3.9 does."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from model.log.records import layout
from model.log.records.codecs import compress
from model.log.records.crc32c import crc32c
from model.log.records.layout import Codec
from model.log.records.record import EndTransactionMarker, Record
from model.log.records.varint import write_varint

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


def encode_end_transaction_marker(
    marker: EndTransactionMarker,
    producer: Producer,
    *,
    offset: int,
    timestamp: int,
    leader_epoch: int = layout.NO_LEADER_EPOCH,
) -> bytes:
    """The control batch of 78 bytes that ends a transaction in a partition; `timestamp` in ms."""
    producer = msgspec.structs.replace(producer, transactional=True)
    record = marker.as_record(offset, timestamp)
    return encode_batch([record], leader_epoch=leader_epoch, producer=producer, control=True)


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
