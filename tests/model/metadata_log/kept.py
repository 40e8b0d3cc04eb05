"""The metadata logs in `tests/data/kraft`: of one node of each release, and of a quorum of three of 4.4.0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from model.log.records import Record, RecordBatch, SegmentFile, records_of, scan

DATA = Path(__file__).parents[2] / "data" / "kraft"
RELEASES = ("3.3.2", "3.5.2", "3.7.2", "3.9.1", "4.0.0", "4.1.0", "4.4.0")
QUORUM = DATA / "4.4.0-quorum"
LOG = f"{0:020}.log"


def checkpoint(folder: Path) -> Path:
    """The only snapshot in a folder, or the newest."""
    return max(folder.glob("*.checkpoint"))


def files() -> list[Path]:
    """All logs and snapshots of which is known what Kafka's own tool prints of them."""
    return sorted(path.with_suffix("") for path in DATA.glob("*/*.txt"))


def records(path: Path) -> Iterator[tuple[RecordBatch, Record]]:
    """All of a file, with the batch that each is in."""
    with SegmentFile(path) as source:
        for batch in scan(source):
            assert isinstance(batch, RecordBatch)
            for record in records_of(source, batch):
                assert isinstance(record, Record)
                yield batch, record


def values(path: Path) -> Iterator[bytes]:
    """Of all records but those of control batches."""
    for batch, record in records(path):
        if not batch.is_control:
            assert record.value is not None
            yield record.value
