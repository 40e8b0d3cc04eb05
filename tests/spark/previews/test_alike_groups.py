"""Groups that are worked out together come to what the assignors decide for each of them alone, owner by owner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses import analysis
from model.analyses.previews import kernel
from model.analyses.previews.alike_groups import DEALS, StagedArrays, are_alike, cases_of, inhabited
from model.analyses.previews.changed_group import NOTHING, STAYS, GroupChange, StagedGroup, changed
from model.analyses.previews.figures import UNKNOWN, decided
from model.analyses.previews.group_arrays import PreviewedGroup, Staged, stage, staged
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.result import GroupNames, PreviewParameters
from model.consumers.assignors.group import NOBODY, Ints
from model.consumers.assignors.java_strings import in_name_order
from model.consumers.assignors.strategies import STRATEGIES, strategy_named
from tests.spark.previews.many_groups import many_groups

TOPICS = in_name_order(["a", "b.c", "topic-11", "ä", "😀", "Zz"])
GONE = ("gone", "zone")


Estate = tuple[Staged, list[GroupChange]]


def _estate(seed: int, groups: int, most_members: int, most_partitions: int) -> Estate:
    """Groups that are alike, some with topics that are gone, and a change of each that leaves somebody there."""
    dice = random.Random(seed)
    counts = {topic: dice.randint(1, most_partitions) for topic in TOPICS}
    reads = [_alike(dice, f"g{number}", dice.randint(1, most_members), counts) for number in range(groups)]
    return staged(reads, counts, {}), [_change(dice, sorted(set(read.consumer_of))) for read in reads]


def _alike(dice: random.Random, key: str, size: int, counts: Mapping[str, int]) -> PreviewedGroup:
    topics = in_name_order([*dice.sample(TOPICS, dice.randint(1, len(TOPICS))), *dice.sample(GONE, dice.randint(0, 2))])
    members = in_name_order({"".join(dice.choices("abAZ09-_ä", k=dice.randint(1, 8))) for _ in range(size)})
    places, partitions = range(len(members)), sum(counts.get(topic, 0) for topic in topics)
    favoured = dice.choices([NOBODY, *places], k=3)  # so that some have too much
    anybody = [NOBODY, *places, *favoured * dice.randint(0, size)]
    return PreviewedGroup(
        names=GroupNames(key, "", "", None, tuple(topics), tuple(members), (*members, "idle"), partitions, None),
        subscriptions=[range(len(topics))],
        subscription_of=[0] * len(members),
        consumer_of=[dice.randint(0, len(members)) for _ in places],
        ring=dice.sample(places, len(places)),
        owner=np.array(dice.choices(anybody, k=partitions), dtype=np.int32),
        lag=np.array(dice.choices([UNKNOWN, *range(dice.randint(0, 50))], k=partitions), dtype=np.int64),
    )


def _change(dice: random.Random, consumers: Sequence[int]) -> GroupChange:
    leaves = GroupChange(dice.choice(consumers) if len(consumers) > 1 else STAYS)
    return dice.choice([NOTHING, leaves, GroupChange(joins=dice.randint(1, 14))])


def test_every_strategy_can_be_worked_out_like_this() -> None:
    assert DEALS.keys() == STRATEGIES.keys()


@settings(deadline=None)
@given(st.builds(_estate, st.integers(0, 1 << 32), st.integers(1, 5), st.integers(1, 20), st.integers(1, 30)))
def test_owners_are_those_of_the_assignors(estate: Estate) -> None:
    everything, changes = estate
    arrays, groups = cast(StagedArrays, everything.arrays), np.arange(len(changes))
    assert are_alike(arrays).all()
    assert all(change.leaves == STAYS or more > 1 for change, more in zip(changes, inhabited(arrays), strict=True))
    cases = cases_of(arrays, groups, changes)
    ends = np.cumsum(cases.partitions)
    alone = [changed(StagedGroup(arrays, number), change) for number, change in enumerate(changes)]
    assert cases.handed_on.tolist() == [one.handed_on for one in alone]

    def of(number: int, owners: Ints) -> list[int]:
        own = owners[ends[number] - cases.partitions[number] : ends[number]]
        return np.where(own == NOBODY, NOBODY, own - cases.member_starts[number]).tolist()

    for name, deal in DEALS.items():
        owners, waits = deal(cases, arrays)
        for number, one in enumerate(alone):
            expected = decided(one, strategy_named(name))
            assert of(number, owners) == expected.target.tolist(), name
            assert (0 if waits is None else waits[number]) == len(expected.withheld), name
            assert of(number, cases.before) == one.before.owner.tolist()


@pytest.mark.parametrize("detail", [False, True])
def test_figures_are_the_same_together_and_one_by_one(detail: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = stage(many_groups(25)).arrays
    parameters = PreviewParameters(each_leaves=True, join=2, detail=detail)
    together = analysis.run_here(PREVIEWS, arrays, parameters)
    monkeypatch.setattr(kernel, "MOST_TOGETHER", 300)  # larger groups alone, and of the others a few at a time
    assert analysis.run_here(PREVIEWS, arrays, parameters) == together
    monkeypatch.setattr(kernel, "DEALS", {})
    assert analysis.run_here(PREVIEWS, arrays, parameters) == together
