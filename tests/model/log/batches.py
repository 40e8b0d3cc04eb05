"""Batches as producers send them, and what is in them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import msgspec

from model.log.partition_log import PartitionLog
from model.log.producers import Origin
from model.log.records import (
    Buffer,
    Codec,
    ControlType,
    EndTransactionMarker,
    Producer,
    Record,
    RecordBatch,
    encode_batch,
    records_of,
    scan,
)

START_MS = 1_700_000_000_000


def batch(
    *values: str | bytes,
    time_ms: int = START_MS,
    key: bytes | None = None,
    codec: Codec = Codec.NONE,
    producer: Producer | None = None,
) -> bytes:
    """One batch with a record a value, all at one time."""
    encoded = [value if isinstance(value, bytes) else value.encode() for value in values]
    records = [Record(number, time_ms, key, value) for number, value in enumerate(encoded)]
    return encode_batch(records, codec=codec, producer=producer)


def keyed(pairs: Sequence[tuple[str, str | None]], time_ms: int = START_MS, producer: Producer | None = None) -> bytes:
    """One batch of keys and values; a value of None is a tombstone."""
    records = [
        Record(number, time_ms, key.encode(), None if value is None else value.encode())
        for number, (key, value) in enumerate(pairs)
    ]
    return encode_batch(records, producer=producer)


def encode_end_transaction_marker(
    marker: EndTransactionMarker, producer: Producer, *, offset: int, timestamp: int
) -> bytes:
    """The control batch of 78 bytes that ends a transaction in a partition; `timestamp` in ms."""
    kind = ControlType.COMMIT if marker.committed else ControlType.ABORT
    value = struct.pack(">hi", 0, marker.coordinator_epoch)
    record = Record(offset, timestamp, struct.pack(">hh", 0, kind), value)
    return encode_batch([record], producer=msgspec.structs.replace(producer, transactional=True), control=True)


def end_transaction(
    log: PartitionLog, producer: Producer, *, committed: bool, now_ms: int = START_MS, coordinator_epoch: int = 0
) -> None:
    """The marker that a coordinator writes."""
    marker = EndTransactionMarker(committed, coordinator_epoch)
    data = encode_end_transaction_marker(marker, producer, offset=0, timestamp=now_ms)
    log.append_as_leader(data, leader_epoch=log.epochs.latest or 0, now_ms=now_ms, origin=Origin.COORDINATOR)


def batches_in(data: Buffer) -> list[RecordBatch]:
    """The batches of a run of bytes, all of which must be whole."""
    found = list(scan(data))
    assert all(isinstance(each, RecordBatch) for each in found), found[-1]
    return [each for each in found if isinstance(each, RecordBatch)]


def records_in(data: Buffer) -> list[Record]:
    """All records of a run of batches, control records left out."""
    records = [record for each in batches_in(data) if not each.is_control for record in records_of(data, each)]
    assert all(isinstance(record, Record) for record in records)
    return [record for record in records if isinstance(record, Record)]


def all_records(log: PartitionLog) -> list[Record]:
    """What a reader of the whole log gets, from its start."""
    return [record for record in records_in(all_bytes(log)) if record.offset >= log.start_offset]


def all_bytes(log: PartitionLog, max_bytes: int = 1_000_000) -> bytes:
    """All batches that a reader of the whole log gets."""
    whole, offset = bytearray(), log.start_offset
    while offset < log.end_offset:
        fetched = log.read(offset, max_bytes=max_bytes)
        if not fetched.data:
            break
        whole += fetched.data
        offset = fetched.next_offset
    return bytes(whole)


def values(log: PartitionLog) -> list[str]:
    """The values of all records, as text; `-` for a tombstone."""
    return ["-" if record.value is None else record.value.decode() for record in all_records(log)]
