"""Sequential append to a log on disk and reading it back, beside kafka-python's builder and reader of batches.

The same records go both ways: keys, values of 180 bytes, batches of about 16 KB. Ours checks each batch, gives offsets,
keeps indexes and looks offsets up; the rival writes its batches to a plain file and reads that back as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafka.record import MemoryRecords, MemoryRecordsBuilder

from model.log.records import Record, RecordBatch, crc_holds, encode_batch, records_of, scan
from model.log.recovery import open_log
from model.log.settings import LogSettings
from tests.benchmarks.figure import Figure

RECORDS = 100_000
PER_BATCH = 80
FETCH_BYTES = 1_000_000
ROUNDS = 3

TIME_MS = 1_700_000_000_000
PAIRS = [(b"%d" % number, (b"%08d" % number) * 22 + b"abcd") for number in range(RECORDS)]
BATCHES = [PAIRS[start : start + PER_BATCH] for start in range(0, RECORDS, PER_BATCH)]


def measure(folder: Path) -> Iterable[Figure]:
    """Seconds for all records, the best of some rounds in turns."""
    best: dict[tuple[str, str], float] = {}
    size = 0
    for number in range(ROUNDS):
        for side in (_ours, _rival):
            laps, size = side(folder / f"{side.__name__}-{number}")
            for step, seconds in laps.items():
                best[side.__name__, step] = min(seconds, best.get((side.__name__, step), seconds))
    rivals = {"build": "kafka-python", "append": "write() to a plain file", "batches": "kafka-python"}
    for step, what in {
        "build": "build batches",
        "append": "append ready batches",
        "batches": "read back each batch, CRC checked",
        "records": "read back each record",
    }.items():
        ours, theirs = best["_ours", step], best["_rival", step]
        note = f"{size / ours / 1e6:.0f} against {size / theirs / 1e6:.0f} MB/s"
        yield Figure(f"{what} ({RECORDS:,} records)", ours, rivals.get(step, "kafka-python"), theirs, note=note)


def _ours(folder: Path) -> tuple[dict[str, float], int]:
    watch = _Watch()
    built = [encode_batch([Record(n, TIME_MS, *pair) for n, pair in enumerate(pairs)]) for pairs in BATCHES]
    watch.lap("build")
    log, _ = open_log(folder, LogSettings(), now_ms=0)
    for data in built:
        log.append_as_leader(data, leader_epoch=0, now_ms=0)
    watch.lap("append")
    offset = count = 0
    while offset < log.end_offset:
        fetched = log.read(offset, max_bytes=FETCH_BYTES)
        offset = fetched.next_offset
        assert all(isinstance(batch, RecordBatch) and crc_holds(fetched.data, batch) for batch in scan(fetched.data))
    watch.lap("batches")
    offset = 0
    while offset < log.end_offset:
        fetched = log.read(offset, max_bytes=FETCH_BYTES)
        offset = fetched.next_offset
        for batch in scan(fetched.data):
            assert isinstance(batch, RecordBatch)
            count += sum(1 for _ in records_of(fetched.data, batch))
    watch.lap("records")
    assert count == RECORDS
    return watch.laps, log.size_bytes


def _rival(path: Path) -> tuple[dict[str, float], int]:
    watch = _Watch()
    built = [_built(pairs) for pairs in BATCHES]
    watch.lap("build")
    with path.open("wb", buffering=0) as file:
        for data in built:
            file.write(data)
    watch.lap("append")
    records: Any = MemoryRecords(path.read_bytes())
    while records.has_next():
        assert records.next_batch().validate_crc()
    watch.lap("batches")
    records, count = MemoryRecords(path.read_bytes()), 0
    while records.has_next():
        count += sum(1 for _ in records.next_batch())
    watch.lap("records")
    assert count == RECORDS
    return watch.laps, path.stat().st_size


def _built(pairs: list[tuple[bytes, bytes]]) -> bytes:
    builder: Any = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 20)
    for key, value in pairs:
        builder.append(timestamp=TIME_MS, key=key, value=value, headers=[])
    builder.close()
    return bytes(builder.buffer())


class _Watch:
    """Seconds of one step after the other."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._started = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps[step] = now - self._started
        self._started = now
