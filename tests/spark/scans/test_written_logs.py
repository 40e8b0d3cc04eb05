"""Logs that `model.log` writes, with any contents: a scan counts what a plain reader of them counts."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.scans.combining import SCAN
from model.log.compaction import Compaction
from model.log.partition_log import PartitionLog
from model.log.records import (
    Codec,
    Producer,
    Record,
    RecordBatch,
    SegmentFile,
    encode_batch,
    encode_message_set,
    records_of,
    scan,
)
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, end_transaction, keyed
from tests.segment_corpus import logs
from tests.spark.scans.scanning import listed, only_partition
from tests.spark.scans.scanning import scan as scanned

SETTINGS = LogSettings(segment_bytes=900, index_interval_bytes=150, segment_index_bytes=600)


def new_log(folder: Path, log_settings: LogSettings = SETTINGS) -> PartitionLog:
    return open_log(folder, log_settings, Checkpointed(clean=True), now_ms=START_MS)[0]


fields = st.none() | st.binary(max_size=60)
times = st.integers(START_MS - 10_000, START_MS + 10_000)


@st.composite
def sent(draw: st.DrawFn) -> tuple[int, Codec, list[Record]]:
    """A format, a codec it knows, and records as a producer numbers them."""
    magic = draw(st.sampled_from([2, 2, 2, 0, 1]))
    codec = draw(st.sampled_from([codec for codec in Codec if magic == 2 or codec is not Codec.ZSTD]))
    contents = draw(st.lists(st.tuples(times, fields, fields), min_size=1, max_size=6))
    return magic, codec, [Record(number, *each) for number, each in enumerate(contents)]


@settings(max_examples=30)
@given(st.lists(sent(), min_size=1, max_size=12))
def test_counts_are_those_of_a_plain_reader(batches: list[tuple[int, Codec, list[Record]]]) -> None:
    with tempfile.TemporaryDirectory(prefix="scan-") as name:
        log = new_log(Path(name) / "t-0")
        for magic, codec, records in batches:
            data = encode_batch(records, codec=codec) if magic == 2 else encode_message_set(records, magic, codec)
            log.append_as_leader(data, leader_epoch=3, now_ms=START_MS)
        log.close(now_ms=START_MS)
        plain = [(part, list(records_of(file, part))) for file in opened(log.folder) for part in batches_of(file)]
        found = only_partition(log.folder, deep=True)
        sizes = sum(path.stat().st_size for path in logs(log.folder))
    measured, records = found.measures, [record for _, some in plain for record in some if isinstance(record, Record)]
    every = [part for part, _ in plain]
    assert (measured.batches, measured.bytes) == (len(every), sizes)
    assert measured.records == len(records) == sum(len(records) for _, _, records in batches)
    assert (found.first_offset or 0, found.end_offset) == (
        every[0].base_offset if every[0].count > 0 else 0,
        len(records),
    )
    assert {share.codec: share.batches for share in measured.codecs} == Counter(
        part.codec.name.lower() for part in every if part.codec is not None
    )
    assert measured.formats == Counter(f"v{part.magic}" for part in every)
    stamps = [part.max_timestamp for part in every if part.max_timestamp >= 0]
    assert measured.newest_ms == max(stamps, default=None)
    assert measured.tombstones == sum(record.value is None for record in records)
    assert measured.keyless_records == sum(record.key is None for record in records)
    assert measured.batch_bytes.largest == max(part.size for part in every)
    assert measured.batch_records.smallest == min(len(some) for _, some in plain)
    assert measured.batch_records.mean == round(len(records) / len(every), 1)
    assert measured.uncounted_sets == measured.gaps == measured.missing_offsets == 0


def opened(folder: Path) -> list[SegmentFile]:
    return [SegmentFile(path) for path in logs(folder)]


def batches_of(file: SegmentFile) -> list[RecordBatch]:
    parts = list(scan(file))
    assert all(isinstance(part, RecordBatch) for part in parts)
    return [part for part in parts if isinstance(part, RecordBatch)]


def test_how_late_batches_are_and_what_the_future_holds(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0", LogSettings())
    for time_ms in (5_000, 7_000, 4_000, 6_500, -1, 9_000):
        record = Record(0, START_MS + time_ms if time_ms >= 0 else -1, b"k", b"v")
        log.append_as_leader(encode_batch([record]), leader_epoch=0, now_ms=START_MS)
    log.close(now_ms=START_MS)
    result = scanned(tmp_path, now_ms=START_MS + 8_999 - 3_600_000)
    measured = result.totals
    assert (measured.late_batches, measured.latest_by_ms, measured.untimed_batches) == (2, 3_000, 1)
    assert (measured.oldest_ms, measured.newest_ms) == (START_MS + 4_000, START_MS + 9_000)
    assert (measured.future_batches, result.counts) == (1, {"future-timestamps": 1})


def test_transactions_and_producers(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    for number in range(5):
        producer = Producer(number, 0, 0, transactional=True)
        log.append_as_leader(keyed([("a", "1"), ("b", "2")], producer=producer), leader_epoch=0, now_ms=START_MS)
        end_transaction(log, Producer(number), committed=number % 2 == 0)
    log.close(now_ms=START_MS)
    measured = only_partition(log.folder, deep=True).measures
    assert (measured.transactional_batches, measured.control_batches, measured.producers) == (5, 5, 5)
    assert measured.records == 15
    assert measured.batch_records.histogram == ()
    assert (measured.batch_records.smallest, measured.batch_records.largest) == (2, 2)
    assert measured.tombstones == 0  # markers are none of the data


def test_compaction_leaves_gaps_that_nobody_minds(tmp_path: Path) -> None:
    log_settings = LogSettings(cleanup_policy=frozenset({"compact"}), segment_bytes=400, index_interval_bytes=100)
    log = new_log(tmp_path / "t-0", log_settings)
    for number in range(40):
        pairs: list[tuple[str, str | None]] = [("a", "1"), (f"k{number % 3}", "x")]
        log.append_as_leader(keyed(pairs), leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)
    log.roll(START_MS)
    Compaction(log, None, now_ms=START_MS).run()
    log.close(now_ms=START_MS)
    result = scanned(tmp_path)
    assert set(result.counts) <= {"unfinished"}
    (found,) = result.partitions
    assert found.compacted
    assert found.measures.missing_offsets > 60
    assert found.end_offset == 80


@given(st.data())
@settings(max_examples=5)
def test_how_work_is_spread_does_not_matter(corpus: Path, data: st.DataObject) -> None:
    parameters = listed(corpus / "recovery/before", corpus / "v1-by-3.9", deep=True)
    units = [unit.id for unit in SCAN.units({}, parameters)]
    shuffled = data.draw(st.permutations(units))
    cut = data.draw(st.integers(0, len(units)))
    batches = [SCAN.kernel(some, {}, parameters) for some in (shuffled[:cut], shuffled[cut:])]
    whole = SCAN.combine([SCAN.kernel(units, {}, parameters)], {}, parameters)
    assert SCAN.combine(batches, {}, parameters) == whole
    assert msgspec.json.decode(msgspec.json.encode(whole), type=SCAN.result_type) == whole
