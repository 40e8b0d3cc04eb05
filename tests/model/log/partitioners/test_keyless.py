"""Records without a key, by generation of the producer."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from model.log.partitioners.keyless import RandomForAWhile, RoundRobin, Sticky, UniformSticky

PARTITIONS = (0, 2, 5)


def test_round_robin_takes_the_partitions_in_turn() -> None:
    state, taken = RoundRobin(4), []
    for _ in range(5):
        partition, state = state.partition(PARTITIONS)
        taken.append(partition)
    assert taken == [2, 5, 0, 2, 5]


def test_round_robin_goes_on_after_the_largest_counter() -> None:
    partition, state = RoundRobin(2**31 - 1).partition(PARTITIONS)
    assert (partition, state.counter) == (PARTITIONS[(2**31 - 1) % 3], -(2**31))
    assert state.partition(PARTITIONS)[0] == PARTITIONS[0]


def test_the_producer_of_0_8_stays_until_metadata_is_refreshed() -> None:
    partition, state = RandomForAWhile().partition(PARTITIONS, choice=1)
    assert partition == 2
    assert state.partition(PARTITIONS, choice=2) == (2, state)
    assert state.after_refresh().partition(PARTITIONS, choice=2)[0] == 5
    assert state.partition((0, 5), choice=0)[0] == 0  # its leader is gone


def test_sticky_changes_with_each_batch() -> None:
    partition, state = Sticky().partition(PARTITIONS, choice=0)
    assert partition == 0
    assert state.partition(PARTITIONS, choice=2)[0] == 0
    state = state.after_new_batch(PARTITIONS, choice=0)
    assert state.partition(PARTITIONS, choice=0)[0] == 2


def test_sticky_stays_where_there_is_no_other() -> None:
    _, state = Sticky().partition((3,), choice=9)
    assert state.after_new_batch((3,), choice=1).partition((3,), choice=0)[0] == 3


@given(st.integers(0, 2**31 - 1), st.sampled_from(PARTITIONS))
def test_sticky_never_takes_the_same_again(choice: int, chosen: int) -> None:
    assert Sticky(chosen).after_new_batch(PARTITIONS, choice).chosen not in (chosen, None)


def test_uniform_sticky_changes_after_batch_size_bytes() -> None:
    partition, state = UniformSticky(100).partition(PARTITIONS, choice=1)
    assert partition == 2
    state = state.after_append(60, batch_ready=False)
    assert state.partition(PARTITIONS, choice=0)[0] == 2
    assert state.after_append(60, batch_ready=True).partition(PARTITIONS, choice=0)[0] == 0
    waiting = state.after_append(60, batch_ready=False)  # the batch is not full yet
    assert waiting.partition(PARTITIONS, choice=0)[0] == 2
    assert waiting.after_append(80, batch_ready=False).partition(PARTITIONS, choice=0)[0] == 0


def test_uniform_sticky_prefers_short_queues() -> None:
    """Queues of 3, 0 and 1 batches weigh 1, 4 and 3."""
    taken = Counter(UniformSticky(100).partition(PARTITIONS, choice, (3, 0, 1))[0] for choice in range(8))
    assert taken == {0: 1, 2: 4, 5: 3}
