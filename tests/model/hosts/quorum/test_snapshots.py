"""Voters make snapshots, cut their logs behind them, and begin from them; nothing that was committed is lost by it."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.hosts.quorum.committed_log import values_of
from model.hosts.quorum.quorum_voter import QuorumVoter
from model.hosts.quorum.voter_disk import FOLDER, VoterDisk, format_folder
from model.hosts.wire.names import WireError
from model.kraft_controller.compacted import CompactedLog
from model.observer.messages import NOBODY, LogPosition
from model.raft.messages import Fetch, FetchAnswer, FetchSnapshot, LogCleaned, SnapshotAnswer
from model.raft.node import QuorumSettings
from model.raft.raft_log import ReplicaKey, VoterSet
from model.raft.retention import READ_MS, Retention
from tests.harness.quorum_voters import (
    CLUSTER_ID,
    Reader,
    VoterProcess,
    directory_id,
    log_batches,
    three_voters,
    voter_set,
)
from tests.harness.waiting import eventually_async
from tests.model.hosts.quorum.test_snapshot_files import VOTERS, appended, snapshot_at
from tests.model.hosts.quorum.test_three_voters import VERSIONS, configured, reader_of
from tests.thorough import the_rest_when_asked

OFTEN = ("--snapshot-bytes", "2000", "--segment-bytes", "3000", "--retention-bytes", "8000")
BEGUN = 10
"""A log that begins later was cut; so was a snapshot made that ends later."""


@pytest.fixture(params=the_rest_when_asked([1, 0]), ids=VERSIONS)
def kraft_version(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def voters(kraft_version: int, tmp_path: Path) -> Iterator[dict[int, VoterProcess]]:
    with three_voters(tmp_path, kraft_version, *OFTEN) as found:
        yield found


def compacted(values: Iterator[bytes | None]) -> list[bytes]:
    log = CompactedLog()
    for value in values:
        log.take(value, 0)
    assert log.trouble == ""
    return sorted(log.records())


def history(reader: Reader) -> list[bytes]:
    base, loaded = reader.loaded
    behind = (data for offset, data in sorted(reader.committed.items()) if offset >= base.offset)
    return compacted(value for data in (loaded, *behind) for value, _ in values_of(data))


def on_disk(folder: Path, end: int) -> list[bytes]:
    """What the newest snapshot and the log behind it come to, up to an offset."""
    disk = VoterDisk(folder, VoterSet(), 0)
    newest = max(each for each in disk.snapshots.ids() if each.offset <= end)
    values = [value for value, _ in values_of(disk.snapshots.whole(newest))]
    disk.close(0)
    assert newest.offset > BEGUN
    for offset, data in sorted(log_batches(folder).items()):
        values += [value for value, _ in values_of(data) if newest.offset <= offset < end]
    return compacted(iter(values))


async def write(voters: dict[int, VoterProcess], reader: Reader, count: int) -> None:
    """So many settings, one after the other; whoever leads is asked, and asked again if it leads no more."""
    for number in range(count):
        for _ in range(60):
            await reader.read()
            try:
                if await configured(voters[reader.leader], str(number + 1), 5) == "NONE":
                    break
            except (WireError, KeyError):
                await asyncio.sleep(0.2)
    await reader.read()


async def cut(reader: Reader, *voters: VoterProcess) -> None:
    """Until their logs begin later."""
    for _ in range(600):
        await reader.read()
        if all(begins(voter) > BEGUN for voter in voters):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("a log was not cut")


def begins(voter: VoterProcess) -> int:
    """Where the log begins that a voter has, by its oldest segment; while it runs."""
    return min((int(path.stem) for path in (voter.folder / FOLDER).glob("*.log")), default=0)


async def test_logs_are_cut_behind_snapshots_and_say_the_same(voters: dict[int, VoterProcess]) -> None:
    reader = reader_of(voters)
    await reader.read_more(3)
    await write(voters, reader, 80)
    await cut(reader, *voters.values())
    epoch = reader.epoch
    for voter in voters.values():
        voter.kill()
        voter.start()
        await reader.read_more(1)
    await reader.read_more(3, epoch + 1)
    await write(voters, reader, 5)
    await asyncio.sleep(1)
    await reader.read()
    for voter in voters.values():
        voter.kill()
    end = reader.end.offset
    told = history(reader)
    assert sum(on_disk(voter.folder, end) == told for voter in voters.values()) >= 2
    assert all("Traceback" not in voter.log for voter in voters.values())


async def test_who_lost_its_log_begins_with_the_leaders_snapshot(
    voters: dict[int, VoterProcess], kraft_version: int
) -> None:
    reader = reader_of(voters)
    await reader.read_more(3)
    await write(voters, reader, 40)
    await cut(reader, voters[reader.leader])
    emptied = next(node for node in voters if node != reader.leader)
    voters[emptied].kill()
    shutil.rmtree(voters[emptied].folder)
    ports = {node: voter.address[1] for node, voter in voters.items()}
    key = ReplicaKey(emptied, directory_id(emptied))
    format_folder(voters[emptied].folder, CLUSTER_ID, key, voter_set(ports, kraft_version), [])
    voters[emptied].start()
    await write(voters, reader, 3)
    await cut(reader, voters[emptied])
    await asyncio.sleep(1)
    await reader.read()
    leader, epoch = reader.leader, reader.epoch
    for voter in voters.values():
        voter.kill()
    told = history(reader)
    assert on_disk(voters[emptied].folder, reader.end.offset) == told
    voters[emptied].start()
    voters[leader].start()
    await reader.read_more(3, epoch + 1)


async def test_killed_while_they_write_snapshots_they_lose_nothing(voters: dict[int, VoterProcess]) -> None:
    reader, chance = reader_of(voters), random.Random(7)
    await reader.read_more(3)
    for _ in range(6):
        killed = chance.choice(sorted(voters))
        writing = asyncio.create_task(write(voters, reader, 15))
        await asyncio.sleep(chance.random() * 0.5)
        voters[killed].kill()
        await writing
        voters[killed].start()
    await asyncio.sleep(1)
    await reader.read()
    for voter in voters.values():
        voter.kill()
    told, end = history(reader), reader.end.offset
    assert sum(on_disk(voter.folder, end) == told for voter in voters.values()) >= 2


KILLED = r"""
import os, signal, sys
from pathlib import Path
from model.hosts.quorum.control_batches import snapshot_parts
from model.hosts.quorum.snapshot_files import SnapshotFiles
from model.observer.messages import LogPosition
from model.raft.raft_log import VoterSet

