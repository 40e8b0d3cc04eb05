"""Rows of broker ids, read all at once, are the rows read one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.topic_image import padded, rows_of, unpadded


@given(st.lists(st.lists(st.integers(0, 9), max_size=4).map(tuple)), st.integers(0, 5))
def test_rows_of_a_padded_column(rows: list[tuple[int, ...]], width: int) -> None:
    column = padded(rows, width)
    assert rows_of(column) == rows == [unpadded(row) for row in column]
