"""Entries of the offset and the time index, and the search among them, on the bytes of a file. Touches no file.

`org.apache.kafka.storage.internals.log.OffsetIndex`, `TimeIndex` and `AbstractIndex` (3.9).
"""

from bisect import bisect_right
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

Buffer = bytes | bytearray | memoryview

OFFSET_ENTRY = Struct(">ii")
"""Offset less the segment's base, position in the .log file."""
TIME_ENTRY = Struct(">qi")
"""Timestamp in ms, offset less the segment's base."""


class OffsetEntry(NamedTuple):
    """`position` is where the batch starts whose last offset `offset` is (first offset, in files from before 2.0)."""

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """`timestamp_ms` is the largest up to here; `offset` the last one of the batch that first reached it."""

    timestamp_ms: int
    offset: int


class Probe(NamedTuple):
    """One look of a binary search: the slot, and the offset or timestamp (ms) found in it."""

    slot: int
    value: int


@dataclass(frozen=True)
class SlotSearch:
    """A binary search among entries. `slot` is the last entry not above the target, -1 when all are above it."""

    slot: int
    probes: tuple[Probe, ...]


def offset_entry(entries: Buffer, slot: int, base_offset: int) -> OffsetEntry:
    """The entry in a slot of an offset index."""
    relative, position = OFFSET_ENTRY.unpack_from(entries, slot * OFFSET_ENTRY.size)
    return OffsetEntry(base_offset + relative, position)


def time_entry(entries: Buffer, slot: int, base_offset: int) -> TimeEntry:
    """The entry in a slot of a time index."""
    timestamp_ms, relative = TIME_ENTRY.unpack_from(entries, slot * TIME_ENTRY.size)
    return TimeEntry(timestamp_ms, base_offset + relative)


def floor_slot(entries: Buffer, entry: Struct, count: int, target: int, field: int = 0) -> int:
    """The last of `count` entries whose field is not above `target`; -1 when all are above it.

    In an offset index field 0 is relative to the segment's base. All fields rise.
    """
    return bisect_right(range(count), target, key=lambda slot: entry.unpack_from(entries, slot * entry.size)[field]) - 1


def search_slots(entries: Buffer, entry: Struct, count: int, target: int) -> SlotSearch:
    """What `floor_slot` finds, with every slot it looked into."""
    probes: list[Probe] = []
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        value = entry.unpack_from(entries, middle * entry.size)[0]
        probes.append(Probe(middle, value))
        if value > target:
            high = middle
        else:
            low = middle + 1
    return SlotSearch(low - 1, tuple(probes))


def written_entries(entries: Buffer, entry: Struct) -> int:
    """How many entries a file holds that may end in zeros, for its segment is (or was) active.

    As DumpLogSegments tells: an entry other than the first that points at the base offset is not one. A single entry
    of zeros is none either when more zeros follow, or a crash has left it alone.
    """
    relative = 0 if entry is OFFSET_ENTRY else 1
    capacity = len(entries) // entry.size
    # Entries rise strictly, so all that is written lies before the first zero of that field.
    low, high = min(1, capacity), capacity
    while low < high:
        middle = (low + high) // 2
        if entry.unpack_from(entries, middle * entry.size)[relative] == 0:
            high = middle
        else:
            low = middle + 1
    return 0 if low == 1 and not any(bytes(entries[: entry.size])) else low


def ends_complaint(first: bytes, last: bytes, entry: Struct, size: int) -> str | None:
    """What is wrong with the index of a closed segment, seen at its first and last entry; None when nothing is.

    What Kafka looked at in each start until 2.0 (sanityCheck); later releases take any index as it is.
    """
    if size % entry.size:
        return f"its {size} bytes are no whole number of entries of {entry.size} bytes"
    if not size:
        return None
    (oldest, _), (newest, second) = entry.unpack(first), entry.unpack(last)
    if newest < oldest or second < 0 or newest < 0 or (entry is OFFSET_ENTRY and newest == 0 and size > entry.size):
        return f"its last entry ({newest}, {second}) can't come after its first"
    return None
