"""What is checked and changed in a run of batches before it is written: pure, bytes in, bytes out.

Kafka 3.9 `UnifiedLog.analyzeAndValidateRecords` and `org.apache.kafka.storage.internals.log.LogValidator`, without
conversion between formats. Producers' sequences are checked in `producers`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from model.log.names import LogError
from model.log.records import (
    Buffer,
    Codec,
    Damage,
    DamageKind,
    EndTransactionMarker,
    Record,
    RecordBatch,
    Source,
    crc_holds,
    encode_message_set,
    end_transaction_marker,
    records_of,
    scan,
    stamp,
)
from model.log.settings import Addition, LogSettings


@dataclass(frozen=True)
class Batches:
    """Whole batches at their final offsets; positions count from the start of `data`."""

    data: Buffer
    batches: tuple[RecordBatch, ...]
    first_offset: int

    @property
    def last_offset(self) -> int:
        return self.batches[-1].last_offset

    @property
    def as_addition(self) -> Addition:
        """What the rule of rolling looks at."""
        newest_ms = max(batch.max_timestamp for batch in self.batches)
        return Addition(len(self.data), self.last_offset, newest_ms)


def from_leader(data: Buffer, log_end_offset: int) -> Batches | None:
    """What a follower was sent, as it stands; None when there is no whole batch in it.

    A batch cut off at the end of a response is left out. Raises LogError: CORRUPT_MESSAGE, or OFFSET_OUT_OF_RANGE for
    offsets that the log has already, or that do not rise.
    """
    batches: list[RecordBatch] = []
    expected = log_end_offset
    for batch in _sound(data, partial_end=True):
        if batch.last_offset < expected or (batch.magic >= 2 and batch.base_offset < expected):
            raise LogError(
                "OFFSET_OUT_OF_RANGE", f"offsets from {batch.base_offset} on are sent, {expected} is the next to come"
            )
        expected = batch.next_offset
        batches.append(batch)
    if not batches:
        return None
    first = batches[0]
    first_offset = first.base_offset if first.magic >= 2 or first.codec is Codec.NONE else log_end_offset
    return Batches(memoryview(data)[: batches[-1].end], tuple(batches), first_offset)


def from_client(
    data: Buffer, settings: LogSettings, *, next_offset: int, leader_epoch: int, append_time_ms: int | None
) -> Batches:
    """What a producer sent, with the offsets from `next_offset` on and the leader's epoch.

    With `append_time_ms` all records take that time. Raises LogError: CORRUPT_MESSAGE, MESSAGE_TOO_LARGE,
    INVALID_RECORD (also for a record without a key in a compacted topic).
    """
    sent = list(_sound(data, partial_end=False))
    if not sent:
        raise LogError("INVALID_RECORD", "there is no batch in it")
    for batch in sent:
        _check_batch(data, batch, settings)
    offset, entries = next_offset, list[Buffer]()
    for batch in sent:
        entry, count = _with_offsets(data, batch, offset, leader_epoch, append_time_ms)
        entries.append(entry)
        offset += count
    whole = entries[0] if len(entries) == 1 else b"".join(entries)
    return Batches(whole, tuple(found for found in scan(whole) if isinstance(found, RecordBatch)), next_offset)


def with_markers(batches: Batches) -> list[tuple[RecordBatch, EndTransactionMarker | None]]:
    """Each batch with the transaction marker in it, if it is a control batch that holds one."""
    return [(batch, marker_of(batches.data, batch) if batch.is_control else None) for batch in batches.batches]


def marker_of(source: Source | Buffer, batch: RecordBatch) -> EndTransactionMarker | None:
    """The marker in a control batch; None for other control records, and when compaction took it."""
    record = next(records_of(source, batch), None)
    return end_transaction_marker(record) if isinstance(record, Record) else None


def _sound(data: Buffer, *, partial_end: bool) -> Iterable[RecordBatch]:
    for found in scan(data):
        if isinstance(found, Damage):
            if partial_end and found.kind in (DamageKind.TORN, DamageKind.TRUNCATED):
                return
            raise LogError("CORRUPT_MESSAGE", f"at byte {found.position}: {found.cause}")
        if not crc_holds(data, found):
            raise LogError("CORRUPT_MESSAGE", f"the batch at byte {found.position} does not match its CRC")
        yield found


def _check_batch(data: Buffer, batch: RecordBatch, settings: LogSettings) -> None:
    if batch.size > settings.max_message_bytes:
        raise LogError(
            "MESSAGE_TOO_LARGE", f"a batch of {batch.size} bytes, max.message.bytes is {settings.max_message_bytes}"
        )
    if batch.magic >= 2 and batch.count != batch.last_offset_delta + 1:
        raise LogError(
            "INVALID_RECORD", f"a batch of {batch.count} records spans {batch.last_offset_delta + 1} offsets"
        )
    if settings.compacts and not batch.is_control and any(record.key is None for record in _records(data, batch)):
        raise LogError("INVALID_RECORD", "a record without a key can't be kept in a compacted topic")


def _records(data: Buffer, batch: RecordBatch) -> list[Record]:
    records: list[Record] = []
    for record in records_of(data, batch):
        if isinstance(record, Damage):
            raise LogError("CORRUPT_MESSAGE", record.cause)
        records.append(record)
    return records


def _with_offsets(
    data: Buffer, batch: RecordBatch, offset: int, leader_epoch: int, append_time_ms: int | None
) -> tuple[Buffer, int]:
    """The batch at its final place in the log, and how many offsets it takes."""
    if batch.magic < 2 and (batch.codec is not Codec.NONE or append_time_ms is not None):
        # What the CRC covers may change: a wrapper of v0 holds absolute offsets, and v1 its times.
        records = [
            msgspec.structs.replace(record, offset=offset + number)
            for number, record in enumerate(_records(data, batch))
        ]
        append_time_ms = None if batch.magic == 0 else append_time_ms
        return encode_message_set(records, batch.magic, batch.codec or Codec.NONE, append_time_ms), len(records)
    entry = bytearray(memoryview(data)[batch.position : batch.end])
    stamp(entry, batch, offset + batch.last_offset_delta, leader_epoch, append_time_ms)
    return entry, batch.last_offset_delta + 1
