"""Columns of a topic: rows of broker ids read all at once, and what is known of where two images differ."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.topic_image import padded, rows_of, unpadded
from tests.model.cluster.build import image, state, topic, written


@given(st.lists(st.lists(st.integers(0, 9), max_size=4).map(tuple)), st.integers(0, 5))
def test_rows_of_a_padded_column(rows: list[tuple[int, ...]], width: int) -> None:
    column = padded(rows, width)
    assert rows_of(column) == rows == [unpadded(row) for row in column]


def test_which_rows_differ_is_known_where_only_states_may() -> None:
    before = image(*topic("t", (1, 2), partitions=3))
    later = image(written("t", state(1, 2, (2,))), base=before).topics["t"]
    earlier = before.topics["t"]
    known = later.rows_since(earlier)
    assert known is not None and known.tolist() == [1]
    moved = dataclasses.replace(later, adding={2: (3,)})
    assert moved.rows_since(earlier) is None
    assert dataclasses.replace(later, topic_id="another").rows_since(earlier) is None


def test_the_state_of_a_partition_that_is_not_assigned_yet_leaves_the_others_as_they_are() -> None:
    before = image(*topic("t", (1, 2), partitions=2))
    after = image(written("t", state(5, 2, (2,))), base=before).topics["t"]
    assert after.partitions.tolist() == [0, 1, 5]
    assert after.leader.tolist() == [1, 1, 2]
    assert rows_of(after.replicas) == [(1, 2), (1, 2), ()]
