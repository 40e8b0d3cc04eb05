"""When a new segment begins. Kafka 3.9 `LogSegment.shouldRoll`, without its random delay (segment.jitter.ms)."""

from dataclasses import dataclass
from enum import StrEnum

from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY
from model.log.settings import LogSettings

LARGEST_RELATIVE_OFFSET = 2**31 - 1


class RollReason(StrEnum):
    """Why a segment is full."""

    SIZE = "segment.bytes would be exceeded"
    TIME = "segment.ms (or max.compaction.lag.ms) has passed between its first record and this one"
    OFFSET_INDEX_FULL = "its offset index is full"
    TIME_INDEX_FULL = "its time index is full"
    OFFSET_OVERFLOW = "the offset is too far from its base"


@dataclass(frozen=True)
class ActiveSegment:
    """The segment that is written, as the rule sees it. Times in ms."""

    base_offset: int
    size_bytes: int
    first_timestamp_ms: int
    """The largest of the first batch; -1 without timestamps, and while the segment is empty."""
    created_ms: int
    offset_entries: int
    time_entries: int


@dataclass(frozen=True)
class Addition:
    """What is about to be appended. `max_timestamp_ms` is -1 without timestamps."""

    size_bytes: int
    last_offset: int
    max_timestamp_ms: int


def roll_reason(active: ActiveSegment, addition: Addition, settings: LogSettings, now_ms: int) -> RollReason | None:
    """Why `addition` goes to a new segment; None when it belongs to the active one.

    Time is that of records, where they have any: one that is far younger than the first rolls a small segment at once.
    """
    if active.first_timestamp_ms >= 0:
        waited_ms = addition.max_timestamp_ms - active.first_timestamp_ms
    else:
        waited_ms = now_ms - active.created_ms
    if active.size_bytes > settings.segment_bytes - addition.size_bytes:
        return RollReason.SIZE
    if active.size_bytes > 0 and waited_ms > settings.roll_after_ms:
        return RollReason.TIME
    if active.offset_entries >= settings.segment_index_bytes // OFFSET_ENTRY.size:
        return RollReason.OFFSET_INDEX_FULL
    if active.time_entries >= settings.segment_index_bytes // TIME_ENTRY.size - 1:  # one place is for the closing entry
        return RollReason.TIME_INDEX_FULL
    if addition.last_offset - active.base_offset > LARGEST_RELATIVE_OFFSET:
        return RollReason.OFFSET_OVERFLOW
    return None
