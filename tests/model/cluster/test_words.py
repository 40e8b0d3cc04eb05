"""Numbers, ranges and lists as findings and changes write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.texts import brokers, counted, listed, ranges, replicas


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([4], "4"),
        ([0, 1, 2, 3, 7], "0-3,7"),
        ([0, 2, 4, 6, 8, 10, 12, 14, 15], "0,2,4,6,8,10,12,14-15"),
        ([0, 2, 4, 6, 8, 10, 12, 14, 16, 17], "0,2,4,6,8,10,12,14 +2 more"),
    ],
)
def test_ranges(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text


@given(st.sets(st.integers(0, 60)).map(sorted))
def test_ranges_leave_nothing_out(numbers: list[int]) -> None:
    spans = [span.split("-") for span in ranges(numbers, most=100).split(",") if span]

    assert [n for span in spans for n in range(int(span[0]), int(span[-1]) + 1)] == numbers


def test_counts_and_lists() -> None:
    assert counted(1, "partition") == "1 partition"
    assert counted(1603, "partition") == "1,603 partitions"
    assert listed("abcdefghij") == "a, b, c, d, e, f, g, h +2 more"
    assert (brokers([]), brokers([5, 5]), brokers([6, 5])) == ("no broker", "broker 5", "brokers 5, 6")
    assert (replicas(()), replicas((3, 1))) == ("none", "3,1")
