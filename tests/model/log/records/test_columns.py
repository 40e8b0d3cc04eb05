"""The quick ways over a whole segment find what the plain way finds: its map, and columns of headers and records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from model.log.records import (
    Buffer,
    ByteSource,
    Codec,
    Damage,
    Record,
    RecordBatch,
    SegmentFile,
    crc_holds,
    encode_batch,
    encode_message_set,
    records_of,
    scan,
)
from model.log.records.columns import BatchGroup, batch_groups
from model.log.records.scan import BatchWindow, batch_windows
from tests.model.log.records.record_strategies import codecs, producers, record_lists
from tests.model.log.records.segment_map import map_pieces, segment_map
from tests.segment_corpus import logs

COLUMNS = ("position", "size", "base_offset", "last_offset", "partition_leader_epoch", "magic", "crc", "attributes")
COLUMNS += ("base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "count")


def test_the_map_of_every_file_of_the_corpus(corpus: Path) -> None:
    for path in logs(corpus):
        with SegmentFile(path) as file:
            parts = list(scan(file))
            batches = [part for part in parts if isinstance(part, RecordBatch)]
            whole = segment_map(file)
            assert [whole.batch(n) for n in range(len(whole))] == batches
            assert list(whole.crc_valid) == [crc_holds(file, batch) for batch in batches]
            assert whole.damage == (parts[-1] if parts and isinstance(parts[-1], Damage) else None)
            columns = whole.columns()
            for name in COLUMNS:
                assert getattr(columns, name).tolist() == [getattr(batch, name) for batch in batches], (path, name)


def test_a_map_without_checks_believes_every_crc() -> None:
    data = bytearray(encode_batch([Record(0, 0, b"k", b"v")]))
    data[-1] ^= 1
    assert list(segment_map(data).crc_valid) == [0]
    assert list(segment_map(data, check_crc=False).crc_valid) == [1]


def test_batches_that_fit_no_window() -> None:
    small = encode_batch([Record(0, 0, b"k", b"v")])
    larger = encode_batch([Record(1, 0, None, bytes(2 << 20))])
    largest = encode_batch([Record(2, 0, None, bytes(17 << 20))])
    data = small + larger + small + largest + encode_message_set([Record(3)], 1) + small
    assert len(list(map_pieces(data))) == 6
    whole = segment_map(data)
    assert [whole.batch(n) for n in range(6)] == list(scan(data))
    assert list(whole.crc_valid) == [1] * 6


def test_a_file_that_is_cut_while_it_is_mapped(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(encode_batch([Record(0, 0, None, bytes(3 << 20))]))
    with SegmentFile(path) as file:
        path.write_bytes(path.read_bytes()[:100_000])
        whole = segment_map(file)
    assert list(whole.crc_valid) == [0]


def test_the_records_of_every_file_of_the_corpus(corpus: Path) -> None:
    read_at_once = 0
    for path in logs(corpus):
        with SegmentFile(path) as file:
            read_at_once += check_columns(file)
    assert read_at_once > 1000


@given(
    batches=st.lists(
        st.tuples(record_lists() | record_lists(with_headers=False), codecs, producers, st.none() | st.integers(0, 99)),
        min_size=1,
        max_size=5,
    )
)
def test_the_records_of_any_batches(batches: list[tuple]) -> None:
    encoded = [
        encode_batch(records, codec=codec, producer=producer, append_time_ms=time)
        for records, codec, producer, time in batches
    ]
    check_columns(b"".join(encoded))


def test_records_that_are_long_many_or_highly_compressible() -> None:
    long = [Record(0, 0, b"k" * 70_000, b"v" * 3_000_000), Record(1, 0, None, b"")]
    many = [Record(n, n, b"%d" % n, bytes(n % 300)) for n in range(3000)]
    blown_up = [Record(n, 0, None, bytes(1 << 19)) for n in range(3)]
    batches = [encode_batch(many), *[encode_batch(blown_up, codec=Codec.ZSTD)] * 12, encode_batch(long)]
    assert check_columns(b"".join(batches)) == 3000 + 36  # the long ones go the other way


def test_groups_have_a_bounded_number_of_records() -> None:
    tiny = encode_batch([Record(n) for n in range(1000)])
    packed = encode_batch([Record(n) for n in range(1000)], codec=Codec.ZSTD)
    too_many = encode_batch([Record(n) for n in range(200_000)], codec=Codec.ZSTD)
    for data, left_out in ((tiny * 1000, 0), (packed * 1000, 0), (packed + too_many + packed, 1)):
        windows = [window for window in batch_windows(data, window=1 << 24) if isinstance(window, BatchWindow)]
        groups = [group for window in windows for group in batch_groups(window)]
        assert max(len(group.records) for group in groups) < 140_000
        assert sum(int((group.counts < 0).sum()) for group in groups) == left_out
        assert sum(len(group.records) for group in groups) == 1000 * (len(scanned(data)) - left_out)


def scanned(data: bytes) -> list[RecordBatch]:
    return [batch for batch in scan(data) if isinstance(batch, RecordBatch)]


def check_columns(data: ByteSource | Buffer) -> int:
    """Compares all records read at once with the same read one by one; how many there were."""
    seen = 0
    for window in batch_windows(data):
        if not isinstance(window, BatchWindow):
            continue
        place = 0
        for group in batch_groups(window):
            assert group.start == place
            place += len(group.counts)
            seen += len(group.records)
            for batch, at_once in zip(range(group.start, place), records_by_batch(group), strict=True):
                one_by_one = list(records_of(data, window.batch(batch)))
                if at_once is None:
                    assert any(
                        isinstance(part, Damage) or part.headers or len(part.value or b"") > 1 << 20
                        for part in one_by_one
                    )
                else:
                    assert at_once == one_by_one
        assert place == len(window)
    return seen


def records_by_batch(group: BatchGroup) -> Iterator[list[Record] | None]:
    """The columns as records; None where a batch was left out."""
    columns, at = group.records, 0
    for count in group.counts.tolist():
        yield (
            None
            if count < 0
            else [
                Record(
                    int(columns.offset[n]),
                    int(columns.timestamp[n]),
                    field(columns.data, int(columns.key_start[n]), int(columns.key_size[n])),
                    field(columns.data, int(columns.value_start[n]), int(columns.value_size[n])),
                    (),
                    int(columns.sequence[n]),
                )
                for n in range(at, at + count)
            ]
        )
        at += max(count, 0)


def field(data: bytes, start: int, size: int) -> bytes | None:
    return None if size < 0 else data[start : start + size]
