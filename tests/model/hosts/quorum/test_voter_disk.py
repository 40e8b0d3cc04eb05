"""A voter's files: what real nodes left is read, ours is the same, and what a crash tears is mended."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model.hosts.quorum.control_batches import batches_of, bytes_of, data_batch, snapshot_bytes, voters_of_snapshot
from model.hosts.quorum.voter_disk import VoterDisk, format_folder, identity
from model.hosts.wire.names import MalformedError
from model.log.names import DamagedFileError
from model.log.records import Record, RecordBatch, records_of, scan
from model.observer.messages import UNKNOWN, LogPosition
from model.raft.messages import ElectionState
from model.raft.raft_log import LeaderElected, RaftBatch, ReplicaKey, Voter, VoterSet, VotersWritten

DATA = Path("tests/data/kraft")
RELEASES = ["3.3.2", "3.9.1", "4.4.0", "3.9.1-quorum", "4.4.0-quorum", "4.4.0-voters"]
KEY = ReplicaKey(1, "MkU3OEVBNTcwNTJENDM2Ag")
THREE = VoterSet.of(
    Voter(ReplicaKey(id_, f"MkU3OEVBNTcwNTJENDM2{letter}g"), ("127.0.0.1", 9090 + id_))
    for id_, letter in enumerate("ABC", 1)
)
STATIC = VoterSet.of((Voter(ReplicaKey(id_), ("127.0.0.1", 9090 + id_)) for id_ in (1, 2, 3)), 0)
NO_OP = b"\1\x14\0\0"


def real_log(name: str) -> bytes:
    return (DATA / name / "00000000000000000000.log").read_bytes()


@pytest.mark.parametrize("name", RELEASES)
def test_batches_of_real_logs_are_written_as_they_were(name: str) -> None:
    data = real_log(name)
    batches = batches_of(data)
    assert b"".join(bytes_of(batch, 0) for batch in batches) == data
    leaders = 0
    for batch, raw in zip(batches, scan(data), strict=True):
        assert isinstance(raw, RecordBatch)
        records = [*records_of(data, raw)]
        first = records[0]
        assert isinstance(first, Record)
        is_made_here = isinstance(batch.content, LeaderElected) or (
            isinstance(batch.content, VotersWritten) and len(records) == 1
        )
        if is_made_here:
            leaders += 1
            made = RaftBatch(batch.offset, batch.next_offset, batch.epoch, batch.content)
            assert bytes_of(made, first.timestamp) == batch.raw
    assert leaders or name.startswith(("3.9.1", "4.4.0"))


def test_voters_are_read_from_the_log_and_from_a_snapshot_alike() -> None:
    contents = [batch.content for batch in batches_of(real_log("4.4.0-voters"))]
    written = [content.voters.ids for content in contents if isinstance(content, VotersWritten)]
    assert written == [(1, 2, 3), (1, 2, 3, 7), (2, 3, 7), (2, 3)]
    snapshot = (DATA / "4.4.0-quorum" / "00000000000000000137-0000000002.checkpoint").read_bytes()
    voters = voters_of_snapshot(snapshot)
    assert voters is not None and voters.ids == (1, 2, 3) and voters.kraft_version == 1
    assert voters_of_snapshot((DATA / "3.3.2" / "00000000000000000055-0000000001.checkpoint").read_bytes()) is None


def test_a_folder_of_a_real_node_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    shutil.copytree(DATA / "4.4.0-quorum", folder)
    before = (folder / "quorum-state").read_text()
    disk = VoterDisk(tmp_path, VoterSet(), 0)
    log, state = disk.raft_log(), disk.election_state()
    disk.persist(state, log.voters)
    disk.close(0)
    assert (log.end, [epoch for epoch, _ in log.epochs]) == (disk.end, [1, 2, 3])
    assert log.voters.ids == (1, 2, 3)
    assert state == ElectionState(3, 1)
    assert (folder / "quorum-state").read_text() == before
    assert [f"{each.offset}-{each.epoch}" for each in log.snapshots] == ["59-1", "137-2", "164-3"]


def test_what_a_formatted_folder_begins_with(tmp_path: Path) -> None:
    format_folder(tmp_path, "MkU3OEVBNTcwNTJENDM2Qg", KEY, THREE, [NO_OP])
    disk = VoterDisk(tmp_path, VoterSet(), 0)
    assert identity(tmp_path) == ("MkU3OEVBNTcwNTJENDM2Qg", KEY)
    assert disk.raft_log().voter_sets == ((UNKNOWN, THREE),)
    assert disk.raft_log().last == LogPosition(0, 0)


@pytest.mark.parametrize("voters", [THREE, STATIC], ids=["v1", "v0"])
def test_a_vote_outlives_the_process(tmp_path: Path, voters: VoterSet) -> None:
    key = THREE.voters[1].key if voters is THREE else STATIC.voters[1].key
    VoterDisk(tmp_path, voters, 0).persist(ElectionState(7, -1, key), voters)
    assert VoterDisk(tmp_path, voters, 0).election_state() == ElectionState(7, -1, key)
    state = tmp_path / "__cluster_metadata-0" / "quorum-state"
    assert f'"data_version":{voters.kraft_version}}}' in state.read_text()
    state.write_text(state.read_text().replace('"data_version":', '"data_version":1'))
    with pytest.raises(DamagedFileError, match="version"):
        VoterDisk(tmp_path, voters, 0).election_state()


def appended(disk: VoterDisk, count: int, epoch: int = 1) -> None:
    for _ in range(count):
        content = data_batch([NO_OP, NO_OP], 5)
        disk.append([RaftBatch(disk.end, disk.end + 2, epoch, content)], 5)


@pytest.mark.parametrize("torn_bytes", [1, 30, 80])
def test_a_torn_batch_is_cut_and_whole_ones_stay(tmp_path: Path, torn_bytes: int) -> None:
    appended(VoterDisk(tmp_path, THREE, 0), 3)
    log = tmp_path / "__cluster_metadata-0" / "00000000000000000000.log"
    data = log.read_bytes()
    log.write_bytes(data + data[:torn_bytes])
    disk = VoterDisk(tmp_path, THREE, 0)
    assert disk.end == 6 == disk.raft_log().end
    assert disk.recovery.cut is not None
    appended(disk, 1, 2)
    assert VoterDisk(tmp_path, THREE, 0).raft_log().epochs == ((1, 0), (2, 6))


def test_a_snapshot_that_was_read_takes_the_place_of_the_log_also_after_a_crash(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, STATIC, 0)
    appended(disk, 3)
    id_ = LogPosition(100, 3)
    whole = snapshot_bytes(id_, THREE, [NO_OP] * 3, 9)
    disk.snapshots.store(id_, 0, whole[:50], is_last=False)
    assert disk.snapshots.ids() == ()
    disk.snapshots.store(id_, 50, whole[50:], is_last=True)
    log = VoterDisk(tmp_path, STATIC, 0).raft_log()
    assert (log.base, log.end, log.last, log.voters) == (id_, 100, id_, THREE)
    assert disk.snapshots.piece(id_, 10) == (len(whole), whole[10:])


def test_a_snapshot_without_its_end_is_not_taken(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, STATIC, 0)
    whole = snapshot_bytes(LogPosition(9, 3), THREE, [NO_OP], 9)
    with pytest.raises(MalformedError, match="end"):
        disk.snapshots.store(LogPosition(9, 3), 0, whole[:-70], is_last=True)
    assert disk.snapshots.ids() == ()
    assert not [*disk.folder.glob("*.part")]


def test_a_log_whose_beginning_is_in_no_snapshot_is_refused(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, STATIC, 0)
    disk.start_at(LogPosition(20, 2), 0)
    disk.close(0)
    with pytest.raises(DamagedFileError, match="no snapshot"):
        VoterDisk(tmp_path, STATIC, 0)
