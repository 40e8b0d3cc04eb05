"""Damage of a .log file in the terms of DumpLogSegments."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from model.log.records import Damage, DamageKind, RecordBatch, Source, crc_holds
from model.log.records.damage import unknown_magic
from model.log.records.header_columns import HeaderColumns, window_columns
from model.log.records.layout import CURRENT_MAGIC, FRAME_SIZE
from model.log.records.windows import BatchWindow


def damaged_headers(source: Source, found: BatchWindow | RecordBatch) -> Iterator[tuple[RecordBatch, Damage]]:
    """Each damaged header among what `batch_windows` of the source found, and what is wrong with it."""
    if isinstance(found, RecordBatch):
        yield from ((found, damage) for damage in header_damage(found, crc_holds(source, found)))
        return
    headers = window_columns(found)
    for place in np.flatnonzero(is_damaged(headers)).tolist():
        batch = found.batch(place)
        yield from ((batch, damage) for damage in header_damage(batch, bool(headers.crc_valid[place])))


def is_damaged(headers: HeaderColumns) -> NDArray[np.bool_]:
    """Of which headers `header_damage` has anything to say."""
    return ~headers.crc_valid | (headers.magic > CURRENT_MAGIC)


def header_damage(batch: RecordBatch, crc_valid: bool) -> Iterator[Damage]:
    """What `isvalid: false` stands for, and a magic that no CRC covers: DumpLogSegments calls any sound."""
    if not crc_valid:
        yield Damage(batch.position, batch.size, DamageKind.BAD_CRC, f"the CRC {batch.crc} does not fit the content")
    if batch.magic > CURRENT_MAGIC:
        yield Damage(batch.position, batch.size, DamageKind.UNKNOWN_MAGIC, unknown_magic(batch.magic))


def ends_quietly(damage: Damage, size: int) -> bool:
    """Whether DumpLogSegments 3.9 takes this for the end of a file of `size` bytes; of other damage it dies."""
    is_short = damage.kind is DamageKind.ZEROS and damage.size <= FRAME_SIZE
    is_cut = damage.kind in (DamageKind.TORN, DamageKind.TRUNCATED)
    return (is_short or is_cut) and damage.position + damage.size == size
