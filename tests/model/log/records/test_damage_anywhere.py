"""Any byte changed, any file cut: it is noticed or it does no harm. Nothing raises, hangs or takes much memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from model.log.records import (
    Codec,
    Damage,
    Record,
    RecordBatch,
    crc_holds,
    encode_batch,
    encode_message_set,
    records_of,
    scan,
)
from model.log.records.columns import batch_groups
from model.log.records.layout import BATCH_CRC_START, LEGACY_CRC_START
from model.log.records.scan import BatchWindow, batch_windows
from tests.model.log.records.segment_map import segment_map

RECORDS = [
    Record(5, 1000, b"key", b"value" * 9, ((b"h", b"x"),)),
    Record(6, 1001, None, b""),
    Record(9, 900, b"", None),
]
ENTRIES = [
    *(encode_batch(RECORDS, codec=codec) for codec in Codec),
    *(encode_message_set(RECORDS, magic, codec) for magic in (0, 1) for codec in Codec if codec is not Codec.ZSTD),
]
logs = st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4).map(b"".join)


def read_all(data: bytes) -> tuple[list[RecordBatch], list[Record], list[Damage]]:
    """Everything that can be read in any of the ways there are."""
    parts = list(scan(data))
    batches = [part for part in parts if isinstance(part, RecordBatch)]
    inner = [part for batch in batches for part in records_of(data, batch)]
    damaged = [part for part in [*parts, *inner] if isinstance(part, Damage)]
    assert len(segment_map(data)) == len(batches)
    for window in batch_windows(data):
        if isinstance(window, BatchWindow):
            for group in batch_groups(window):
                assert group.counts[group.counts > 0].sum() == len(group.records)
    return batches, [part for part in inner if isinstance(part, Record)], damaged


@settings(max_examples=400)
@given(data=logs, place=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
def test_one_byte_changed(data: bytes, place: float, bits: int) -> None:
    at = int(len(data) * place)
    changed = data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]
    before, _, _ = read_all(data)
    after, _, damaged = read_all(changed)
    hit = next(batch for batch in before if batch.position <= at < batch.end)
    covered = BATCH_CRC_START if hit.magic == 2 else LEGACY_CRC_START
    if at >= hit.position + covered and not damaged:
        assert not all(crc_holds(changed, batch) for batch in after)
    # What lies before the damage is read as it was.
    assert after[: before.index(hit)] == before[: before.index(hit)]


@settings(max_examples=200)
@given(data=logs, place=st.floats(0, 1))
def test_cut_anywhere(data: bytes, place: float) -> None:
    size = int(len(data) * place)
    before, _, _ = read_all(data)
    after, _, damaged = read_all(data[:size])
    assert after == [batch for batch in before if batch.end <= size]
    assert bool(damaged) == (size not in {0, *(batch.end for batch in before)})


@settings(max_examples=300)
@given(data=st.binary(max_size=400), entry=st.sampled_from(ENTRIES), at=st.integers(0, 80))
def test_any_bytes_anywhere(data: bytes, entry: bytes, at: int) -> None:
    read_all(data)
    read_all(entry[:at] + data)
    read_all(entry[:at] + data + entry[at + len(data) :])


def test_no_length_makes_a_reader_take_memory() -> None:
    tracemalloc.start()
    for entry in ENTRIES:
        for at in range(8, len(entry) - 4):
            read_all(entry[:at] + b"\x7f\xff\xff\xff" + entry[at + 4 :])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20
