"""A process that is killed while it writes: what it had reported as synced is there, and nothing else than it wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from model.log.log_folder import LogFolder
from model.log.partition_log import PartitionLog
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, batch, values

SETTINGS = LogSettings(segment_bytes=20_000, index_interval_bytes=500)

WRITER = """
import pathlib, sys
from model.log.log_folder import LogFolder
from tests.model.log.batches import START_MS, batch
from tests.model.log.recovery.test_killed_writer import SETTINGS

folder = LogFolder(pathlib.Path(sys.argv[1]))
log, report = folder.open_log("t", 0, SETTINGS, now_ms=START_MS)
while True:
    number = log.end_offset
    log.append_as_leader(batch(f"{number}" + "x" * (number % 700)), leader_epoch=0, now_ms=START_MS)
    if number % 50 == 49:
        log.flush()
        folder.checkpoint({("t", 0): log})
        print(log.recovery_point, flush=True)
"""


def written_until_killed(path: Path, syncs: int) -> int:
    """Starts a writer, kills it after so many syncs, and returns the last offset it said was safe."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(syncs)]
        writer.kill()
        return max(map(int, [*said, *writer.stdout.read().split()]))


def check(log: PartitionLog, synced: int) -> None:
    assert log.end_offset >= synced
    assert values(log) == [f"{number}" + "x" * (number % 700) for number in range(log.end_offset)]


@pytest.mark.parametrize("syncs", [1, 6])
def test_killed_twice(tmp_path: Path, syncs: int) -> None:
    for _ in range(2):
        synced = written_until_killed(tmp_path, syncs)
        folder = LogFolder(tmp_path)
        assert not folder.was_clean
        log, report = folder.open_log("t", 0, SETTINGS, now_ms=START_MS)
        check(log, synced)
        assert report.rebuilt
        assert report.rebuilt[0].base_offset == log.segments.from_offset(synced)[0].base_offset
        assert log.append_as_leader(
            batch(f"{log.end_offset}" + "x" * (log.end_offset % 700)), leader_epoch=0, now_ms=START_MS
        )
        for segment in log.segments:
            segment.close()
        folder.release()
