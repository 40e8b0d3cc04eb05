"""A broker's log folder: its lock, its checkpoints, deletion of partitions, an orderly end and another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from model.log.checkpoints import read_offsets
from model.log.log_folder import LogFolder
from model.log.names import FolderInUseError, FolderRole
from model.log.partition_log import PartitionLog
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, batch, values

SETTINGS = LogSettings(segment_bytes=500)
ID = "52ee84ba46ed4b11b9c0a4cb3da89484"


def filled(folder: LogFolder, topic: str, count: int) -> PartitionLog:
    log, _ = folder.open_log(topic, 0, SETTINGS, now_ms=START_MS)
    for number in range(count):
        log.append_as_leader(batch(f"{number}" * 150), leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset - 1)
    return log


def reopened(path: Path, topic: str) -> tuple[LogFolder, PartitionLog]:
    folder = LogFolder(path)
    return folder, folder.open_log(topic, 0, SETTINGS, now_ms=START_MS)[0]


def test_after_an_orderly_end_all_is_as_it_was(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    assert not folder.was_clean
    log = filled(folder, "t", 5)
    log.advance_start(3)
    folder.close({("t", 0): log}, now_ms=START_MS)
    assert read_offsets(tmp_path / "recovery-point-offset-checkpoint") == {("t", 0): 5}
    assert read_offsets(tmp_path / "log-start-offset-checkpoint") == {("t", 0): 3}
    folder, log = reopened(tmp_path, "t")
    assert folder.was_clean
    assert [str(name) for name in folder.folders()] == ["t-0"]
    assert (log.start_offset, log.high_watermark, log.recovery_point) == (3, 4, 5)
    assert [value[0] for value in values(log)] == ["3", "4"]


def test_start_offsets_are_noted_where_the_names_do_not_tell(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    log = filled(folder, "t", 5)
    log.advance_start(4)
    log.apply_retention(START_MS)
    folder.checkpoint({("t", 0): log})
    assert read_offsets(tmp_path / "log-start-offset-checkpoint") == {}


def test_what_was_synced_is_not_checked_again(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    log = filled(folder, "t", 5)
    log.flush()
    folder.checkpoint({("t", 0): log})
    folder.checkpoint_high_watermarks({("t", 0): log})
    folder.release()
    again = LogFolder(tmp_path)
    log, report = again.open_log("t", 0, SETTINGS, now_ms=START_MS)
    assert [each.base_offset for each in report.rebuilt] == [4]
    assert (log.recovery_point, log.high_watermark) == (5, 4)


def test_a_damaged_checkpoint_counts_as_none_and_is_told_of(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    folder.close({("t", 0): filled(folder, "t", 5)}, now_ms=START_MS)
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\nt 0\n")
    folder, log = reopened(tmp_path, "t")
    assert folder.damaged_checkpoints == [f"{tmp_path}/replication-offset-checkpoint, line 3: 't 0' is no entry"]
    assert log.high_watermark == 0


def test_a_deleted_partition_can_be_made_anew_at_once(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    filled(folder, "t", 3).close(now_ms=START_MS)
    folder.checkpoint_cleaner("t", 0, 2)
    doomed = folder.mark_for_deletion("t", 0, ID)
    assert folder.folders() == []
    assert folder.folders(FolderRole.DELETE) == [doomed]
    assert (tmp_path / f"t-0.{ID}-delete").is_dir()
    log, _ = folder.open_log("t", 0, SETTINGS, now_ms=START_MS)
    assert (log.end_offset, folder.cleaned_to) == (0, {})
    folder.delete(doomed)
    assert folder.folders(FolderRole.DELETE) == []
    with pytest.raises(ValueError, match="t-0 is not marked for deletion"):
        folder.delete(folder.folders()[0])


def test_one_broker_at_a_time(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    attempt = (
        "import pathlib, sys\nfrom model.log.names import FolderInUseError\n"
        "from model.log.log_folder import LogFolder\n"
        "try:\n    LogFolder(pathlib.Path(sys.argv[1]))\nexcept FolderInUseError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", attempt, str(tmp_path)]
    taken = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert taken.stdout == f"{FolderInUseError(tmp_path)}\n"
    folder.release()
    free = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert free.stdout == ""
