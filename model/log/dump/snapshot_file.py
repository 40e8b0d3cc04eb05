"""A .snapshot file: the producers of a partition as they stood at the offset in the file's name."""

from collections.abc import Iterator
from struct import Struct

from model.log.dump.facts import ProducerState
from model.log.records import Damage, DamageKind, Source
from model.log.records.crc32c import crc32c

_HEADER = Struct(">hIi")
_CRC_START = 6
_PRODUCER = Struct(">qhiqiqiq")
_PRODUCERS_AT_ONCE = 1024


def snapshot_producers(source: Source) -> Iterator[ProducerState | Damage]:
    """The producers, as many as are there whole; then what is wrong with the file (`ProducerStateManager` 3.9)."""
    head = source.read(0, _HEADER.size)
    if len(head) < _HEADER.size:
        yield Damage(0, source.size, DamageKind.TORN, f"{source.size} bytes, the smallest snapshot has {_HEADER.size}")
        return
    version, stored, count = _HEADER.unpack(head)
    if version != 1:
        yield Damage(0, source.size, DamageKind.BAD_ENTRY, f"version {version}, only 1 is known")
        return
    crc = crc32c(head[_CRC_START:])
    at = _HEADER.size
    while piece := source.read(at, _PRODUCERS_AT_ONCE * _PRODUCER.size):
        crc = crc32c(piece, crc)
        at += len(piece)
        for fields in _PRODUCER.iter_unpack(piece[: len(piece) // _PRODUCER.size * _PRODUCER.size]):
            yield ProducerState(*fields)
    if crc != stored:
        yield Damage(0, at, DamageKind.BAD_CRC, f"the CRC is {stored}, that of the content {crc}")
    there = (at - _HEADER.size) / _PRODUCER.size
    if there != count:
        yield Damage(0, at, DamageKind.BAD_RECORDS, f"{count:,} producers are declared, {there:g} are there")
