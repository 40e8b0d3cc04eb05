"""Columns of many topics: stacked anew, or taken from those before, they are the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage, records_of
from model.cluster.ids import TopicPartition
from model.cluster.partition_columns import AssignmentColumns, PartitionColumns, restacked, stacked
from model.cluster.records import PartitionState, TopicAssigned
from model.cluster.topic_image import STATE_COLUMNS, TopicImage, padded, rows_of
from tests.model.cluster.build import image, state, topic, written

BEFORE = image(*topic("a", (1, 2, 3), 2), *topic("b", (2, 3)), *topic("c", (1,), 3))
PLACES = [TopicPartition(name, int(number)) for name, each in BEFORE.topics.items() for number in each.partitions]
STATES = st.builds(
    state, st.just(0), st.integers(-1, 4), st.lists(st.integers(1, 5), max_size=4), epoch=st.integers(0, 9)
)


@given(st.dictionaries(st.sampled_from(PLACES), STATES), st.dictionaries(st.sampled_from(PLACES), STATES))
def test_after_states_changed(some: dict[TopicPartition, PartitionState], more: dict[TopicPartition, PartitionState]):
    after = _changed(BEFORE, some)
    columns = stacked(_topics(BEFORE))
    once = restacked(columns, _topics(after))
    twice = restacked(once, _topics(_changed(after, more)))
    assert _rows(once) == _rows(stacked(_topics(after)))
    assert _rows(twice) == _rows(stacked(_topics(_changed(after, more))))
    assert _rows(columns) == _rows(stacked(_topics(BEFORE)))
    assert all(one is other for one, other in zip(once.topics, _topics(after), strict=True))


def test_columns_stay_long():
    """Questions go down them."""
    columns = restacked(stacked(_topics(BEFORE)), _topics(_changed(BEFORE, {PLACES[0]: state(0, 2, (2,))})))
    assert columns.isr.flags.f_contiguous and columns.replicas.flags.f_contiguous


@given(
    st.dictionaries(st.sampled_from(PLACES), STATES),
    st.lists(st.lists(st.integers(0, 1), max_size=2, unique=True).map(sorted), min_size=3, max_size=3),
    st.booleans(),
)
def test_some_rows_are_the_rows_of_all(
    states: dict[TopicPartition, PartitionState], chosen: list[list[int]], is_flags: bool
) -> None:
    topics = _topics(_changed(BEFORE, states))
    rows = [
        np.array([row for row in some if row < len(topic)], int) for some, topic in zip(chosen, topics, strict=True)
    ]
    asked = [np.isin(np.arange(len(topic)), some) for some, topic in zip(rows, topics, strict=True)]
    found = stacked(topics, asked if is_flags else rows)
    starts = np.cumsum([0, *map(len, topics)])
    every = _rows(stacked(topics))
    assert _rows(found) == [every[start + row] for start, some in zip(starts, rows, strict=False) for row in some]
    assert found.isr.flags.f_contiguous


def _changed(before: ClusterImage, states: dict[TopicPartition, PartitionState]) -> ClusterImage:
    told = (
        written(place.topic, state(place.partition, one.leader, one.isr, epoch=one.leader_epoch))
        for place, one in states.items()
    )
    return image(*told, base=before)


def _topics(told: ClusterImage) -> tuple[TopicImage, ...]:
    return tuple(told.topics[name] for name in sorted(told.topics))


def _rows(columns: PartitionColumns) -> list[tuple[object, ...]]:
    numbers = [getattr(columns, name).tolist() for name in ("topic", "partitions", *STATE_COLUMNS)]
    assert columns.replicas.dtype == columns.isr.dtype == np.int32
    return list(zip(*numbers, rows_of(columns.replicas), rows_of(columns.isr), strict=True))


def test_assignments_as_columns_are_the_mapping_that_they_stand_for():
    columns = AssignmentColumns(np.array([0, 3, 7], np.int32), padded([(1, 2), (3,), (2, 1)]))
    expected = {0: (1, 2), 3: (3,), 7: (2, 1)}
    assert columns == expected
    assert (len(columns), list(columns), columns[3], columns.get(4)) == (3, [0, 3, 7], (3,), None)
    assert [*columns.items()] == [*expected.items()]
    assert [*columns.values()] == [*expected.values()]
    assert columns.keys() == expected.keys()
    assert columns != {**expected, 7: (1, 2)}
    assigned = TopicAssigned(topic="t", replicas=expected)
    assert image(TopicAssigned(topic="t", replicas=columns)).topics == image(assigned).topics
    assert assigned in [*records_of(image(assigned))]
