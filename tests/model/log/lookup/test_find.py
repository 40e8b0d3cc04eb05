"""The three steps of a search, as an operator sees them."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.log.compaction import Compaction
from model.log.indexes import OffsetEntry, Probe, TimeEntry
from model.log.lookup import find_offset, find_time, readable_segments
from model.log.partition_log import PartitionLog
from model.log.recovery import open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, keyed

SETTINGS = LogSettings(
    segment_bytes=1_000, index_interval_bytes=200, cleanup_policy=frozenset({"compact"}), segment_index_bytes=1_200
)


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    """Batches of two records and 100 bytes, ten a segment, one every 10 ms."""
    log, _ = open_log(tmp_path / "t-0", SETTINGS, now_ms=START_MS)
    for number in range(45):
        data = keyed([("k", f"{number:02d}" * 7 + "x" * 7), ("l", f"{number:02d}")], time_ms=START_MS + 10 * number)
        assert len(data) == 100
        log.append_as_leader(data, leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)
    return log


def test_by_offset(log: PartitionLog) -> None:
    found = find_offset(readable_segments(log.folder), 51)
    assert found.segment.probes == (Probe(2, 40), Probe(4, 80), Probe(3, 60))
    assert found.segment.base_offset == 40
    assert found.index is not None
    assert found.index.entries == 3
    assert found.index.probes == (Probe(1, 13), Probe(0, 7))
    assert found.index.entry == OffsetEntry(47, 300)
    assert found.scan is not None
    assert (found.scan.start, [each.base_offset for each in found.scan.batches]) == (300, [46, 48, 50])
    assert found.scan.bytes_read == 300
    assert found.record is not None
    assert (found.record.offset, found.record.value) == (51, b"25")


def test_an_offset_below_the_first_entry_is_scanned_for_from_the_start(log: PartitionLog) -> None:
    found = find_offset(readable_segments(log.folder), 42)
    assert found.index is not None
    assert (found.index.entry, found.index.position) == (None, 0)
    assert found.scan is not None
    assert [each.base_offset for each in found.scan.batches] == [40, 42]


def test_an_offset_that_is_not_there(log: PartitionLog) -> None:
    segments = readable_segments(log.folder)
    assert find_offset(segments, 90).record is None
    assert find_offset(segments[1:], 5).segment.base_offset is None
    assert find_offset([], 5).segment.base_offset is None


def test_an_offset_that_compaction_took(log: PartitionLog) -> None:
    log.roll(START_MS)
    Compaction(log, None, now_ms=START_MS).run()
    found = find_offset(readable_segments(log.folder), 5)
    assert found.segment.base_offset == 0
    assert found.segments_passed == (20, 40, 60, 80)
    assert found.batch is not None
    assert (found.batch.base_offset, found.record) == (88, None)


def test_by_time(log: PartitionLog) -> None:
    found = find_time(readable_segments(log.folder), START_MS + 135)
    assert (found.segments_passed, found.base_offset) == ((0,), 20)
    assert found.time_entry == TimeEntry(START_MS + 130, 27)
    assert found.index is not None
    assert found.index.entry == OffsetEntry(27, 300)
    assert found.scan is not None
    assert [each.base_offset for each in found.scan.batches] == [26, 28]
    assert found.record is not None
    assert (found.record.offset, found.record.timestamp) == (28, START_MS + 140)


def test_a_time_after_all(log: PartitionLog) -> None:
    found = find_time(readable_segments(log.folder), START_MS + 10_000)
    assert (found.base_offset, found.record) == (80, None)  # the active segment had to be looked at


def test_a_log_without_indexes_is_scanned(log: PartitionLog) -> None:
    log.close(now_ms=START_MS)
    for path in log.folder.glob("*index"):
        path.unlink()
    found = find_offset(readable_segments(log.folder), 51)
    assert found.index is not None
    assert (found.index.entries, found.index.position) == (0, 0)
    assert found.record is not None
    assert find_time(readable_segments(log.folder)[:1], START_MS + 15).record is not None
