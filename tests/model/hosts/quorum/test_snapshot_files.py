"""A voter's log is cut behind its snapshots, and opened again where it was."""

from __future__ import annotations

from pathlib import Path

from model.hosts.quorum.control_batches import data_batch, snapshot_parts
from model.hosts.quorum.voter_disk import VoterDisk
from model.metadata_log.encoder import encode_record
from model.observer.messages import LogPosition
from model.raft.raft_log import RaftBatch
from model.raft.retention import Retention
from tests.harness.quorum_voters import voter_set

NO_OP = encode_record("NoOpRecord", 0, {})
VOTERS = voter_set({1: 9001}, 1)


def appended(disk: VoterDisk, batches: int, epoch: int = 1) -> None:
    for _ in range(batches):
        disk.append([RaftBatch(disk.end, disk.end + 10, epoch, data_batch([NO_OP] * 10, 5))], 5)
    disk.commit(disk.end)


def snapshot_at(disk: VoterDisk, offset: int, time_ms: int = 5) -> None:
    id_ = LogPosition(offset, 1)
    disk.snapshots.write(id_, snapshot_parts(id_, VOTERS, [NO_OP] * 2500, time_ms))


def test_a_log_is_cut_by_segments_and_opened_where_it_was(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    appended(disk, 20)
    for offset in (50, 120, 180):
        snapshot_at(disk, offset)
    assert disk.clean(Retention(1 << 20, -1), 9) is None
    assert disk.clean(Retention(-1, 3), 9) == LogPosition(180, 1)
    assert (disk.start, disk.snapshots.ids()) == (180, (LogPosition(180, 1),))
    log = disk.raft_log()
    assert (log.base, log.end, log.epochs, log.high_watermark) == (LogPosition(180, 1), 200, ((1, 180),), 180)
    bases = sorted(int(path.stem) for path in disk.folder.glob("*.log"))
    assert 100 < bases[0] <= 180
    again = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    assert (again.start, again.raft_log()) == (180, log)
    assert again.raft_log().voters == VOTERS
    again.clean(Retention(), 61_000)
    assert not [*disk.folder.glob("*.deleted")]


def test_what_is_below_the_newest_snapshot_is_not_read_at_a_start(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    appended(disk, 20)
    snapshot_at(disk, 150)
    disk.close(0)
    oldest = disk.folder / f"{0:020d}.log"
    data = oldest.read_bytes()
    oldest.write_bytes(data[:70] + b"\0\0\0" + data[73:])
    again = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    assert (again.start, again.end, again.raft_log().epochs) == (0, 200, ((1, 0),))
    assert all(rebuilt.base_offset > 0 for rebuilt in again.recovery.rebuilt)


def test_older_snapshots_that_a_crash_left_are_gone_at_the_next_start(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    appended(disk, 20)
    snapshot_at(disk, 50)
    kept = disk.snapshots.path(LogPosition(50, 1)).read_bytes()
    snapshot_at(disk, 150)
    disk.clean(Retention(0, -1), 9)
    disk.snapshots.path(LogPosition(50, 1)).write_bytes(kept)
    again = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    assert (again.start, again.snapshots.ids()) == (150, (LogPosition(150, 1),))
