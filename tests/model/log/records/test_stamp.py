"""What a leader changes in entries that it was sent."""

from __future__ import annotations

import pytest

from model.log.records import Codec, Record, TimestampType, crc_holds, encode_batch, encode_message_set, stamp
from tests.model.log.records.contents import records_in, sound

SENT = [Record(n, 1000 + n, b"k", b"v%d" % n) for n in range(3)]


@pytest.mark.parametrize("codec", Codec)
def test_offsets_and_epoch_leave_the_crc_alone(codec: Codec) -> None:
    entry = bytearray(encode_batch(SENT, codec=codec))
    (sent,) = sound(entry)
    stamp(entry, sent, last_offset=102, leader_epoch=7)
    (batch,) = sound(entry)
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (100, 102, 7)
    assert (batch.crc, crc_holds(entry, batch)) == (sent.crc, True)
    assert [(record.offset, record.timestamp) for record in records_in(entry)] == [
        (100, 1000),
        (101, 1001),
        (102, 1002),
    ]


def test_append_time_makes_the_crc_anew() -> None:
    entry = bytearray(encode_batch(SENT, codec=Codec.ZSTD))
    stamp(entry, sound(entry)[0], last_offset=2, leader_epoch=0, append_time_ms=5555)
    (batch,) = sound(entry)
    assert (batch.timestamp_type, batch.max_timestamp, crc_holds(entry, batch)) == (
        TimestampType.LOG_APPEND_TIME,
        5555,
        True,
    )
    assert {record.timestamp for record in records_in(entry)} == {5555}


def test_one_of_several_entries() -> None:
    first, second = encode_batch(SENT), encode_batch(SENT)
    data = bytearray(first + second)
    batch = sound(data)[1]
    stamp(memoryview(data)[batch.position :], batch, last_offset=12, leader_epoch=1, append_time_ms=9)
    assert [(each.base_offset, crc_holds(data, each)) for each in sound(data)] == [(0, True), (10, True)]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_a_compressed_set_of_v1(codec: Codec) -> None:
    entry = bytearray(encode_message_set(SENT, 1, codec))
    stamp(entry, sound(entry)[0], last_offset=42, leader_epoch=0)
    assert [record.offset for record in records_in(entry)] == [40, 41, 42]


def test_what_cannot_be_stamped_is_refused() -> None:
    entry = bytearray(encode_message_set(SENT, 0, Codec.GZIP))
    with pytest.raises(ValueError, match="encode it anew"):
        stamp(entry, sound(entry)[0], last_offset=42, leader_epoch=0)
