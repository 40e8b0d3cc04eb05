"""One segment: its indexes, what shows between it and the next, and files that change under the scan."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analyses import analysis
from model.analyses.scans.combining import SCAN
from model.analyses.scans.findings import Severity
from model.analyses.scans.segment_scan import OffsetIndexWalk, TimeIndexWalk
from model.log.dump.index_files import (
    checked_offset_index,
    checked_time_index,
    offset_index_entries,
    time_index_entries,
)
from model.log.indexes import OFFSET_ENTRY, TIME_ENTRY
from model.log.records import Damage, InMemory, Record, encode_batch, stamp
from model.log.records.batch import parse_batch
from model.log.records.columns import window_columns
from model.log.records.scan import BatchWindow, batch_windows
from tests.model.log.batches import START_MS
from tests.spark.scans.scanning import listed, scan, told

LOG = "00000000000000000060.log"
BASE = 1000


def entry(offset: int, time_ms: int = START_MS, epoch: int = 0, count: int = 1, size: int = 10) -> bytes:
    """A batch as it is in a log."""
    data = bytearray(encode_batch([Record(n, time_ms, b"k", bytes(size)) for n in range(count)]))
    stamp(data, parse_batch(data, 0, 0), offset + count - 1, leader_epoch=epoch)
    return bytes(data)


def log_of(folder: Path, base: int, *entries: bytes) -> Path:
    """A partition folder with one more segment."""
    folder.mkdir(exist_ok=True)
    (folder / f"{base:020d}.log").write_bytes(b"".join(entries))
    return folder


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 100)), min_size=1, max_size=8),
    st.data(),
)
def test_an_index_that_fits_is_one_that_kafkas_rules_accept(
    batches: list[tuple[int, int]], data: st.DataObject
) -> None:
    offset, log = BASE, b""
    for count, late_ms in batches:
        log += entry(offset, START_MS + late_ms, count=count)
        offset += count
    offsets = st.integers(-1, offset - BASE)
    positions = st.integers(-1, len(log)) | st.sampled_from([len(entry(0)) * n for n in range(9)])
    times = st.integers(-1, 101).map(lambda late_ms: START_MS + late_ms)
    index = data.draw(st.lists(st.tuples(offsets, positions), max_size=4))
    time_index = data.draw(st.lists(st.tuples(times, offsets), max_size=4))
    offset_data = b"".join(OFFSET_ENTRY.pack(*each) for each in index)
    time_data = b"".join(TIME_ENTRY.pack(*each) for each in time_index)
    offset_walk, time_walk = OffsetIndexWalk(offset_data, BASE), TimeIndexWalk(time_data, BASE)
    for window in batch_windows(log, window=100):
        assert isinstance(window, BatchWindow)
        offset_walk.see(window_columns(window))
        time_walk.see(window_columns(window))
    checked = checked_offset_index(offset_index_entries(InMemory(offset_data), BASE), InMemory(log))
    damaged = any(isinstance(part, Damage) for part in checked)
    assert not (offset_walk.fits() and damaged)
    checked = checked_time_index(time_index_entries(InMemory(time_data), BASE), InMemory(log))
    damaged = any(isinstance(part, Damage) for part in checked)
    assert not (time_walk.fits() and damaged)


def test_an_index_of_a_follower_that_took_several_batches_at_once_fits() -> None:
    log = b"".join(entry(offset) for offset in range(BASE, BASE + 4))
    size = len(log) // 4
    for offset in (1, 2, 3):  # of the first batch, as up to 1.1, or of a later one before the next entry
        walk = OffsetIndexWalk(OFFSET_ENTRY.pack(offset, size), BASE)
        for window in batch_windows(log):
            assert isinstance(window, BatchWindow)
            walk.see(window_columns(window))
        assert walk.fits()


def test_entries_by_the_rule_of_older_releases_are_told_and_are_no_damage(tmp_path: Path) -> None:
    """DumpLogSegments takes them for mismatches. Leaders of 2.1 wrote the offset of the newest record."""
    folder = log_of(tmp_path / "t-0", 0, *(entry(offset, START_MS + offset, count=3) for offset in (0, 3, 6)))
    size = len(entry(0, count=3))
    indexes = {"index": OFFSET_ENTRY.pack(3, size), "timeindex": TIME_ENTRY.pack(START_MS + 3, 4)}
    for broken in (b"", entry(9)[:-1]):  # then entries are looked at one by one
        with (folder / f"{0:020d}.log").open("ab") as log:
            log.write(broken)
        for kind, data in indexes.items():
            (folder / f"{0:020d}.{kind}").write_bytes(data)
        result = scan(folder)
        assert told(result)[-2:] == [("older-index", f"{0:020d}.{kind}", None) for kind in indexes]
        assert result.findings[-1].severity is Severity.NOTE
        assert result.findings[-1].cause.endswith("not with the last offset of the batch they point to: 1")
        assert result.damage == bool(broken)


def test_closed_segments_without_indexes(partition: Path) -> None:
    log_of(partition, 120, entry(120))
    for kind in ("index", "timeindex"):
        (partition / f"00000000000000000060.{kind}").unlink(missing_ok=True)
    (partition / "00000000000000000120.timeindex").touch()
    assert told(scan(partition)) == [
        ("missing-index", "00000000000000000060.index", None),
        ("missing-time-index", "00000000000000000060.timeindex", None),
    ]


def test_edges_between_segments(tmp_path: Path) -> None:
    folder = log_of(tmp_path / "t-0", 0, entry(0, count=10))
    log_of(folder, 10, entry(10, count=5))
    log_of(folder, 20, entry(20, count=5))
    log_of(folder, 22, entry(22))
    for base in (0, 10, 20):
        (folder / f"{base:020d}.index").touch()
    result = scan(folder)
    assert told(result) == [("offsets-back", "00000000000000000022.log", 0), ("gap", "00000000000000000020.log", 0)]
    assert (result.totals.gaps, result.totals.missing_offsets) == (1, 5)


def test_zeros_at_the_end_of_a_closed_segment(tmp_path: Path) -> None:
    folder = log_of(tmp_path / "t-0", 0, entry(0), bytes(200))
    log_of(folder, 1, entry(1), bytes(200))
    (folder / "00000000000000000000.index").touch()
    position = len(entry(0))
    assert told(scan(folder)) == [
        ("zeros", "00000000000000000000.log", position),
        ("zero-tail", "00000000000000000001.log", position),
    ]


def test_leader_epochs_that_go_back_and_segments_that_do(tmp_path: Path) -> None:
    folder = log_of(tmp_path / "t-0", 0, entry(0, START_MS + 9, epoch=4), entry(1, epoch=3), entry(2, epoch=5))
    log_of(folder, 3, entry(3, START_MS + 5, epoch=5))
    (folder / "00000000000000000000.index").touch()
    result = scan(folder)
    assert told(result) == [("epochs-back", "00000000000000000000.log", len(entry(0)))]
    assert result.findings[0].cause == "leader epoch 3 after 4"
    assert (result.partitions[0].first_epoch, result.partitions[0].last_epoch) == (4, 5)
    assert (result.totals.late_batches, result.totals.late_segments) == (2, 1)


def test_batches_of_all_sizes_and_formats_are_seen_behind_damage(tmp_path: Path) -> None:
    large = entry(1, size=17 << 20)
    folder = log_of(tmp_path / "t-0", 0, entry(0), large, entry(2), b"\x00garbage" * 9, entry(3), entry(4))
    result = scan(folder, deep=True)
    assert told(result) == [("truncated", "00000000000000000000.log", 2 * len(entry(0)) + len(large))]
    assert (result.totals.batches, result.totals.records) == (5, 5)
    assert result.findings[0].size == 9 * 8


def test_many_findings_are_counted_and_few_are_kept(tmp_path: Path) -> None:
    broken = bytearray(entry(0))
    broken[-1] ^= 1
    folder = log_of(tmp_path / "t-0", 0, *[bytes(broken)] * 50)
    result = scan(folder)
    assert result.counts == {"bad-crc": 50}
    assert (len(result.findings), result.findings_left_out) == (5, 45)
    assert (result.totals.batches, result.totals.invalid_batches, result.totals.records) == (50, 50, 0)


def test_segments_that_are_gone_or_cannot_be_read(partition: Path) -> None:
    for number in (1, 2):
        shutil.copytree(partition, partition.parent / f"t-plain-{number}")
    parameters = listed(partition.parent)
    shutil.rmtree(partition)
    (partition.parent / "t-plain-1" / LOG).unlink()
    (partition.parent / "t-plain-2" / LOG).unlink()
    (partition.parent / "t-plain-2" / LOG).mkdir()
    result = analysis.run_here(SCAN, {}, parameters)
    assert sorted(told(result)) == [
        ("gone", LOG, None),
        ("gone", LOG, None),
        ("gone", "t-plain-0", None),
        ("orphaned-index", "00000000000000000060.index", None),
        ("orphaned-index", "00000000000000000060.timeindex", None),
        ("unreadable", LOG, None),
    ]
    assert (result.damage, result.unread_files) == (0, 1)


def test_a_log_that_is_appended_to_meanwhile_is_not_damaged(tmp_path: Path) -> None:
    folder, ended, offsets = log_of(tmp_path / "t-0", 0), threading.Event(), iter(range(10**9))
    assert len(entry(0, size=58)) == 128  # a part of a page: no reader sees half of one

    def append() -> None:
        with (folder / "00000000000000000000.log").open("ab", buffering=0) as file:
            while not ended.is_set():
                file.write(entry(next(offsets), size=58))

    writer = threading.Thread(target=append)
    writer.start()
    try:
        results = [scan(folder) for _ in range(20)]
    finally:
        ended.set()
        writer.join()
    assert all(result.damage == 0 for result in results)
    counts = [result.totals.records for result in results]
    assert counts == sorted(counts)
    assert scan(folder).totals.records == next(offsets)


@pytest.mark.parametrize("size", [0, 1, 60])
def test_tiny_files(tmp_path: Path, size: int) -> None:
    folder = log_of(tmp_path / "t-0", 0, b"\x01" * size)
    assert [kind for kind, _, _ in told(scan(folder, deep=True))] == (
        ["torn"] if size == 1 else ["truncated"] if size else []
    )
