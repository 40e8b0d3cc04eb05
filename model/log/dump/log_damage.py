"""Damage of a .log file in the terms of DumpLogSegments."""

from collections.abc import Iterator

from model.log.records import Damage, DamageKind, RecordBatch
from model.log.records.damage import unknown_magic
from model.log.records.layout import CURRENT_MAGIC, FRAME_SIZE


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
