"""When a segment is full."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.log.settings import ActiveSegment, Addition, LogSettings, RollReason, log_settings, roll_reason

SETTINGS = LogSettings(segment_bytes=1000, segment_ms=100, segment_index_bytes=120)
ACTIVE = ActiveSegment(50, size_bytes=500, first_timestamp_ms=10_000, created_ms=0, offset_entries=3, time_entries=3)
ADDITION = Addition(size_bytes=100, last_offset=80, max_timestamp_ms=10_050)


@pytest.mark.parametrize(
    ("active", "addition", "reason"),
    [
        ({}, {}, None),
        ({}, {"size_bytes": 500}, None),
        ({}, {"size_bytes": 501}, RollReason.SIZE),
        ({}, {"max_timestamp_ms": 10_100}, None),
        ({}, {"max_timestamp_ms": 10_101}, RollReason.TIME),
        ({"size_bytes": 0}, {"max_timestamp_ms": 99_999}, None),  # an empty segment can't be too old
        ({"first_timestamp_ms": -1, "created_ms": 900}, {"max_timestamp_ms": -1}, None),
        ({"first_timestamp_ms": -1, "created_ms": 899}, {"max_timestamp_ms": -1}, RollReason.TIME),
        ({"offset_entries": 14}, {}, None),
        ({"offset_entries": 15}, {}, RollReason.OFFSET_INDEX_FULL),
        ({"time_entries": 8}, {}, None),
        ({"time_entries": 9}, {}, RollReason.TIME_INDEX_FULL),  # one place is for the closing entry
        ({}, {"last_offset": 50 + 2**31 - 1}, None),
        ({}, {"last_offset": 50 + 2**31}, RollReason.OFFSET_OVERFLOW),
    ],
)
def test_why_a_new_segment_begins(active: dict[str, int], addition: dict[str, int], reason: RollReason | None) -> None:
    assert roll_reason(replace(ACTIVE, **active), replace(ADDITION, **addition), SETTINGS, now_ms=1_000) == reason


def test_what_must_be_compacted_in_time_rolls_in_time() -> None:
    settings = replace(SETTINGS, max_compaction_lag_ms=40)
    assert roll_reason(ACTIVE, ADDITION, settings, now_ms=0) is None
    compacted = replace(settings, cleanup_policy=frozenset({"compact"}))
    assert roll_reason(ACTIVE, ADDITION, compacted, now_ms=0) is RollReason.TIME


def test_settings_from_a_topic_s_configuration() -> None:
    settings = log_settings(
        {
            "segment.bytes": "1048576",
            "cleanup.policy": "compact, delete",
            "min.cleanable.dirty.ratio": "0.1",
            "preallocate": "TRUE",
            "message.timestamp.type": "LogAppendTime",
            "min.insync.replicas": "2",
        }
    )
    assert settings.segment_bytes == 1_048_576
    assert settings.compacts
    assert settings.deletes
    assert settings.min_cleanable_dirty_ratio == 0.1
    assert settings.preallocate
    assert settings.message_timestamp_type == "LogAppendTime"


@pytest.mark.parametrize(
    "key", ["segment.bytes", "preallocate", "min.cleanable.dirty.ratio", "cleanup.policy", "message.timestamp.type"]
)
def test_a_value_that_is_none_is_named(key: str) -> None:
    with pytest.raises(ValueError, match=f"{key} is 'lots', which is no value for it"):
        log_settings({key: "lots"})
