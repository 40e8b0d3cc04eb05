"""What is written is what is read, in every format and codec, and what real brokers wrote is written byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from model.log.records import (
    Codec,
    EndTransactionMarker,
    Producer,
    Record,
    RecordBatch,
    SegmentFile,
    TimestampType,
    crc_holds,
    encode_batch,
    encode_message_set,
    end_transaction_marker,
    records_of,
    scan,
)
from model.log.records.layout import add_sequence
from tests.model.log.batches import encode_end_transaction_marker
from tests.model.log.records.contents import records_in, sound
from tests.model.log.records.record_strategies import codecs, producers, record_lists, timestamps
from tests.segment_corpus import logs

OLD_CODECS = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]


@given(
    records=record_lists(), codec=codecs, producer=producers, epoch=st.integers(-1, 2**31 - 1), lead=st.integers(0, 50)
)
def test_any_batch(records: list[Record], codec: Codec, producer: Producer | None, epoch: int, lead: int) -> None:
    base, last = max(records[0].offset - lead, 0), records[-1].offset + lead
    data = encode_batch(records, base_offset=base, last_offset=last, codec=codec, producer=producer, leader_epoch=epoch)
    (batch,) = sound(data)
    assert crc_holds(data, batch)
    assert (batch.position, batch.size, batch.magic, batch.codec) == (0, len(data), 2, codec)
    assert (batch.base_offset, batch.last_offset, batch.count) == (base, last, len(records))
    assert (batch.partition_leader_epoch, batch.max_timestamp) == (epoch, max(r.timestamp for r in records))
    assert (batch.producer_id, batch.producer_epoch) == ((producer.id, producer.epoch) if producer else (-1, -1))
    expected = [
        replace(r, sequence=add_sequence(producer.base_sequence, r.offset - base) if producer else -1) for r in records
    ]
    assert records_in(data) == expected


@given(records=record_lists(), codec=codecs, time_ms=timestamps)
def test_append_time_is_every_records_time(records: list[Record], codec: Codec, time_ms: int) -> None:
    data = encode_batch(records, codec=codec, append_time_ms=time_ms)
    (batch,) = sound(data)
    assert (batch.timestamp_type, batch.max_timestamp) == (TimestampType.LOG_APPEND_TIME, time_ms)
    assert records_in(data) == [replace(record, timestamp=time_ms) for record in records]


@given(records=record_lists(), horizon=st.integers(0, 2**60))
def test_a_delete_horizon_moves_no_timestamp(records: list[Record], horizon: int) -> None:
    data = encode_batch(records, delete_horizon_ms=horizon)
    (batch,) = sound(data)
    assert batch.delete_horizon_ms == horizon
    assert records_in(data) == records


@given(records=record_lists(with_headers=False), magic=st.sampled_from([0, 1]), codec=st.sampled_from(OLD_CODECS))
def test_any_message_set(records: list[Record], magic: int, codec: Codec) -> None:
    data = encode_message_set(records, magic, codec)
    batches = sound(data)
    assert all(crc_holds(data, batch) for batch in batches)
    assert len(batches) == (len(records) if codec is Codec.NONE else 1)
    assert batches[-1].last_offset == records[-1].offset
    expected = [replace(record, timestamp=-1) for record in records] if magic == 0 else records
    found = records_in(data)
    assert all(record.crc_valid for record in found)
    assert [replace(record, crc=None) for record in found] == expected


def test_a_batch_emptied_by_compaction() -> None:
    data = encode_batch([], base_offset=7, last_offset=9, codec=Codec.LZ4, producer=Producer(5, 1, 20))
    (batch,) = sound(data)
    assert (len(data), batch.count, batch.base_offset, batch.last_offset) == (61, 0, 7, 9)
    assert (batch.base_timestamp, batch.last_sequence) == (-1, 22)
    assert list(records_of(data, batch)) == []


def test_a_transaction_marker() -> None:
    marker = EndTransactionMarker(committed=True, coordinator_epoch=4)
    data = encode_end_transaction_marker(marker, Producer(9, 2), offset=11, timestamp=5)
    (batch,) = sound(data)
    assert (len(data), batch.is_control, batch.is_transactional, batch.base_sequence) == (78, True, True, -1)
    assert [end_transaction_marker(record) for record in records_in(data)] == [marker]


@pytest.mark.parametrize(
    ("offsets", "base", "last"), [([3, 2], None, None), ([5], 6, None), ([5], None, 4), ([0, 2**31], None, None)]
)
def test_offsets_that_do_not_fit_are_refused(offsets: list[int], base: int | None, last: int | None) -> None:
    with pytest.raises(ValueError, match="offsets"):
        encode_batch([Record(offset) for offset in offsets], base_offset=base, last_offset=last)


@pytest.mark.parametrize(("magic", "codec"), [(0, Codec.ZSTD), (1, Codec.ZSTD), (2, Codec.NONE)])
def test_what_old_formats_do_not_know_is_refused(magic: int, codec: Codec) -> None:
    with pytest.raises(ValueError, match="no message set"):
        encode_message_set([Record(0)], magic, codec)


def test_uncompressed_entries_of_real_brokers_are_written_byte_for_byte(corpus: Path) -> None:
    rewritten = 0
    for path in logs(corpus, "k39-clean", "kraft", "v0-by-0.8.2", "v1-by-0.10.2", "v0-by-3.9", "v1-by-3.9"):
        with SegmentFile(path) as file:
            for batch in scan(file):
                assert isinstance(batch, RecordBatch)
                if batch.codec is Codec.NONE and _can_be_rewritten(batch):
                    records = [record for record in records_of(file, batch) if isinstance(record, Record)]
                    assert _rewritten(batch, records) == file.read(batch.position, batch.size)
                    rewritten += 1
    assert rewritten > 1000


def _can_be_rewritten(batch: RecordBatch) -> bool:
    """Append time hides the times that producers gave; the group coordinator numbers batches without a producer."""
    has_stray_sequence = batch.producer_id == -1 and batch.base_sequence != -1
    return batch.timestamp_type is not TimestampType.LOG_APPEND_TIME and not has_stray_sequence


def _rewritten(batch: RecordBatch, records: list[Record]) -> bytes:
    if batch.magic < 2:
        return encode_message_set(records, batch.magic)
    producer = Producer(batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional)
    return encode_batch(
        records,
        base_offset=batch.base_offset,
        last_offset=batch.last_offset,
        leader_epoch=batch.partition_leader_epoch,
        producer=None if batch.producer_id == -1 else producer,
        control=batch.is_control,
        delete_horizon_ms=batch.delete_horizon_ms,
    )
