"""Records in older formats than they lie in, and in newer ones than they came in: bytes and errors of a real 3.9.1."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.log.appending import from_client
from model.log.names import LogError
from model.log.records import (
    Codec,
    EndTransactionMarker,
    Producer,
    Record,
    RecordBatch,
    TimestampType,
    encode_batch,
    encode_message_set,
    scan,
)
from model.log.records.encoding import converted
from model.log.settings import LogSettings
from tests.model.log.batches import encode_end_transaction_marker
from tests.model.log.records.contents import records_in, sound
from tests.model.log.records.record_strategies import record_lists

SENT = (
    Record(10, 1000, b"a", b"A", headers=((b"h", b"1"),)),
    Record(11, 900, None, b"B"),
    Record(12, -1, b"c", None),
)
TEN = (
    "000000000000000a00000018fdc5a7d5010000000000000003e800000001610000000141"
    "000000000000000b00000017e3d97ce101000000000000000384ffffffff0000000142"
    "000000000000000c00000017000400d30100ffffffffffffffff0000000163ffffffff"
)
"""What 3.9.1 sends of SENT to a Fetch v2 from offset 10 on."""
STUMP = "ffffffffffffffff"
COMPRESSED = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4)


def stored(*, codec: Codec = Codec.NONE, append_time_ms: int | None = None) -> bytes:
    return encode_batch(SENT, codec=codec, append_time_ms=append_time_ms)


def whole(data: bytes) -> list[RecordBatch]:
    """The entries of an answer, up to one that is cut off."""
    return [found for found in scan(data) if isinstance(found, RecordBatch)]


def read(data: bytes) -> list[tuple[int, int, bytes | None, bytes | None]]:
    end = whole(data)[-1].end if whole(data) else 0
    return [(each.offset, each.timestamp, each.key, each.value) for each in records_in(data[:end])]


def test_v2_as_v1() -> None:
    data = stored()
    assert len(data) == 92
    assert converted(data, 1, 10).hex() == TEN


def test_what_a_reader_has_is_left_out_and_the_rest_filled_up() -> None:
    data = stored()
    answer = converted(data, 1, 11)
    assert len(answer) == len(data)
    assert answer[:70].hex() == TEN[72:]
    assert answer[70:].hex() == f"{STUMP}{61:08x}".ljust(2 * (len(data) - 70), "0")


def test_v2_as_v0() -> None:
    answer = converted(stored(), 0, 10)
    assert [f"{each.crc:08x}" for each in whole(answer)] == ["06ca5163", "f3b84b40", "a0f24f37"]
    assert answer[:28].hex() == "000000000000000a0000001006ca51630000000000016100000001" + "41"
    assert len(answer) == 92
    assert answer[82:90].hex() == STUMP


def test_nothing_that_is_wanted_is_a_stump() -> None:
    assert converted(stored(), 1, 13).hex() == f"{STUMP}0000003d"
    marker = EndTransactionMarker(committed=True, coordinator_epoch=0)
    control = encode_end_transaction_marker(marker, Producer(5), offset=20, timestamp=1)
    assert converted(control, 1, 20).hex() == f"{STUMP}0000003d"
    assert converted(b"", 1, 0) == b""


def test_append_time() -> None:
    answer = converted(stored(append_time_ms=5000), 1, 10)
    entries = whole(answer)
    assert [f"{each.crc:08x}" for each in entries] == ["a8a8c194", "4042f6a8", "1308f2df"]
    assert {(each.attributes, each.max_timestamp) for each in entries} == {(8, 5000)}
    (wrapper,) = whole(converted(stored(codec=Codec.GZIP, append_time_ms=5000), 1, 10))
    assert (wrapper.attributes, wrapper.max_timestamp) == (9, 5000)
    assert {time for _, time, _, _ in read(converted(stored(codec=Codec.GZIP, append_time_ms=5000), 1, 10))} == {5000}


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("magic", [0, 1])
def test_a_compressed_batch_is_one_wrapper_with_all_its_records(codec: Codec, magic: int) -> None:
    answer = converted(stored(codec=codec), magic, 11)
    (wrapper,) = whole(answer)
    assert (wrapper.base_offset, wrapper.codec, wrapper.magic) == (12, codec, magic)
    assert wrapper.max_timestamp == (1000 if magic else -1)
    times = (1000, 900, -1) if magic else (-1, -1, -1)
    assert read(answer) == [(each.offset, time, each.key, each.value) for each, time in zip(SENT, times, strict=True)]


@pytest.mark.parametrize(("magic", "checksum"), [(0, "1a"), (1, "82")])
def test_lz4_has_the_checksum_that_readers_of_each_format_expect(magic: int, checksum: str) -> None:
    assert bytes.fromhex(f"04224d186040{checksum}") in converted(stored(codec=Codec.LZ4), magic, 10)


def test_zstd_is_an_error_where_it_comes_first_and_later_the_end() -> None:
    zstd = encode_batch([Record(13, 5, None, b"z")], codec=Codec.ZSTD)
    with pytest.raises(LogError) as refusal:
        converted(zstd, 1, 13)
    assert refusal.value.kafka_error == "UNSUPPORTED_COMPRESSION_TYPE"
    answer = converted(stored(codec=Codec.GZIP) + zstd, 1, 10)
    assert [each[0] for each in read(answer)] == [10, 11, 12]
    assert len(answer) == len(stored(codec=Codec.GZIP) + zstd)
    assert answer[whole(answer)[-1].end :][:8].hex() == STUMP


def test_half_a_batch_is_none() -> None:
    assert converted(stored()[:-1], 1, 10) == b""
    behind = encode_batch([Record(13, 5, None, b"x" * 300)])
    answer = converted(stored() + behind[:50], 1, 10)
    assert [each[0] for each in read(answer)] == [10, 11, 12]
    assert len(answer) == len(stored()) + 50


def test_what_is_old_already_goes_out_as_it_is() -> None:
    old = encode_message_set(SENT, 1)
    assert converted(old, 1, 11) == old
    assert converted(encode_message_set(SENT, 0, Codec.GZIP), 1, 12) == encode_message_set(SENT, 0, Codec.GZIP)
    assert [f"{each.crc:08x}" for each in whole(converted(old, 0, 10))] == ["06ca5163", "f3b84b40", "a0f24f37"]


def test_more_than_a_piece_is_converted_to_the_last_byte() -> None:
    """Messages of v1 are larger than records: the answer ends in the middle of one."""
    batches = [encode_batch([Record(10 * n + m, 5, None, b"") for m in range(10)]) for n in range(3000)]
    data = b"".join(batches)
    answer = converted(data, 1, 0)
    assert len(answer) == len(data) > 300_000
    offsets = [each[0] for each in read(answer)]
    assert offsets == list(range(len(offsets)))
    assert len(answer) - whole(answer)[-1].end < 34


PLAIN = [Record(0, 1000, b"a", b"A"), Record(1, 900, None, b"B"), Record(2, -1, b"c", b"C")]
KEYED = [Record(n, 1000, b"k", b"v") for n in range(3)]
NOW_MS = 50_000


def append(data: bytes, append_time_ms: int | None = None, **settings: Any) -> tuple[bytes, list[RecordBatch]]:
    made = from_client(
        data,
        replace(LogSettings(), **settings),
        next_offset=100,
        leader_epoch=9,
        append_time_ms=append_time_ms,
    )
    assert made is not None
    assert (made.first_offset, made.last_offset) == (100, 102)
    return bytes(made.data), sound(bytes(made.data))


def refused(data: bytes, append_time_ms: int | None = None, **settings: Any) -> str:
    with pytest.raises(LogError) as refusal:
        append(data, append_time_ms, **settings)
    return refusal.value.kafka_error


@pytest.mark.parametrize(
    ("magic", "times", "latest", "size"), [(0, (-1, -1, -1), -1, 87), (1, (1000, 900, -1), 1000, 89)]
)
def test_old_messages_become_one_batch(magic: int, times: tuple[int, ...], latest: int, size: int) -> None:
    data, (batch,) = append(encode_message_set(PLAIN, magic))
    assert (batch.magic, batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (2, 100, 102, 9)
    assert (batch.size, batch.max_timestamp, batch.producer_id, batch.base_sequence) == (size, latest, -1, -1)
    assert tuple(each.timestamp for each in records_in(data)) == times


def test_append_time_of_old_messages() -> None:
    data, (batch,) = append(encode_message_set(PLAIN, 1), NOW_MS)
    assert (batch.timestamp_type, batch.max_timestamp) == (TimestampType.LOG_APPEND_TIME, NOW_MS)
    assert {each.timestamp for each in records_in(data)} == {NOW_MS}


def test_codecs_of_old_messages() -> None:
    _, (batch,) = append(encode_message_set(PLAIN, 0, Codec.GZIP))
    assert (batch.magic, batch.codec, batch.size) == (2, Codec.GZIP, 105)
    _, (batch,) = append(encode_message_set(PLAIN, 1), compression_type="gzip")
    assert (batch.magic, batch.codec, batch.size) == (2, Codec.GZIP, 109)
    _, (batch,) = append(encode_batch(PLAIN, codec=Codec.GZIP), compression_type="uncompressed")
    assert batch.codec is Codec.NONE


def test_a_compressed_set_of_the_topics_format_stays_as_it_is() -> None:
    sent = encode_message_set(PLAIN, 1, Codec.GZIP)
    data, (wrapper,) = append(sent, message_format=1)
    assert (wrapper.base_offset, data[8:]) == (102, sent[8:])
    data, (wrapper,) = append(sent, NOW_MS, message_format=1)
    assert (wrapper.attributes, wrapper.max_timestamp) == (9, NOW_MS)
    assert {each.timestamp for each in records_in(data)} == {NOW_MS}
    gaps = encode_message_set([Record(n, 5, None, b"v") for n in (0, 2, 3)], 1, Codec.GZIP)
    data, _ = append(gaps, message_format=1)
    assert [each.offset for each in records_in(data)] == [100, 101, 102]


@pytest.mark.parametrize(("magic", "size"), [(0, 83), (1, 107)])
def test_new_batches_become_old_messages(magic: int, size: int) -> None:
    data, entries = append(encode_batch(PLAIN), message_format=magic)
    assert [(each.magic, each.base_offset) for each in entries] == [(magic, 100), (magic, 101), (magic, 102)]
    assert len(data) == size
    assert [each.timestamp for each in records_in(data)] == ([1000, 900, -1] if magic else [-1, -1, -1])


def test_an_idempotent_producer_needs_the_new_format() -> None:
    sent = encode_batch(PLAIN, producer=Producer(5, 0, 7))
    assert refused(sent, message_format=1) == "UNSUPPORTED_FOR_MESSAGE_FORMAT"
    _, (batch,) = append(sent, compression_type="lz4")
    assert (batch.codec, batch.producer_id, batch.base_sequence) == (Codec.LZ4, 5, 7)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_compacted_topic_wants_keys_of_old_producers_too(magic: int) -> None:
    compacted: dict[str, Any] = {"cleanup_policy": frozenset({"compact"})}
    assert refused(encode_message_set(PLAIN, magic), **compacted) == "INVALID_RECORD"
    append(encode_message_set(KEYED, magic), **compacted)


def test_what_is_refused() -> None:
    assert refused(encode_message_set(PLAIN, 1) + encode_message_set(PLAIN, 0)) == "INVALID_RECORD"
    gzip_set = encode_message_set(PLAIN, 1, Codec.GZIP)
    assert refused(gzip_set + gzip_set) == "INVALID_RECORD"
    assert refused(encode_batch(PLAIN, codec=Codec.ZSTD), message_format=1) == "UNSUPPORTED_COMPRESSION_TYPE"
    assert refused(encode_message_set(PLAIN, 1, append_time_ms=7), NOW_MS) == "INVALID_TIMESTAMP"
    assert refused(encode_message_set(PLAIN, 1, append_time_ms=-1)) == "INVALID_TIMESTAMP"
    several = encode_message_set([Record(n, -1, None, b"") for n in range(4)], 0)
    assert refused(several, max_message_bytes=60) == "MESSAGE_TOO_LARGE"  # as one batch, that is


def test_inner_messages_are_checked() -> None:
    inner = encode_message_set(PLAIN, 1)
    append(wrapped(inner))
    assert refused(wrapped(inner[:-1] + b"X")) == "CORRUPT_MESSAGE"
    assert refused(wrapped(inner[:-1])) == "CORRUPT_MESSAGE"
    assert refused(wrapped(encode_message_set(PLAIN, 1, Codec.GZIP))) == "INVALID_RECORD"


def wrapped(inner: bytes) -> bytes:
    """A gzip wrapper of v1 around these bytes."""
    message = bytearray(encode_message_set([Record(2, 1000, None, gzip.compress(inner))], 1))
    message[17] |= Codec.GZIP
    message[12:16] = zlib.crc32(message[16:]).to_bytes(4, "big")
    return bytes(message)


def test_what_a_producer_says_of_append_time_does_not_count() -> None:
    _, entries = append(encode_message_set(PLAIN, 1, append_time_ms=7), message_format=1)
    assert {each.timestamp_type for each in entries} == {TimestampType.CREATE_TIME}
    _, (batch,) = append(encode_batch(PLAIN, append_time_ms=7))
    assert (batch.timestamp_type, batch.max_timestamp) == (TimestampType.CREATE_TIME, 7)


old_codecs = st.sampled_from((Codec.NONE, *COMPRESSED))


@given(record_lists(), st.sampled_from(range(3)), old_codecs, st.sampled_from(range(3)))
def test_what_is_produced_in_any_format_reads_the_same_in_any(
    records: list[Record], produced: int, codec: Codec, asked: int
) -> None:
    """Keys, values and, where both know them, times."""
    sent = [msgspec.structs.replace(each, offset=number) for number, each in enumerate(records)]
    data = encode_batch(sent, codec=codec) if produced == 2 else encode_message_set(sent, produced, codec)
    made = from_client(data, LogSettings(), next_offset=100, leader_epoch=0, append_time_ms=None)
    assert made is not None
    stored_data = bytes(made.data)
    assert {each.magic for each in sound(stored_data)} == {2}
    answer = stored_data if asked == 2 else converted(stored_data, asked, 100)
    timed = produced > 0 and asked > 0
    assert read(answer) == [
        (100 + number, each.timestamp if timed else -1, each.key, each.value) for number, each in enumerate(records)
    ]


def test_an_answer_that_is_cut_off_anywhere_is_sound() -> None:
    """Offsets begin with zeros, of which damage may consist, too."""
    behind = encode_batch([Record(13, 5, None, b"x")])
    for size in range(len(behind)):
        assert [each[0] for each in read(converted(stored() + behind[:size], 1, 10))] == [10, 11, 12], size
        (batch,) = append(encode_batch(PLAIN) + encode_batch(PLAIN)[:size])[1]
        assert batch.last_offset == 102
