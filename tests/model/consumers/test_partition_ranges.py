"""Partition numbers written short, and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.consumers.ownership import partition_ranges


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([4], "4"),
        ([0, 1, 2, 3, 7], "0-3,7"),
        ([0, 1], "0-1"),
        ([3, 13, 23, 33], "3-33/10"),
        ([1, 5], "1,5"),
        ([0, 2, 3, 4], "0,2-4"),
        ([0, 1, 3, 5, 7], "0-1,3-7/2"),
    ],
)
def test_how_numbers_are_written(numbers: list[int], text: str):
    assert partition_ranges(numbers) == text


def test_what_does_not_fit_is_counted():
    assert partition_ranges([0, 5, 7, 20, 21, 22, 40], most_cells=10) == "0,5,7 +4"
    assert partition_ranges([100_000], most_cells=3) == "100000"


@given(st.sets(st.integers(0, 200)).map(sorted))
def test_no_number_is_lost_or_made_up(numbers: list[int]):
    read: list[int] = []
    for part in partition_ranges(numbers).split(",") if numbers else []:
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        read += range(int(low), int(high or low) + 1, int(step or 1))
    assert read == numbers
