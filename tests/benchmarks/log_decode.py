"""Every record of a segment decoded and CRCs checked, without text, beside Kafka's tool and kafka-python."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from model.log.records import Codec
from tests.benchmarks.figure import Figure
from tests.benchmarks.log_runs import dump_log_segments, figure, in_turns, python, start_of_rival, write_segment

OURS = """
import sys
from model.log.records import SegmentFile
from model.log.records.columns import batch_groups
from model.log.records.scan import batch_windows
records = keys = values = last = 0
with SegmentFile(sys.argv[1]) as file:
    for window in batch_windows(file, window=1 << 22):
        assert all(window.crc_valid)
        for group in batch_groups(window):
            assert (group.counts >= 0).all()
            records += len(group.records)
            keys += int(group.records.key_size.sum())
            values += int(group.records.value_size.sum())
            last = max(last, int(group.records.timestamp.max()))
print(records, keys, values, last)
"""
ONE_BY_ONE = """
import sys
from model.log.records import SegmentFile, crc_holds, records_of, scan
records = keys = values = last = 0
with SegmentFile(sys.argv[1]) as file:
    for batch in scan(file):
        assert crc_holds(file, batch)
        for record in records_of(file, batch):
            records += 1
            keys += len(record.key)
            values += len(record.value)
            last = max(last, record.timestamp)
print(records, keys, values, last)
"""
KAFKA_PYTHON = """
import sys
from kafka.record.memory_records import MemoryRecords
records = keys = values = last = 0
with open(sys.argv[1], "rb") as file:
    batches = MemoryRecords(file.read())
while batches.has_next():
    batch = batches.next_batch()
    assert batch.validate_crc()
    for record in batch:
        records += 1
        keys += len(record.key)
        values += len(record.value)
        last = max(last, record.timestamp)
print(records, keys, values, last)
"""


def measure(folder: Path) -> Iterable[Figure]:
    """Whole processes. Kafka's tool cannot do without text: a line a record, without contents, goes into a file."""
    yield start_of_rival(folder)
    inputs = (
        ("256 MB of batches of 16 KB", 256_000_000, 82, Codec.NONE),
        ("115 MB of the same in lz4", 115_000_000, 82, Codec.LZ4),
        ("90 MB of batches of one record", 90_000_000, 1, Codec.NONE),
    )
    for what, size, records_per_batch, codec in inputs:
        path = write_segment(folder / "segment", size, records_per_batch, codec)
        commands = {
            "ours": python(OURS, path),
            "one by one": python(ONE_BY_ONE, path),
            "kafka": dump_log_segments("--files", str(path), "--deep-iteration"),
            "kafka-python": python(KAFKA_PYTHON, path),
        }
        took = in_turns(commands, folder)
        yield figure(f"decode, {what}", took["ours"], "DumpLogSegments", took["kafka"], 10)
        yield figure(f"decode, {what}", took["ours"], "kafka-python", took["kafka-python"], 5)
        yield figure(f"decode one by one, {what}", took["one by one"], "kafka-python", took["kafka-python"])
