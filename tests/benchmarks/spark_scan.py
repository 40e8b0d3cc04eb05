"""`kdrill scan` over 4,000 segments: in this process, on Spark, and beside DumpLogSegments on some of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from struct import Struct

from model.analyses import analysis
from model.analyses.scans.combining import SCAN
from model.analyses.scans.folders import ScanParameters, find_logs
from model.log.records import Codec
from tests.benchmarks.figure import Figure
from tests.benchmarks.log_runs import dump_log_segments, figure, in_turns, write_segment
from tests.harness.command import KDRILL
from tests.model.log.records.segment_map import segment_map
from tests.spark.running_spark import RunningSpark

SEGMENTS, SEGMENT_BYTES = 40, 1 << 18
"""Of a partition."""
RUNS = 2
_OFFSET = Struct(">q")


def measure(folder: Path) -> Iterable[Figure]:
    """Spark runs already. All records are read of fewer segments: they are 12 times as many bytes, decompressed."""
    with RunningSpark("local[2]") as spark:
        for deep, codec, partitions in ((False, Codec.NONE, 100), (True, Codec.LZ4, 10)):
            logs = folder / codec.name
            written = _write_logs(folder, logs, codec, partitions)
            contents = f"{written / 1e6:,.0f} MB in {partitions * SEGMENTS:,} segments, {codec.name.lower()}"
            what = f"{'records of' if deep else 'headers, CRCs of'} {contents}"
            parameters = ScanParameters(find_logs([str(logs)]), time.time_ns() // 1_000_000, deep)
            yield _figure(what, spark, parameters)
            yield _beside_rival(folder, sorted(logs.iterdir())[: 2 if deep else 10], codec, deep)


def _figure(what: str, spark: RunningSpark, parameters: ScanParameters) -> Figure:
    """In turns, the best of each."""
    took: dict[str, list[float]] = {"here": [], "spark": []}
    for _ in range(RUNS):
        began = time.perf_counter()
        result = analysis.run_here(SCAN, {}, parameters)
        took["here"].append(time.perf_counter() - began)
        began = time.perf_counter()
        assert spark.run(SCAN, {}, parameters) == result
        took["spark"].append(time.perf_counter() - began)
    return Figure(f"{what}, in process", min(took["here"]), "spark local[2]", min(took["spark"]))


def _beside_rival(folder: Path, partitions: list[Path], codec: Codec, deep: bool) -> Figure:
    """Whole processes. The rival prints a line a batch, and if deep a line a record: it has no way not to."""
    files = ",".join(str(path) for partition in partitions for path in sorted(partition.glob("*.log")))
    ours, theirs = (["--deep"], ["--deep-iteration"]) if deep else ([], [])
    commands = {
        "scan": [*KDRILL, "scan", "--engine", "here", *ours, *map(str, partitions)],
        "rival": dump_log_segments(*theirs, "--files", files),
    }
    took = in_turns(commands, folder)
    what = f"kdrill scan{' --deep' * deep}, {len(partitions) * SEGMENTS} segments, {codec.name.lower()}"
    return figure(what, took["scan"], "DumpLogSegments", took["rival"])


def _write_logs(folder: Path, logs: Path, codec: Codec, partitions: int) -> int:
    """Partition folders of segments with the same contents at offsets of their own; the bytes written."""
    model = write_segment(folder / f"model-{codec.name}", SEGMENT_BYTES, 82, codec)
    data = bytearray(model.read_bytes())
    batches = [segment_map(data).batch(place) for place in range(len(segment_map(data)))]
    length = batches[-1].next_offset
    for partition in range(partitions):
        place = logs / f"orders-{partition}"
        place.mkdir(parents=True)
        for segment in range(SEGMENTS):
            for batch in batches:
                _OFFSET.pack_into(data, batch.position, batch.base_offset + segment * length)
            (place / f"{segment * length:020d}.log").write_bytes(data)
            (place / f"{segment * length:020d}.index").touch()
    return partitions * SEGMENTS * len(data)
