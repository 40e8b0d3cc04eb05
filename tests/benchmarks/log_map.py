"""The map of a segment: every batch header with its CRC checked, beside what DumpLogSegments does without options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.benchmarks.figure import Figure
from tests.benchmarks.log_runs import dump_log_segments, figure, in_turns, python, start_of_rival, write_segment

MAP = """
import sys
from model.log.records import SegmentFile
from model.log.records.layout import BATCH
from tests.model.log.records.segment_map import map_pieces
batches = records = invalid = latest = 0
with SegmentFile(sys.argv[1]) as file:
    for piece in map_pieces(file):
        batches += len(piece)
        invalid += len(piece) - sum(piece.crc_valid)
        for fields in BATCH.iter_unpack(piece.headers):
            records += fields[12]
            latest = max(latest, fields[8])
print(batches, records, invalid, latest)
"""
COLUMNS = """
import sys
from model.log.records import SegmentFile
from model.log.records.columns import window_columns
from model.log.records.scan import batch_windows
batches = records = invalid = latest = 0
with SegmentFile(sys.argv[1]) as file:
    for window in batch_windows(file):
        columns = window_columns(window)
        batches += len(window)
        records += int(columns.count.sum())
        invalid += int((~columns.crc_valid).sum())
        latest = max(latest, int(columns.max_timestamp.max()))
print(batches, records, invalid, latest)
"""


START = "import tests.model.log.records.segment_map"
READ = """
import os, sys
at, file = 0, os.open(sys.argv[1], os.O_RDONLY)
while piece := os.pread(file, 1 << 20, at):
    at += len(piece)
"""


def measure(folder: Path) -> Iterable[Figure]:
    """Whole processes. The rival prints a line a batch, into a file: it has no way not to.

    No map can be faster than a process that loads its modules and stops, or one that reads the file and drops it: both
    are measured too.
    """
    yield start_of_rival(folder)
    inputs = (
        ("214 MB of batches of 16 KB", 213_763_515, 82, 25),
        ("1 GiB of batches of 16 KB", 1 << 30, 82, 25),
        ("360 MB of batches of one record", 360_000_000, 1, 8),
    )
    for what, size, records_per_batch, goal in inputs:
        path = write_segment(folder / "segment", size, records_per_batch)
        commands = {
            "map": python(MAP, path),
            "columns": python(COLUMNS, path),
            "start": python(START, path),
            "read": python(READ, path),
            "rival": dump_log_segments("--files", str(path)),
        }
        took = in_turns(commands, folder)
        yield figure(f"headers and CRCs, {what}", took["map"], "DumpLogSegments", took["rival"], goal)
        yield figure(f"the same as numpy columns, {what}", took["columns"], "DumpLogSegments", took["rival"], goal)
        yield figure("modules loaded, and no more", took["start"], "DumpLogSegments", took["rival"])
        yield figure(f"only read, {what}", took["read"], "DumpLogSegments", took["rival"])
