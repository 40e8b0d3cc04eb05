"""States as columns read like the tuple that they are made of; what was said last of a partition counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import NO_STATE
from model.cluster.partition_columns import columns_of, latest_states, states_gone
from model.cluster.records import PartitionState
from tests.model.cluster.strategies import states

SOME = st.lists(states, max_size=8).map(tuple)


@given(SOME)
def test_they_read_like_a_tuple(some: tuple[PartitionState, ...]) -> None:
    columns = columns_of(some)
    assert (len(columns), tuple(columns), [columns[row] for row in range(len(some))]) == (len(some), some, list(some))
    assert columns == some == columns
    assert columns[1:] == some[1:]
    assert columns_of(columns) is columns


@given(st.lists(SOME, max_size=4))
def test_what_was_said_last_counts(parts: list[tuple[PartitionState, ...]]) -> None:
    last = {state.partition: state for part in parts for state in part}
    assert latest_states([columns_of(part) for part in parts]) == tuple(last[partition] for partition in sorted(last))


@given(SOME)
def test_a_znode_that_is_gone_is_without_a_version(some: tuple[PartitionState, ...]) -> None:
    partitions = tuple(state.partition for state in some)
    left = latest_states([columns_of(some), states_gone(partitions)])
    assert {state.version for state in left} <= {NO_STATE}
    assert {state.partition for state in left} == set(partitions)


def test_rows_are_taken_by_flags_as_by_their_numbers() -> None:
    states = columns_of([PartitionState(number, 1, 0, (number, 9), elr=(number,)) for number in range(4)])
    flags = np.array([False, True, False, True])
    assert tuple(states.take(flags)) == tuple(states.take(np.flatnonzero(flags))) == (states[1], states[3])
