"""Reading for tests: whole batches and records, of bytes that are expected to be sound or not."""

from __future__ import annotations

from pathlib import Path

from model.log.records import Buffer, ByteSource, Damage, Record, RecordBatch, SegmentFile, records_of, scan


def sound(data: ByteSource | Buffer) -> list[RecordBatch]:
    """The batches, none of them damaged."""
    parts = list(scan(data))
    assert not [part for part in parts if isinstance(part, Damage)]
    return [part for part in parts if isinstance(part, RecordBatch)]


def records_in(data: ByteSource | Buffer) -> list[Record]:
    """All records of sound bytes."""
    found = [record for batch in sound(data) for record in records_of(data, batch)]
    assert not [record for record in found if isinstance(record, Damage)]
    return [record for record in found if isinstance(record, Record)]


def records_of_files(paths: list[Path]) -> list[Record]:
    """All records of sound files."""
    assert paths
    found: list[Record] = []
    for path in paths:
        with SegmentFile(path) as file:
            found += records_in(file)
    return found


def damage_in(data: ByteSource | Buffer) -> list[Damage]:
    """What is wrong with the entries or with their records; CRCs are not looked at."""
    parts = list(scan(data))
    inner = [record for part in parts if isinstance(part, RecordBatch) for record in records_of(data, part)]
    return [part for part in [*parts, *inner] if isinstance(part, Damage)]
