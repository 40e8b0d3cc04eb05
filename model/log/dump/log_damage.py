"""Damage of a .log file in the terms of DumpLogSegments."""

from model.log.records import Damage, DamageKind, RecordBatch
from model.log.records.layout import FRAME_SIZE


def crc_damage(batch: RecordBatch) -> Damage:
    """What `isvalid: false` stands for."""
    return Damage(batch.position, batch.size, DamageKind.BAD_CRC, f"the CRC {batch.crc} does not fit the content")


def ends_quietly(damage: Damage, size: int) -> bool:
    """Whether DumpLogSegments 3.9 takes this for the end of a file of `size` bytes; of other damage it dies."""
    is_short = damage.kind is DamageKind.ZEROS and damage.size <= FRAME_SIZE
    is_cut = damage.kind in (DamageKind.TORN, DamageKind.TRUNCATED)
    return (is_short or is_cut) and damage.position + damage.size == size
