"""Records of files that brokers and clients wrote, and of batches whose contents are not what they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.log.records import (
    Codec,
    Damage,
    DamageKind,
    Record,
    RecordBatch,
    SegmentFile,
    TimestampType,
    encode_batch,
    encode_message_set,
    end_transaction_marker,
    records_of,
    scan,
)
from tests.model.log.records.contents import records_of_files, sound


@pytest.mark.parametrize(
    ("folder", "plain", "compressed"),
    [
        ("k39-clean", "t-plain-0", ["t-gzip-0", "t-snappy-0", "t-lz4-0", "t-zstd-0"]),
        ("v0-by-3.9", "d-plain-0", ["d-gzip-0", "d-snappy-0", "d-lz4-0"]),
        ("v1-by-3.9", "d-plain-0", ["d-gzip-0", "d-snappy-0", "d-lz4-0"]),
        ("v0-by-0.8.2", "o-none-0", ["o-gzip-0", "o-snappy-0", "o-lz4-0"]),
        ("v1-by-0.10.2", "o-none-0", ["o-gzip-0", "o-snappy-0", "o-lz4-0"]),
    ],
)
def test_the_same_records_in_every_codec(corpus: Path, folder: str, plain: str, compressed: list[str]) -> None:
    expected = contents(corpus / folder / plain)
    assert len(expected) == 60
    assert {codec: contents(corpus / folder / codec) for codec in compressed} == dict.fromkeys(compressed, expected)


def test_headers(corpus: Path) -> None:
    records = records_of_files(sorted((corpus / "k39-clean/t-headers-0").glob("*.log")))
    by_offset = {record.offset: record.headers for record in records}
    assert by_offset[12] == ()
    assert by_offset[13] == ((b"trace-id", b"abc1"), (b"dup", b"1"), (b"dup", b"2"), (b"nullv", None))
    assert by_offset[14][-1] == (b"empty", b"")


def test_transactions_end_with_markers(corpus: Path) -> None:
    markers = []
    for path in sorted((corpus / "k39-clean/t-txn-0").glob("*.log")):
        with SegmentFile(path) as file:
            batches = [batch for batch in scan(file) if isinstance(batch, RecordBatch) and batch.is_control]
            markers += [
                end_transaction_marker(r) for b in batches for r in records_of(file, b) if isinstance(r, Record)
            ]
    assert {marker.committed for marker in markers if marker} == {True, False}
    assert None not in markers


def test_a_wrapper_of_v1_tells_offset_and_time() -> None:
    inner = [Record(offset, 50 + offset, b"k", b"v") for offset in range(3)]
    wrapper = bytearray(encode_message_set(inner, 1, Codec.GZIP, append_time_ms=99))
    wrapper[:8] = (42).to_bytes(8, "big")  # what a leader does: inner offsets stay 0, 1, 2
    (batch,) = sound(wrapper)
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [(r.offset, r.timestamp) for r in records_of(wrapper, batch) if isinstance(r, Record)] == [
        (40, 99),
        (41, 99),
        (42, 99),
    ]


@pytest.mark.parametrize(
    ("case", "kind", "readable"),
    [
        ("bad-gzip-stream-crc-ok", DamageKind.BAD_STREAM, 0),
        ("bad-snappy-stream-crc-ok", DamageKind.BAD_STREAM, 0),
        ("codec-5-unknown", DamageKind.UNKNOWN_CODEC, 0),
        ("codec-none-on-lz4", DamageKind.BAD_RECORDS, 0),
        ("count-negative-crc-ok", DamageKind.BAD_RECORDS, 0),
        ("count-too-big-crc-ok", DamageKind.BAD_RECORDS, 20),
        ("count-zero-crc-ok", DamageKind.BAD_RECORDS, 0),
        ("record-length-wrong-crc-ok", DamageKind.BAD_RECORDS, 0),
        ("v0-crc-flip-gzip", DamageKind.BAD_STREAM, 0),
        ("v1-crc-flip-lz4", DamageKind.BAD_STREAM, 0),
    ],
)
def test_damaged_contents(corpus: Path, case: str, kind: DamageKind, readable: int) -> None:
    (path,) = (corpus / "damaged" / case).glob("*.log")
    with SegmentFile(path) as file:
        found = {
            batch.position: list(records_of(file, batch)) for batch in scan(file) if isinstance(batch, RecordBatch)
        }
    damaged = {at: parts for at, parts in found.items() if any(isinstance(part, Damage) for part in parts)}
    ((position, (*records, damage)),) = damaged.items()
    assert isinstance(damage, Damage)
    assert (damage.position, damage.kind, len(records)) == (position, kind, readable)
    assert all(isinstance(record, Record) for record in records)


def test_a_batch_larger_than_allowed_is_not_read() -> None:
    data = encode_batch([Record(0, 0, None, bytes(1000))])
    (batch,) = sound(data)
    (damage,) = records_of(data, batch, limit=999)
    assert isinstance(damage, Damage)
    assert (damage.kind, damage.size) == (DamageKind.TOO_LARGE, len(data))


@pytest.mark.parametrize(
    ("magic", "codec"),
    [(magic, codec) for magic in (0, 1, 2) for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4)] + [(2, Codec.ZSTD)],
)
def test_a_batch_that_grows_beyond_what_is_allowed_is_refused(magic: int, codec: Codec) -> None:
    bomb = [Record(0, 0, None, bytes(4_000_000))]
    data = encode_batch(bomb, codec=codec) if magic == 2 else encode_message_set(bomb, magic, codec)
    (batch,) = sound(data)
    (damage,) = records_of(data, batch, limit=1_000_000)
    assert isinstance(damage, Damage)
    assert damage.kind is DamageKind.TOO_LARGE


def contents(folder: Path) -> list[tuple[object, ...]]:
    records = records_of_files(sorted(folder.glob("*.log")))
    return [(record.offset, record.key, record.value, record.headers) for record in records]
