"""What of a log may be compacted, and whether it is worth it. Pure; Kafka 3.9 `kafka.log.LogCleanerManager`."""

from collections.abc import Sequence
from dataclasses import dataclass

from model.log.segments.rolling import LARGEST_RELATIVE_OFFSET
from model.log.settings import LogSettings


@dataclass(frozen=True)
class CompactableSegment:
    """A segment as compaction sees it. Times in ms, -1 when no record has one."""

    base_offset: int
    end_offset: int
    size_bytes: int
    index_bytes: int
    """The larger one of its two indexes."""
    first_timestamp_ms: int
    newest_ms: int


@dataclass(frozen=True)
class Cleanable:
    """The dirty range of a log: records from `first_dirty` to `end` have not been compacted yet and may be."""

    first_dirty: int
    end: int
    """The base of the first segment that must be left alone."""
    clean_bytes: int
    dirty_bytes: int
    overdue: bool = False
    """A dirty record is older than max.compaction.lag.ms."""

    @property
    def dirty_ratio(self) -> float:
        """Which part of what may be compacted has not been."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, settings: LogSettings) -> bool:
        """Whether enough is dirty, or something has been so for too long."""
        return self.dirty_bytes > 0 and (self.dirty_ratio > settings.min_cleanable_dirty_ratio or self.overdue)


def cleanable(
    segments: Sequence[CompactableSegment],
    *,
    cleaned_to: int | None,
    start_offset: int,
    last_stable_offset: int,
    settings: LogSettings,
    now_ms: int,
) -> Cleanable:
    """The dirty range of a log whose active segment comes last in `segments`.

    `cleaned_to` is the cleaner's checkpoint; one outside of the log counts as none. Left alone are the active segment,
    open transactions, and segments with records younger than min.compaction.lag.ms.
    """
    active = segments[-1]
    first_dirty = start_offset if cleaned_to is None else cleaned_to
    if not start_offset <= first_dirty <= active.end_offset:
        first_dirty = start_offset
    limit = min(last_stable_offset, active.base_offset)
    if settings.min_compaction_lag_ms > 0:
        young = (each.base_offset for each in segments if each.newest_ms > now_ms - settings.min_compaction_lag_ms)
        limit = min(limit, next((base for base in young if base >= first_dirty), limit))
    end = next((each.base_offset for each in segments[:-1] if each.end_offset > limit), active.base_offset)
    dirty = [each for each in segments if each.end_offset > first_dirty and each.base_offset < end]
    stamps = [each.first_timestamp_ms for each in dirty if each.first_timestamp_ms > 0]
    return Cleanable(
        first_dirty,
        max(end, first_dirty),
        sum(each.size_bytes for each in segments if each.end_offset <= first_dirty),
        sum(each.size_bytes for each in dirty),
        overdue=bool(stamps) and now_ms - min(stamps) > settings.max_compaction_lag_ms,
    )


def grouped(segments: Sequence[CompactableSegment], settings: LogSettings) -> list[list[CompactableSegment]]:
    """Segments that become one each: neighbours whose sizes, indexes and offsets fit one segment."""
    groups: list[list[CompactableSegment]] = []
    for segment in segments:
        if groups and _fit([*groups[-1], segment], settings):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return groups


def _fit(group: Sequence[CompactableSegment], settings: LogSettings) -> bool:
    return (
        sum(each.size_bytes for each in group) <= settings.segment_bytes
        and sum(each.index_bytes for each in group) <= settings.segment_index_bytes
        and group[-1].end_offset - 1 - group[0].base_offset <= LARGEST_RELATIVE_OFFSET
    )
