"""`kdrill dump-log --print-data-log` beside Kafka's tool: the same bytes, into a file."""

from __future__ import annotations

import filecmp
from collections.abc import Iterable
from pathlib import Path

from model.log.records import Codec
from tests.benchmarks.figure import Figure
from tests.benchmarks.log_runs import dump_log_segments, figure, in_turns, start_of_rival, write_segment
from tests.harness.command import KDRILL


def measure(folder: Path) -> Iterable[Figure]:
    """Whole processes. Raises AssertionError where the texts differ."""
    yield start_of_rival(folder)
    inputs = (
        ("100 MB of batches of 16 KB", 100_000_000, 82, Codec.NONE),
        ("45 MB of the same in lz4", 45_000_000, 82, Codec.LZ4),
        ("50 MB of batches of one record", 50_000_000, 1, Codec.NONE),
    )
    for what, size, records_per_batch, codec in inputs:
        path = write_segment(folder / "segment", size, records_per_batch, codec)
        for kind, options, goal in (("full print", ["--print-data-log"], 3), ("print of batches", [], None)):
            commands = {
                "ours": [*KDRILL, "dump-log", str(path), *options],
                "theirs": dump_log_segments("--files", str(path), *options),
            }
            took = in_turns(commands, folder)
            assert filecmp.cmp(folder / "ours", folder / "theirs", shallow=False)
            yield figure(f"{kind}, {what}", took["ours"], "DumpLogSegments", took["theirs"], goal)