def parts():
    for part in snapshot_parts(LogPosition(100, 1), VoterSet(), [b"\1\x14\0\0"] * 5000, 5):
        yield part
        if len(part) > 9000:
            os.kill(os.getpid(), signal.SIGKILL)

SnapshotFiles(Path(sys.argv[1])).write(LogPosition(100, 1), parts())
"""


def test_killed_in_the_middle_of_a_snapshot(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, VOTERS, 0)
    appended(disk, 20)
    before = disk.raft_log()
    ended = subprocess.run([sys.executable, "-c", KILLED, str(disk.folder)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert [path.name for path in disk.folder.glob("*.part")] == [f"{100:020d}-{1:010d}.checkpoint.made.part"]
    again = VoterDisk(tmp_path, VOTERS, 0)
    assert (again.snapshots.ids(), again.raft_log()) == ((), before)
    assert not [*disk.folder.glob("*.part")]
    snapshot_at(again, 100)
    assert oct(again.snapshots.path(LogPosition(100, 1)).stat().st_mode & 0o777) == "0o400"
    assert len(list(values_of(again.snapshots.whole(LogPosition(100, 1))))) == 2500


async def test_a_snapshot_that_is_being_read_stays_and_so_does_the_log_behind_it(tmp_path: Path) -> None:
    disk = VoterDisk(tmp_path, VOTERS, 0, segment_bytes=400)
    appended(disk, 20)
    snapshot_at(disk, 120)
    voter = QuorumVoter(VOTERS.voters[0].key, CLUSTER_ID, disk, (), QuorumSettings(election_timeout_ms=50))
    await voter.start("127.0.0.1", 0, {})
    await eventually_async(lambda: voter.node.log.high_watermark > 200)
    nobody, epoch, read = ReplicaKey(NOBODY), voter.node.epoch, LogPosition(120, 1)
    told, _ = await voter.ask_node(Fetch(None, nobody, epoch, LogPosition(), max_wait_ms=0))
    assert isinstance(told, FetchAnswer) and told.snapshot == read
    for offset in (150, 180):
        snapshot_at(disk, offset)
        started = disk.clean(Retention(0, -1), time.time_ns() // 1_000_000)
        assert (started, disk.start) == (None, 0), "its reader has begun"
    piece, _ = await voter.ask_node(FetchSnapshot(None, nobody, epoch, read))
    assert isinstance(piece, SnapshotAnswer) and (piece.known.error, len(piece.data)) == ("NONE", piece.size)
    long_after = time.time_ns() // 1_000_000 + READ_MS
    begins = disk.clean(Retention(0, -1), long_after)
    assert begins is not None and begins == LogPosition(180, 1)
    voter.tell(LogCleaned(begins))
    gone, _ = await voter.ask_node(FetchSnapshot(None, nobody, epoch, read))
    assert gone.known.error == "SNAPSHOT_NOT_FOUND"
    voter.stop()
    assert await voter.ended == ""
    await voter.close()
