"""What may be compacted, and when it is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from model.log.compaction_rules import Cleanable, CompactableSegment, cleanable, grouped
from model.log.settings import LogSettings

SETTINGS = LogSettings(cleanup_policy=frozenset({"compact"}), segment_bytes=250, segment_index_bytes=100)
SEGMENTS = [
    CompactableSegment(0, 10, 100, 8, first_timestamp_ms=1_000, newest_ms=1_900),
    CompactableSegment(10, 20, 100, 8, first_timestamp_ms=2_000, newest_ms=2_900),
    CompactableSegment(20, 30, 100, 8, first_timestamp_ms=3_000, newest_ms=3_900),
    CompactableSegment(30, 35, 50, 8, first_timestamp_ms=4_000, newest_ms=4_900),
]


def found(
    *, cleaned_to: int | None = None, start: int = 0, stable: int = 35, now_ms: int = 5_000, **settings: int
) -> Cleanable:
    return cleanable(
        SEGMENTS,
        cleaned_to=cleaned_to,
        start_offset=start,
        last_stable_offset=stable,
        settings=replace(SETTINGS, **settings),
        now_ms=now_ms,
    )


@pytest.mark.parametrize(
    ("asked", "first_dirty", "end"),
    [
        ({}, 0, 30),  # the active one is left alone
        ({"cleaned_to": 20}, 20, 30),
        ({"cleaned_to": 500}, 0, 30),  # a checkpoint outside of the log is none
        ({"cleaned_to": 5, "start": 7}, 7, 30),
        ({"stable": 15}, 0, 10),  # an open transaction
        ({"min_compaction_lag_ms": 2_050}, 0, 20),  # records younger than 2,950
        ({"min_compaction_lag_ms": 5_000}, 0, 0),
        ({"cleaned_to": 30}, 30, 30),
    ],
)
def test_the_dirty_range(asked: Mapping[str, int], first_dirty: int, end: int) -> None:
    result = found(**asked)
    assert (result.first_dirty, result.end) == (first_dirty, end)


def test_it_is_due_when_more_than_the_ratio_is_dirty() -> None:
    half = found(cleaned_to=20, stable=30)
    assert (half.clean_bytes, half.dirty_bytes) == (200, 100)
    assert half.dirty_ratio == pytest.approx(1 / 3)
    assert not half.is_due(SETTINGS)
    assert half.is_due(replace(SETTINGS, min_cleanable_dirty_ratio=0.3))
    assert found(cleaned_to=10).is_due(SETTINGS)
    assert not found(cleaned_to=30).is_due(replace(SETTINGS, min_cleanable_dirty_ratio=0.0))


def test_it_is_due_when_something_waits_for_too_long() -> None:
    overdue = found(cleaned_to=20, max_compaction_lag_ms=1_999)
    assert overdue.overdue
    assert overdue.is_due(SETTINGS)
    assert not found(cleaned_to=20, max_compaction_lag_ms=2_000).overdue


def test_neighbours_that_fit_one_segment_become_one() -> None:
    assert [[each.base_offset for each in group] for group in grouped(SEGMENTS, SETTINGS)] == [[0, 10], [20, 30]]
    one_a_group = grouped(SEGMENTS, replace(SETTINGS, segment_index_bytes=12))
    assert [len(group) for group in one_a_group] == [1, 1, 1, 1]
    far = [SEGMENTS[0], replace(SEGMENTS[1], base_offset=2**31, end_offset=2**31 + 5)]
    assert [len(group) for group in grouped(far, SETTINGS)] == [1, 1]
