"""Batches: together they are the plan, and no broker gets more in one than it is asked to bear."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.planning.batches import Sent, in_batches
from model.planning.plan import PlanBatch, ReplicaChange
from model.planning.request import Batching

SOME = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def sents(draw: st.DrawFn) -> list[Sent]:
    pairs = draw(st.lists(st.tuples(SOME, SOME, st.integers(0, 100)), max_size=25))
    return [
        Sent(
            ReplicaChange("t", number, old, new, size), draw(st.sampled_from([*old, None])), urgent=draw(st.booleans())
        )
        for number, (old, new, size) in enumerate(pairs)
        if old != new
    ]


def traffic(batch: list[ReplicaChange], sender: dict[int, int | None]) -> tuple[Counter[object], Counter[object]]:
    """Replicas and bytes that each broker receives and sends."""
    replicas, size = Counter[object](), Counter[object]()
    for change in batch:
        counts = [(("to", broker), 1) for broker in change.added]
        for key, copies in [*counts, (("from", sender[change.partition]), len(change.added))]:
            if copies and key != ("from", None):
                replicas[key] += copies
                size[key] += copies * (change.bytes or 0)
    return replicas, size


def slices(changes: tuple[ReplicaChange, ...], batches: tuple[PlanBatch, ...]) -> list[list[ReplicaChange]]:
    return [list(changes[batch.first : batch.end]) for batch in batches]


@given(sents(), st.integers(1, 4), st.none() | st.integers(1, 150))
def test_together_they_are_the_plan_and_each_is_bounded(given: list[Sent], most: int, most_bytes: int | None) -> None:
    changes, batches = in_batches(given, Batching(most, most_bytes))
    assert sorted(change.partition for change in changes) == [sent.change.partition for sent in given]
    assert [(batch.number, batch.first) for batch in batches] == [
        (number + 1, sum(len(part) for part in slices(changes, batches)[:number])) for number in range(len(batches))
    ]
    sender = {sent.change.partition: sent.sender for sent in given}
    for batch, part in zip(batches, slices(changes, batches), strict=True):
        assert part
        replicas, size = traffic(part, sender)
        assert batch.moves == sum(len(change.added) for change in part)
        assert batch.bytes == sum(len(change.added) * (change.bytes or 0) for change in part)
        assert (batch.busiest_replicas, batch.busiest_bytes) == (max([0, *replicas.values()]), max([0, *size.values()]))
        for key, copies in replicas.items():  # a broker is beyond a limit only by one change, which is so by itself
            alone = [own for change in part if (own := traffic([change], sender)[0][key])]
            assert copies <= max(most, *alone)
            assert most_bytes is None or size[key] <= most_bytes or len(alone) == 1


@given(sents(), st.integers(1, 4))
def test_no_broker_holds_or_leads_much_more_than_before_or_after(given: list[Sent], most: int) -> None:
    changes, batches = in_batches(given, Batching(most))
    now, end = Counter[object](), Counter[object]()
    for change in changes:
        now.update([*change.before, ("leads", change.before[0])])
        end.update([*change.after, ("leads", change.after[0])])
    most_of = {key: max(now[key], end[key]) + most for key in now.keys() | end.keys()}
    for part in slices(changes, batches):
        for change in part:
            now.update([*change.added, ("leads", change.after[0])])
        if len(part) > 1:  # one alone went because nothing else could
            for change in part:
                assert all(now[broker] <= most_of[broker] for broker in change.added)
        for change in part:
            now.subtract([*change.removed, ("leads", change.before[0])])
    assert +now == +end


@given(sents(), st.integers(1, 5))
def test_as_many_as_asked_for(given: list[Sent], count: int) -> None:
    changes, batches = in_batches(given, Batching(count=count))
    assert len(batches) <= count
    assert len(changes) == len(given)


def test_what_lies_on_dead_brokers_goes_first_and_it_can_be_repeated() -> None:
    rows = [Sent(ReplicaChange("t", n, (1, 2), (3, 2), 10), 1, urgent=n == 4) for n in range(6)]
    changes, batches = in_batches(rows, Batching(replicas=2))
    assert [change.partition for change in changes] == [4, 0, 1, 2, 3, 5]
    assert [batch.busiest_replicas for batch in batches] == [2, 2, 2]
    assert in_batches(rows[::-1], Batching(replicas=2)) == (changes, batches)


def test_nothing_to_do_is_no_batch() -> None:
    assert in_batches([], Batching()) == ((), ())
    assert in_batches([], Batching(count=3)) == ((), ())


@pytest.mark.parametrize("batching", [Batching(replicas=1), Batching(bytes=5), Batching(count=1)])
def test_a_change_beyond_the_limit_goes_all_the_same(batching: Batching) -> None:
    rows = [Sent(ReplicaChange("t", 0, (1,), (2, 3, 4), 100), 1)]
    _, (batch,) = in_batches(rows, batching)
    assert (batch.moves, batch.busiest_replicas, batch.busiest_bytes) == (3, 3, 300)
