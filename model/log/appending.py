"""What is checked and changed in a run of batches before it is written: pure, bytes in, bytes out.

What a producer sent becomes one batch of the topic's format and codec. Where it is that already, only its offsets, its
leader's epoch and its kind of time are stamped.

Kafka 3.9 `UnifiedLog.analyzeAndValidateRecords` and `org.apache.kafka.storage.internals.log.LogValidator`, without
the bounds of timestamps (message.timestamp.before.max.ms, .after.max.ms). Producers' sequences are checked in
`producers`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from model.log.names import LogError
from model.log.records import (
    Buffer,
    ByteSource,
    Codec,
    Damage,
    DamageKind,
    EndTransactionMarker,
    Producer,
    Record,
    RecordBatch,
    TimestampType,
    crc_holds,
    encode_batch,
    encode_message_set,
    end_transaction_marker,
    records_of,
    scan,
    stamp,
)
from model.log.records.layout import CURRENT_MAGIC, LOG_OVERHEAD, NO_PRODUCER_ID, NO_TIMESTAMP, unknown_magic
from model.log.records.record import NESTED
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
    for batch in _whole(data):
        _check_crc(data, batch)
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
    data: Buffer,
    settings: LogSettings,
    *,
    next_offset: int,
    leader_epoch: int,
    append_time_ms: int | None,
    of_client: bool = True,
) -> Batches | None:
    """What a producer sent, with the offsets from `next_offset` on and the leader's epoch; None without a whole batch.

    A batch cut off at the end is left out. With `append_time_ms` all records take that time, but for those of magic 0.
    Raises LogError: CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, INVALID_RECORD (also for a record without a key in a compacted
    topic), INVALID_TIMESTAMP, UNSUPPORTED_FOR_MESSAGE_FORMAT, UNSUPPORTED_COMPRESSION_TYPE.
    """
    sent = _read(data, settings, of_client=of_client)
    if not sent:
        return None
    _check_set(data, sent, settings, append_time_ms)
    if settings.message_format == 0:
        append_time_ms = None
    first = sent[0]
    codec = _target_codec(first, settings)
    entries = _stamped(data, sent, settings, codec, next_offset, leader_epoch, append_time_ms)
    if entries is None:
        records = [record for batch in sent for record in _records(data, batch)]
        whole = _rebuilt(records, first, settings.message_format, codec, next_offset, leader_epoch, append_time_ms)
    else:
        whole = entries[0] if len(entries) == 1 else b"".join(entries)
    written = tuple(found for found in scan(whole) if isinstance(found, RecordBatch))
    for batch in written if entries is None else ():
        _check_size(batch, settings)
    return Batches(whole, written, next_offset)


def _read(data: Buffer, settings: LogSettings, *, of_client: bool) -> list[RecordBatch]:
    batches: list[RecordBatch] = []
    for batch in _whole(data):
        if of_client and batch.magic >= 2 and batch.base_offset != 0:
            raise LogError("INVALID_RECORD", f"a producer's batch begins at offset {batch.base_offset}, not at 0")
        _check_size(batch, settings)
        _check_crc(data, batch)
        batches.append(batch)
    return batches


def _check_set(data: Buffer, sent: Sequence[RecordBatch], settings: LogSettings, append_time_ms: int | None) -> None:
    first = sent[0]
    if len(sent) > 1 and (first.magic >= 2 or any(batch.codec is not Codec.NONE for batch in sent)):
        raise LogError("INVALID_RECORD", f"{len(sent)} batches are sent at once, where one is allowed")
    for batch in sent:
        if batch.magic != first.magic:
            raise LogError("INVALID_RECORD", "batches of several formats are sent at once")
        _check_batch(batch, settings)
        _check_records(data, batch, settings, append_time_ms)


def with_markers(batches: Batches) -> list[tuple[RecordBatch, EndTransactionMarker | None]]:
    """Each batch with the transaction marker in it, if it is a control batch that holds one."""
    return [(batch, marker_of(batches.data, batch) if batch.is_control else None) for batch in batches.batches]


def marker_of(source: ByteSource | Buffer, batch: RecordBatch) -> EndTransactionMarker | None:
    """The marker in a control batch; None for other control records, and when compaction took it."""
    record = next(records_of(source, batch), None)
    return end_transaction_marker(record) if isinstance(record, Record) else None


def _whole(data: Buffer) -> Iterable[RecordBatch]:
    """The whole batches; what is cut off at the end is none."""
    for found in scan(data):
        if isinstance(found, Damage):
            if found.kind in (DamageKind.TORN, DamageKind.TRUNCATED) or len(data) - found.position < LOG_OVERHEAD:
                return
            raise LogError("CORRUPT_MESSAGE", f"at byte {found.position}: {found.cause}")
        if found.magic > CURRENT_MAGIC:
            raise LogError("CORRUPT_MESSAGE", f"at byte {found.position}: {unknown_magic(found.magic)}")
        yield found


def _check_crc(data: Buffer, batch: RecordBatch) -> None:
    if not crc_holds(data, batch):
        raise LogError("CORRUPT_MESSAGE", f"the batch at byte {batch.position} does not match its CRC")


def _check_batch(batch: RecordBatch, settings: LogSettings) -> None:
    if batch.magic >= 2 and not batch.count == batch.last_offset_delta + 1 > 0:
        raise LogError(
            "INVALID_RECORD", f"a batch of {batch.count} records spans {batch.last_offset_delta + 1} offsets"
        )
    if settings.message_format < 2 and (batch.is_transactional or batch.producer_id != NO_PRODUCER_ID):
        raise LogError(
            "UNSUPPORTED_FOR_MESSAGE_FORMAT", f"magic {settings.message_format} cannot hold what a producer id is for"
        )
    if settings.message_format < 2 and batch.codec is Codec.ZSTD:
        raise LogError("UNSUPPORTED_COMPRESSION_TYPE", f"magic {settings.message_format} knows no zstd")


def _check_records(data: Buffer, batch: RecordBatch, settings: LogSettings, append_time_ms: int | None) -> None:
    is_stamped = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    says_append_time = is_stamped and (append_time_ms is not None or batch.max_timestamp == NO_TIMESTAMP)
    needs_keys = settings.compacts and not batch.is_control
    has_key = [record.key is not None for record in _records(data, batch)] if needs_keys else [True]
    if says_append_time and any(has_key):
        raise LogError("INVALID_TIMESTAMP", "a producer may not say that its times are those of the append")
    if not all(has_key):
        raise LogError("INVALID_RECORD", "a record without a key can't be kept in a compacted topic")


def _check_size(batch: RecordBatch, settings: LogSettings) -> None:
    if batch.size > settings.max_message_bytes:
        raise LogError(
            "MESSAGE_TOO_LARGE", f"a batch of {batch.size} bytes, max.message.bytes is {settings.max_message_bytes}"
        )


def _records(data: Buffer, batch: RecordBatch) -> list[Record]:
    records: list[Record] = []
    for record in records_of(data, batch):
        if isinstance(record, Damage):
            raise LogError("INVALID_RECORD" if record.cause == NESTED else "CORRUPT_MESSAGE", record.cause)
        if not record.crc_valid:
            raise LogError("CORRUPT_MESSAGE", f"the message at offset {record.offset} does not match its CRC")
        records.append(record)
    return records


def _target_codec(first: RecordBatch, settings: LogSettings) -> Codec:
    """compression.type: the topic's own codec, or the producer's."""
    if first.is_control or settings.compression_type == "producer":
        return first.codec or Codec.NONE
    return Codec[settings.compression_type.upper()] if settings.compression_type != "uncompressed" else Codec.NONE


def _stamped(
    data: Buffer,
    sent: Sequence[RecordBatch],
    settings: LogSettings,
    codec: Codec,
    offset: int,
    leader_epoch: int,
    append_time_ms: int | None,
) -> list[bytearray] | None:
    """The batches at their final places; None: they have another format or codec than the log is to have."""
    if any(batch.codec is not codec for batch in sent) or sent[0].magic != settings.message_format:
        return None
    entries: list[bytearray] = []
    for batch in sent:
        count = batch.last_offset_delta + 1
        if batch.magic < 2 and codec is not Codec.NONE:
            records = _records(data, batch)
            count = len(records)
            in_order = all(record.offset == number for number, record in enumerate(records))
            if batch.magic == 0 or not in_order or batch.max_timestamp != max(each.timestamp for each in records):
                return None
        entry = bytearray(memoryview(data)[batch.position : batch.end])
        offset += count
        stamp(entry, batch, offset - 1, leader_epoch, append_time_ms)
        entries.append(entry)
    return entries


def _rebuilt(
    records: Sequence[Record],
    first: RecordBatch,
    magic: int,
    codec: Codec,
    offset: int,
    leader_epoch: int,
    append_time_ms: int | None,
) -> bytes:
    """The records in another format or codec, with the producer of `first`."""
    placed = [msgspec.structs.replace(record, offset=offset + number) for number, record in enumerate(records)]
    if magic < 2:
        if codec is Codec.ZSTD:
            raise LogError("UNKNOWN_SERVER_ERROR", f"compression.type is zstd, which magic {magic} does not know")
        return encode_message_set(placed, magic, codec, append_time_ms)
    producer = None
    if first.producer_id != NO_PRODUCER_ID:
        producer = Producer(first.producer_id, first.producer_epoch, first.base_sequence, first.is_transactional)
    return encode_batch(
        placed, codec=codec, leader_epoch=leader_epoch, producer=producer, append_time_ms=append_time_ms
    )
