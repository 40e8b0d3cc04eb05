"""A page of a segment's batches, and a batch's records: so many at most, whatever the file's size."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from model.log.dump.log_damage import damaged_headers
from model.log.records import Damage, DamageKind, Record, RecordBatch, SegmentFile, crc_holds, records_of, scan
from model.log.records.windows import BatchWindow, batch_windows

MOST_BATCHES = 2_000
MOST_BYTES = 16 << 20
MOST_RECORDS = 2_000


class BatchPage(msgspec.Struct, frozen=True):
    """Batches from `start` on, in bytes. `after`: where the next page begins; None at the end."""

    start: int
    size: int
    """Bytes of the file when it was read."""
    batches: tuple[RecordBatch, ...] = ()
    damaged: Mapping[int, tuple[DamageKind, ...]] = {}
    """Position of a batch → what is wrong with its header."""
    damage: Damage | None = None
    after: int | None = None


class RecordPage(msgspec.Struct, frozen=True):
    """The first records of a batch. `batch` None: there is none at that place any more."""

    batch: RecordBatch | None = None
    records: tuple[Record, ...] = ()
    damage: Damage | None = None
    is_cut: bool = False
    crc_valid: bool = True


def batch_page(path: Path, start: int, most: int = MOST_BATCHES) -> BatchPage:
    """The page that begins at a batch's position. Raises OSError."""
    batches: list[RecordBatch] = []
    damaged: dict[int, tuple[DamageKind, ...]] = {}
    damage = None
    with SegmentFile(path) as file:
        for found in batch_windows(file, start):
            if isinstance(found, Damage):
                damage = found
                break
            batches += map(found.batch, range(len(found))) if isinstance(found, BatchWindow) else [found]
            for batch, wrong in damaged_headers(file, found):
                damaged[batch.position] = (*damaged.get(batch.position, ()), wrong.kind)
            if len(batches) >= most or batches[-1].end - start >= MOST_BYTES:
                break
        shown = tuple(batches[:most])
        end = shown[-1].end if shown else start
        is_cut = len(batches) > most or (damage is None and end < file.size)
        return BatchPage(start, file.size, shown, damaged, None if is_cut else damage, end if is_cut else None)


def record_page(path: Path, position: int) -> RecordPage:
    """The records of the batch at a position. Raises OSError."""
    with SegmentFile(path) as file:
        batch = next(scan(file, position), None)
        if not isinstance(batch, RecordBatch):
            return RecordPage()
        records: list[Record] = []
        damage = None
        for found in records_of(file, batch, MOST_BYTES):
            if isinstance(found, Damage):
                damage = found
            elif len(records) == MOST_RECORDS:
                return RecordPage(batch, tuple(records), is_cut=True, crc_valid=crc_holds(file, batch))
            else:
                records.append(found)
        return RecordPage(batch, tuple(records), damage, crc_valid=crc_holds(file, batch))
