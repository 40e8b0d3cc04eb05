"""Folders that real brokers wrote: opened, rebuilt byte for byte, recovered as the broker itself did."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from model.log.log_folder import LogFolder
from model.log.lookup import find_offset, readable_segments
from model.log.names import INDEX, LOG, TIME_INDEX, TRANSACTION_INDEX, FolderRole
from model.log.partition_log import PartitionLog
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, all_bytes, all_records
from tests.segment_corpus import ARCHIVE

KINDS = (LOG, INDEX, TIME_INDEX, TRANSACTION_INDEX)
TIDY = ("k39-clean", "v0-by-3.9", "v1-by-3.9", "v1-by-0.10.2")
INTERVALS = {"t-idxfull": 256, "t-live": 256, "t-timeroll": 256, "t-compact": 512, "t-livetxn": 512, "t-segs": 512}
"""index.interval.bytes of the topics that did not have 4096."""
NO_TRACE = "t-compact-txn"
"""Compaction took the aborted records, and left the transaction index that told of them."""


@pytest.fixture
def copy(corpus: Path, tmp_path: Path) -> Path:
    """A folder to work in, for one test."""
    shutil.copytree(corpus, tmp_path / "corpus", ignore=shutil.ignore_patterns("*.txt", "*.stderr", "damaged"))
    return tmp_path / "corpus"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in KINDS}


def settings_of(topic: str) -> LogSettings:
    interval = 512 if topic == "d-segs" else INTERVALS.get(topic, 4096)
    return LogSettings(index_interval_bytes=interval, segment_index_bytes=2048)


def close(log: PartitionLog) -> None:
    log.close(now_ms=START_MS)


@pytest.mark.parametrize("broker", TIDY)
def test_a_folder_after_a_clean_stop_is_left_as_it_is(copy: Path, broker: str) -> None:
    (copy / broker / ".kafka_cleanshutdown").touch()
    folder = LogFolder(copy / broker)
    assert folder.was_clean
    assert folder.damaged_checkpoints == []
    assert len(folder.folders()) > 5
    for name in folder.folders():
        before = contents(folder.path / str(name))
        log, report = folder.open_log(name.topic, name.partition, settings_of(name.topic), now_ms=START_MS)
        assert list(report.sentences()) == []
        close(log)
        assert contents(folder.path / str(name)) == before


@pytest.mark.parametrize("broker", ["k39-clean", "v0-by-3.9", "v1-by-3.9"])
def test_rebuilt_indexes_are_the_broker_s_byte_for_byte(copy: Path, broker: str) -> None:
    folder = LogFolder(copy / broker)
    for name in folder.folders():
        if name.topic == NO_TRACE:
            continue
        before = contents(folder.path / str(name))
        for path in (folder.path / str(name)).iterdir():
            if path.suffix in KINDS[1:]:
                path.unlink()
        settings = settings_of(name.topic)
        log, report = open_log(folder.path / str(name), settings, Checkpointed(clean=False), now_ms=START_MS)
        assert report.cut is None
        close(log)
        assert contents(folder.path / str(name)) == before, name


def test_the_checkpoints_say_where_a_log_starts(copy: Path) -> None:
    folder = LogFolder(copy / "k39-clean")
    log, _ = folder.open_log("t-delrec", 0, LogSettings(), now_ms=START_MS)
    assert (log.start_offset, log.end_offset, log.high_watermark) == (57, 64, 64)
    assert all_records(log)[0].offset == 57


@pytest.mark.parametrize(
    ("topic", "end_offset", "lost"),
    [
        ("t-plain", 80, "the CRC does not match the batch"),
        ("t-gzip", 120, ""),
        ("t-lz4", 120, "300 zero bytes up to the end"),
        ("t-zstd", 120, "an entry of 554,394,331 bytes, 300 are left"),
        ("t-live", 168, "an entry of 689 bytes, 589 are left"),
        ("t-idxfull", 30, ""),
    ],
)
def test_recovered_as_the_broker_did(copy: Path, topic: str, end_offset: int, lost: str) -> None:
    folder = LogFolder(copy / "recovery/before")
    log, report = folder.open_log(topic, 0, settings_of(topic), now_ms=START_MS)
    assert log.end_offset == end_offset
    assert (report.cut.why if report.cut else "") == lost
    close(log)
    ours, theirs = contents(folder.path / f"{topic}-0"), contents(copy / "recovery/after" / f"{topic}-0")
    assert {name: data for name, data in ours.items() if name.endswith(LOG)} == {
        name: data for name, data in theirs.items() if name.endswith(LOG)
    }


def test_logs_of_0_8_get_time_indexes(copy: Path) -> None:
    log, report = open_log(copy / "v0-by-0.8.2/o-segs-0", LogSettings(), Checkpointed(clean=True), now_ms=START_MS)
    assert {each.why for each in report.rebuilt} == {
        f"there is no {segment.base_offset:020d}.timeindex" for segment in log.segments
    }
    assert [record.offset for record in all_records(log)] == list(range(360))


def test_reading_in_pieces_gives_the_files(copy: Path) -> None:
    for folder in sorted((copy / "k39-clean").glob("*-0")):
        log, _ = open_log(folder, LogSettings(), Checkpointed(clean=True), now_ms=START_MS)
        whole = b"".join(segment.path(LOG).read_bytes() for segment in log.segments)
        for max_bytes in (1, 700, 10_000):
            assert all_bytes(log, max_bytes) == whole
        close(log)


def test_looking_up_in_a_running_broker_s_folder(copy: Path) -> None:
    """Its active index ends in zeros, and it stays as it is."""
    folder = copy / "k39-live/t-liveprealloc-0"
    before = contents(folder)
    found = find_offset(readable_segments(folder), 33)
    assert found.segment.base_offset == 0
    assert found.index is not None
    assert (found.index.entries, found.index.probes[0].slot) == (19, 9)
    assert found.record is not None
    assert found.record.offset == 33
    beyond = find_offset(readable_segments(folder), 60)
    assert beyond.record is None
    assert beyond.scan is not None
    assert beyond.scan.damage is not None
    assert "zero bytes up to the end" in beyond.scan.damage.cause
    assert contents(folder) == before


def test_snapshots_of_a_running_broker_are_folders_too(tmp_path: Path) -> None:
    with tarfile.open(ARCHIVE.with_name("live-snapshots.tar.xz")) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = LogFolder(tmp_path / "k39-live")
    [doomed] = folder.folders(FolderRole.DELETE)
    assert (doomed.topic, doomed.partition) == ("t-todelete", 0)
    ends = {}
    for name in folder.folders():
        log, report = folder.open_log(name.topic, name.partition, LogSettings(), now_ms=START_MS)
        assert report.cut is None
        ends[name.topic] = log.end_offset
        close(log)
    assert ends["t-plain"] == 120
    log, report = open_log(tmp_path / "t-segs-0-retained", LogSettings(), now_ms=START_MS)
    assert len(report.removed_files) == 23
    assert (log.start_offset, log.end_offset) == (400, 400)
    assert LogFolder(tmp_path / "k39-kill9").damaged_checkpoints == []
