"""Which old segments go: by the log's start, by size, by time. Pure; Kafka 3.9 `UnifiedLog.deleteOldSegments`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from model.log.settings import LogSettings


class DeletionReason(StrEnum):
    """Why a segment goes."""

    LOG_START = "it lies before the log start offset"
    SIZE = "retention.bytes is exceeded"
    TIME = "retention.ms has passed since its newest record"


@dataclass(frozen=True)
class SegmentFacts:
    """A segment as retention sees it, oldest first. `newest_ms` is its largest timestamp, else the file's age."""

    base_offset: int
    end_offset: int
    """The base of the next segment, or the log's end."""
    size_bytes: int
    newest_ms: int


@dataclass(frozen=True)
class Deletion:
    """A segment to be deleted."""

    base_offset: int
    reason: DeletionReason


def segments_to_delete(
    segments: Sequence[SegmentFacts], *, high_watermark: int, log_start_offset: int, settings: LogSettings, now_ms: int
) -> list[Deletion]:
    """The oldest segments that may go, up to the first that may not; the active one comes last in `segments`.

    Nothing that is not replicated goes. A topic that is only compacted loses what lies before its log start, no more.
    By size the log stays above its limit, by less than one segment.
    """
    left = list(segments)
    deletions: list[Deletion] = []

    def pass_of(reason: DeletionReason, goes: Callable[[SegmentFacts], bool]) -> None:
        while left and left[0].end_offset <= high_watermark and goes(left[0]):
            if len(left) == 1 and left[0].size_bytes == 0:
                return
            deletions.append(Deletion(left.pop(0).base_offset, reason))

    pass_of(DeletionReason.LOG_START, lambda each: len(left) > 1 and each.end_offset <= log_start_offset)
    if settings.deletes:
        if settings.retention_bytes >= 0:
            pass_of(DeletionReason.SIZE, lambda each: _excess(left, settings) >= each.size_bytes)
        if settings.retention_ms >= 0:
            pass_of(DeletionReason.TIME, lambda each: now_ms - each.newest_ms > settings.retention_ms)
    return deletions


def _excess(segments: Sequence[SegmentFacts], settings: LogSettings) -> int:
    return sum(each.size_bytes for each in segments) - settings.retention_bytes
