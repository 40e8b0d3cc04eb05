"""A topic's log configuration, under Kafka's names and with its defaults (3.9); when segments roll and are deleted.

Pure. Kafka 3.9 `LogConfig`, `LogSegment.shouldRoll` without its random delay (segment.jitter.ms), and
`UnifiedLog.deleteOldSegments`: by the log's start, by size, by time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from model.log.indexes import OFFSET_ENTRY, TIME_ENTRY

_DAY_MS = 24 * 60 * 60 * 1000
UNLIMITED = -1


@dataclass(frozen=True)
class LogSettings:
    """`org.apache.kafka.storage.internals.log.LogConfig`; a field is a configuration's name with _ for dots."""

    cleanup_policy: frozenset[str] = frozenset({"delete"})
    segment_bytes: int = 1024**3
    segment_ms: int = 7 * _DAY_MS
    segment_index_bytes: int = 10 * 1024**2
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * _DAY_MS
    """-1: no limit."""
    retention_bytes: int = UNLIMITED
    delete_retention_ms: int = _DAY_MS
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = 2**63 - 1
    file_delete_delay_ms: int = 60_000
    max_message_bytes: int = 1024**2 + 12
    flush_messages: int = 2**63 - 1
    """Messages after which an append waits for the disk. Kafka leaves that to the system and to replication."""
    preallocate: bool = False
    message_timestamp_type: str = "CreateTime"
    compression_type: str = "producer"
    message_downconversion_enable: bool = True
    message_format: int = 2
    """The magic of what is appended (message.format.version; from inter.broker.protocol.version 3.0 on always 2)."""
    producer_id_expiration_ms: int = _DAY_MS
    """The broker's setting: when a producer that wrote nothing is forgotten."""

    @property
    def roll_after_ms(self) -> int:
        """The longest time between the first record of a segment and its last: compaction must get at them in time."""
        return min(self.segment_ms, self.max_compaction_lag_ms) if self.compacts else self.segment_ms

    @property
    def compacts(self) -> bool:
        """Whether the newest record of each key is kept, and older ones are not."""
        return "compact" in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        """Whether old segments go by time and size."""
        return "delete" in self.cleanup_policy


def log_settings(config: Mapping[str, str], defaults: LogSettings | None = None) -> LogSettings:
    """Settings from a topic's configuration, e.g. `{"segment.bytes": "1048576"}`; keys of other parts are left alone.

    Raises ValueError naming the key.
    """
    known = {field.name.replace("_", "."): field for field in fields(LogSettings)}
    changes: dict[str, object] = {}
    for key, text in config.items():
        if field := known.get(key):
            try:
                changes[field.name] = _parse(text, getattr(LogSettings(), field.name))
            except ValueError:
                raise ValueError(f"{key} is {text!r}, which is no value for it") from None
    return replace(defaults or LogSettings(), **changes)  # pyright: ignore[reportArgumentType]


_CHOICES = {
    "CreateTime": ("CreateTime", "LogAppendTime"),
    "producer": ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
}
"""What texts may be, by the default."""


def _parse(text: str, like: object) -> object:
    if isinstance(like, frozenset):
        return frozenset(_one_of(("compact", "delete"), word.strip()) for word in text.split(",") if word.strip())
    if isinstance(like, bool):
        return _one_of(("false", "true"), text.lower()) == "true"
    if isinstance(like, str):
        return _one_of(_CHOICES[like], text)
    return float(text) if isinstance(like, float) else int(text)


def _one_of(allowed: tuple[str, ...], text: str) -> str:
    return allowed[allowed.index(text)]


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


class DeletionReason(StrEnum):
    """Why a segment goes."""

    LOG_START = "it lies before the log start offset"
    SIZE = "retention.bytes is exceeded"
    TIME = "retention.ms has passed since its newest record"


@dataclass(frozen=True)
class RetainedSegment:
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
    segments: Sequence[RetainedSegment],
    *,
    high_watermark: int,
    log_start_offset: int,
    settings: LogSettings,
    now_ms: int,
) -> list[Deletion]:
    """The oldest segments that may go, up to the first that may not; the active one comes last in `segments`.

    Nothing that is not replicated goes. A topic that is only compacted loses what lies before its log start, no more.
    By size the log stays above its limit, by less than one segment.
    """
    left = list(segments)
    deletions: list[Deletion] = []

    def pass_of(reason: DeletionReason, goes: Callable[[RetainedSegment], bool]) -> None:
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


def _excess(segments: Sequence[RetainedSegment], settings: LogSettings) -> int:
    return sum(each.size_bytes for each in segments) - settings.retention_bytes
