"""Searching index entries: fast, and step by step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.log.indexes import (
    OFFSET_ENTRY,
    TIME_ENTRY,
    OffsetEntry,
    TimeEntry,
    floor_slot,
    offset_entry,
    search_slots,
    time_entry,
    written_entries,
)

RISING = st.lists(st.integers(1, 10_000), unique=True, max_size=60).map(sorted)


def offset_index(offsets: list[int]) -> bytes:
    return b"".join(OFFSET_ENTRY.pack(offset, offset * 7) for offset in offsets)


def test_an_entry_of_each_index() -> None:
    assert offset_entry(OFFSET_ENTRY.pack(6, 266), 0, 20_360) == OffsetEntry(20_366, 266)
    assert time_entry(TIME_ENTRY.pack(1_577_994_283_622, 3), 0, 100) == TimeEntry(1_577_994_283_622, 103)


@given(RISING, st.integers(-5, 10_005))
def test_both_searches_find_the_last_entry_that_is_not_above(offsets: list[int], target: int) -> None:
    entries = offset_index(offsets)
    expected = max((slot for slot, offset in enumerate(offsets) if offset <= target), default=-1)
    assert floor_slot(entries, OFFSET_ENTRY, len(offsets), target) == expected
    search = search_slots(entries, OFFSET_ENTRY, len(offsets), target)
    assert search.slot == expected
    assert all(offsets[probe.slot] == probe.value for probe in search.probes)
    assert len(search.probes) <= len(offsets).bit_length()


@given(RISING, st.integers(-5, 70_005))
def test_positions_are_searched_too(offsets: list[int], position: int) -> None:
    expected = max((slot for slot, offset in enumerate(offsets) if offset * 7 <= position), default=-1)
    assert floor_slot(offset_index(offsets), OFFSET_ENTRY, len(offsets), position, field=1) == expected


@given(RISING, st.integers(0, 50))
def test_the_zeros_behind_a_live_index_are_no_entries(offsets: list[int], zeros: int) -> None:
    assert written_entries(offset_index(offsets) + bytes(8 * zeros), OFFSET_ENTRY) == len(offsets)


@pytest.mark.parametrize("size", [0, 12, 24, 1200])
def test_zeros_alone_are_no_entry(size: int) -> None:
    assert written_entries(bytes(size), TIME_ENTRY) == 0
