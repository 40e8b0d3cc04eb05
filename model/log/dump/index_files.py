"""Entries of .index, .timeindex and .txnindex files, as they are, and what is wrong with each by itself.

Whether they fit the log is seen elsewhere. Entries end at the first that is all zeros, as for DumpLogSegments: an
active segment's index is a file of full size, zero from its last entry on.
"""

from collections.abc import Iterator
from struct import Struct

from model.log.dump.facts import AbortedTransaction, OffsetIndexEntry, TimeIndexEntry
from model.log.dump.parts import Remark
from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY
from model.log.records import Damage, DamageKind, Source
from model.log.records.layout import int64

_TRANSACTION = Struct(">bxqqqq")
"""The version takes two bytes, of which DumpLogSegments reads the first (`AbortedTxn`)."""
_ENTRIES_AT_ONCE = 4096


def offset_index_entries(source: Source, base_offset: int) -> Iterator[OffsetIndexEntry | Damage | Remark]:
    """Entries of an offset index; `base_offset` is in the file's name."""
    for at, (relative, position) in _entries(source, OFFSET_ENTRY):
        if relative == 0 and at > 0:
            yield _rest(source, at)
            break
        yield OffsetIndexEntry(int64(base_offset + relative), position)
    yield from _partial(source, OFFSET_ENTRY.size)


def time_index_entries(source: Source, base_offset: int) -> Iterator[TimeIndexEntry | Damage | Remark]:
    """Entries of a time index; `base_offset` is in the file's name."""
    for at, (timestamp, relative) in _entries(source, TIME_ENTRY):
        if relative == 0 and at > 0:
            yield _rest(source, at)
            break
        yield TimeIndexEntry(timestamp, int64(base_offset + relative))
    yield from _partial(source, TIME_ENTRY.size)


def transaction_index_entries(source: Source) -> Iterator[AbortedTransaction | Damage | Remark]:
    """Entries of a transaction index, in the order of their last offsets."""
    last_offset = -1
    for at, (version, producer_id, first, last, stable) in _entries(source, _TRANSACTION):
        yield AbortedTransaction(version, producer_id, first, last, stable)
        if version != 0:
            yield bad_entry(at, _TRANSACTION.size, f"version {version}, only 0 is known")
        if not first <= last or last <= last_offset:
            yield bad_entry(at, _TRANSACTION.size, f"offsets {first} to {last} after a transaction up to {last_offset}")
        last_offset = last
    yield from _partial(source, _TRANSACTION.size)


def bad_entry(position: int, size: int, cause: str) -> Damage:
    """An entry that cannot be right."""
    return Damage(position, size, DamageKind.BAD_ENTRY, cause)


def _entries(source: Source, layout: Struct) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Whole entries and where they are."""
    at = 0
    while piece := source.read(at, _ENTRIES_AT_ONCE * layout.size):
        for entry in layout.iter_unpack(piece[: len(piece) // layout.size * layout.size]):
            yield at, entry
            at += layout.size
        if len(piece) % layout.size:
            return


def _partial(source: Source, width: int) -> Iterator[Damage]:
    left = source.size % width
    if left:
        cause = f"a file of {source.size:,} bytes, not a multiple of {width}"
        yield Damage(source.size - left, left, DamageKind.TORN, cause)


def _rest(source: Source, at: int) -> Damage | Remark:
    """What is after the entries: zeros if all is well."""
    position = at
    while piece := source.read(position, 1 << 20):
        if any(piece):
            cause = "an entry for the base offset that is not the first, and not zeros up to the end"
            return Damage(at, source.size - at, DamageKind.BAD_ENTRY, cause)
        position += len(piece)
    return Remark(at, f"{source.size - at:,} zero bytes up to the end: room for entries of an active segment")
