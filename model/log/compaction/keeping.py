"""What compaction keeps of a batch: pure, a batch and its records in, bytes out.

Kafka 3.9 `org.apache.kafka.common.record.MemoryRecords.filterTo` and `kafka.log.Cleaner.shouldRetainRecord`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from model.log.records import Buffer, Codec, Producer, Record, RecordBatch, TimestampType, encode_batch
from model.log.records import encode_message_set as encode_messages
from model.log.records.crc32c import crc32c
from model.log.records.layout import BATCH, BATCH_CRC_START, BATCH_SIZE, LOG_OVERHEAD, NO_PRODUCER_ID, NO_TIMESTAMP


@dataclass(frozen=True)
class Rules:
    """What holds for one pass over a log."""

    newest: Mapping[bytes, int]
    """The last offset of each key below `end`."""
    end: int
    """Records from here on are kept, for their keys were not looked at."""
    now_ms: int
    delete_retention_ms: int
    last_batches: Mapping[int, int] = field(default_factory=dict[int, int])
    """The offset of the last data of each producer, -1 for none; that batch (or the marker that is all there is) stays,
    if only as a header, for the producer's state stands in it."""
    keep_legacy_tombstones: bool = True
    """For v0 and v1, which have no place for a time of their own."""

    def keeps(self, batch: RecordBatch, record: Record) -> bool:
        """Whether a record of a data batch stays."""
        if record.offset >= self.end:
            return True
        if record.key is None or record.offset < self.newest.get(record.key, -1):
            return False
        if record.value is not None:
            return True
        return self.keep_legacy_tombstones if batch.magic < 2 else not self.is_past_horizon(batch)

    def is_past_horizon(self, batch: RecordBatch) -> bool:
        """Whether consumers had delete.retention.ms since a pass first met this tombstone or marker (KIP-534)."""
        return batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= self.now_ms

    def is_last_of_producer(self, batch: RecordBatch) -> bool:
        """Whether the producer's state stands in this batch."""
        last = self.last_batches.get(batch.producer_id)
        return last == batch.last_offset or (last == -1 and batch.is_control)


def kept_of_data(entry: Buffer, batch: RecordBatch, records: Sequence[Record], rules: Rules, *, aborted: bool) -> bytes:
    """What stays of a data batch, possibly nothing. Of an aborted transaction no record stays."""
    kept = [] if aborted else [record for record in records if rules.keeps(batch, record)]
    if not kept:
        return emptied(entry) if rules.is_last_of_producer(batch) else b""
    has_tombstone = any(record.value is None for record in kept)
    new_horizon = batch.magic >= 2 and has_tombstone and batch.delete_horizon_ms is None
    if len(kept) == len(records) and not new_horizon:
        return bytes(entry)
    horizon_ms = rules.now_ms + rules.delete_retention_ms if new_horizon else batch.delete_horizon_ms
    return _encoded(batch, kept, horizon_ms)


def kept_of_marker(
    entry: Buffer, batch: RecordBatch, records: Sequence[Record], rules: Rules, *, without_data: bool
) -> bytes:
    """What stays of a transaction's marker: all, until its transaction has no data and its time has passed."""
    if without_data and rules.is_past_horizon(batch):
        return emptied(entry) if rules.is_last_of_producer(batch) else b""
    if without_data and batch.delete_horizon_ms is None:
        return _encoded(batch, records, rules.now_ms + rules.delete_retention_ms)
    return bytes(entry)


def emptied(entry: Buffer) -> bytes:
    """The header alone, which keeps offsets and sequence: neither codec nor delete horizon, no records."""
    (base, _, epoch, magic, _, attributes, last_delta, _, max_time, *producer, _) = BATCH.unpack_from(entry)
    attributes &= ~0x47
    length = BATCH_SIZE - LOG_OVERHEAD
    fields = (base, length, epoch, magic, 0, attributes, last_delta, NO_TIMESTAMP, max_time, *producer, 0)
    crc = crc32c(BATCH.pack(*fields)[BATCH_CRC_START:])
    return BATCH.pack(*fields[:4], crc, *fields[5:])


def _encoded(batch: RecordBatch, records: Sequence[Record], horizon_ms: int | None) -> bytes:
    codec = batch.codec or Codec.NONE
    append_time = batch.max_timestamp if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else None
    if batch.magic < 2:
        return encode_messages(records, batch.magic, codec, append_time)
    producer = Producer(batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional)
    return encode_batch(
        records,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        codec=codec,
        leader_epoch=batch.partition_leader_epoch,
        producer=None if batch.producer_id == NO_PRODUCER_ID else producer,
        control=batch.is_control,
        append_time_ms=append_time,
        delete_horizon_ms=horizon_ms,
    )
