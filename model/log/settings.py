"""What a topic's configuration says about its logs, under Kafka's names and with its defaults (3.9)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

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


def _parse(text: str, like: object) -> object:
    if isinstance(like, frozenset):
        return frozenset(_one_of(("compact", "delete"), word.strip()) for word in text.split(",") if word.strip())
    if isinstance(like, bool):
        return _one_of(("false", "true"), text.lower()) == "true"
    if isinstance(like, str):
        return _one_of(("CreateTime", "LogAppendTime"), text)
    return float(text) if isinstance(like, float) else int(text)


def _one_of(allowed: tuple[str, ...], text: str) -> str:
    return allowed[allowed.index(text)]
