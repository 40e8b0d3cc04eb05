"""Histograms: what is exact, how near the rest is, and that parts add up."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.analyses.scans.tally import Histogram

numbers = st.lists(st.integers(0, 200) | st.integers(0, 2**31), max_size=40)


def histogram(*parts: list[int]) -> Histogram:
    whole = Histogram()
    for part in parts:
        whole.add(np.array(part, np.int64))
    return whole


@given(numbers)
def test_sums_and_ends_are_exact_and_the_median_is_near(some: list[int]) -> None:
    found = histogram(some)
    assert (found.count, found.total) == (len(some), sum(some))
    assert (found.smallest, found.largest) == (min(some, default=0), max(some, default=0))
    median = sorted(some)[(len(some) - 1) // 2] if some else 0
    assert abs(found.median - median) <= median / 32
    powers = found.by_powers()
    assert [limit for limit, _ in powers] == sorted({1 << number.bit_length() for number in some})
    assert sum(number for _, number in powers) == len(some)


@given(numbers, numbers)
def test_parts_add_up(some: list[int], others: list[int]) -> None:
    merged = histogram(some)
    merged.merge(histogram(others))
    assert merged == histogram(some, others) == histogram(some + others)
