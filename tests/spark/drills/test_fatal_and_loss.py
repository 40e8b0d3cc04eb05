"""Fatal sets and the chance of a loss, against every subset of a small cluster, and against the copyset formula."""

from __future__ import annotations

from itertools import combinations
from math import comb, exp, isclose

import numpy as np
import pytest
from hypothesis import given, settings

from model.analyses.analysis import Arrays
from model.analyses.drills.answer import random_subsets
from model.analyses.drills.results import DEFAULT_RATE
from model.analyses.drills.sweep import LossChance, chances_of, copysets, fatal_sets
from model.analyses.image_arrays import arrays_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.records import PartitionState, PartitionStatesWritten, TopicAssigned
from tests.model.drills.clusters import EPOCH, cluster
from tests.spark.drills.arrays import random_arrays
from tests.spark.drills.images import images


def loss_chances(arrays: Arrays, rate: float = DEFAULT_RATE) -> tuple[LossChance, ...]:
    """Of the partitions in `arrays`, as they are or as a plan would have them."""
    return chances_of(arrays, *copysets(arrays), rate)


def held(arrays: Arrays) -> list[frozenset[int]]:
    """By led partition, the ids of live brokers that have it in sync, or are in its ELR."""
    found: list[frozenset[int]] = []
    ids, live = arrays["brokers"].tolist(), arrays["live"].tolist()
    safe = [isr | elr for isr, elr in zip(arrays["isr"].tolist(), arrays["elr"].tolist(), strict=True)]
    for replicas, isr, leader in zip(arrays["replicas"].tolist(), safe, arrays["leader"].tolist(), strict=True):
        if leader >= 0 and live[leader]:
            some = [broker for place, broker in enumerate(replicas) if isr >> place & 1 and broker >= 0]
            found.append(frozenset(ids[broker] for broker in some if live[broker]))
    return [one for one in found if one]


@settings(max_examples=50)
@given(images())
def test_fatal_sets_are_the_smallest_that_take_all_of_a_partition(image: ClusterImage) -> None:
    arrays = arrays_of(image)
    partitions = held(arrays)
    expected = {
        frozenset(some): sum(one <= set(some) for one in partitions)
        for size in range(1, len(image.brokers) + 1)
        for some in combinations(sorted(image.brokers), size)
        if any(one <= set(some) for one in partitions)
    }
    minimal = {one: count for one, count in expected.items() if not any(other < one for other in expected)}
    found = fatal_sets(arrays, *copysets(arrays), listed=100)
    assert {frozenset(one.kill): one.partitions for one in found.sets} == minimal
    assert found.counts == {size: sum(len(one) == size for one in minimal) for size in {len(one) for one in minimal}}
    assert [len(one.kill) for one in found.sets] == sorted(len(one.kill) for one in found.sets)


def test_an_eligible_leader_replica_has_what_was_acknowledged() -> None:
    state = PartitionState(0, 1, 3, (1,), EPOCH, 4, elr=(2,))
    records = TopicAssigned(topic="t", replicas={0: (1, 2, 3)}), PartitionStatesWritten(topic="t", states=(state,))
    arrays = arrays_of(cluster([1, 2, 3], *records))
    assert [one.kill for one in fatal_sets(arrays, *copysets(arrays), listed=9).sets] == [(1, 2)]


@settings(max_examples=50)
@given(images())
def test_chances_are_those_of_every_subset(image: ClusterImage) -> None:
    arrays, live = arrays_of(image), sorted(image.brokers)
    partitions = held(arrays)
    for chance in loss_chances(arrays, 0.2):
        weights = {
            some: (len(some) == chance.failed) / comb(len(live), chance.failed)
            if chance.failed is not None
            else 0.2 ** len(some) * 0.8 ** (len(live) - len(some))
            for size in range(len(live) + 1)
            for some in combinations(live, size)
        }
        assert chance.exact
        lost = {some: sum(one <= set(some) for one in partitions) for some in weights}
        assert isclose(chance.probability, sum(weights[some] for some in weights if lost[some]), abs_tol=1e-12)
        expected = sum(weights[some] * lost[some] for some in weights)
        assert isclose(chance.expected_partitions, expected, abs_tol=1e-9)


def test_many_brokers_take_the_formula_of_copysets() -> None:
    """Cidon et al.: with S copysets of R, m of N failing hit S C(m, R) / C(N, R) of them on average."""
    arrays = random_arrays(1, partitions=20_000, brokers=200, alike=True)
    arrays = {**arrays, "isr": np.full(20_000, 7, np.int64), "live": np.ones(200, np.bool_)}
    arrays["leader"] = arrays["replicas"][:, 0]
    sets = len({frozenset(row[:3]) for row in arrays["replicas"].tolist()})
    (chance,) = [one for one in loss_chances(arrays, 0.05) if one.failed == 10]
    assert not chance.exact
    assert isclose(chance.expected_sets, sets * comb(10, 3) / comb(200, 3))
    assert isclose(chance.expected_partitions, 20_000 * comb(10, 3) / comb(200, 3))
    assert isclose(chance.probability, 1 - exp(-chance.expected_sets))


def test_a_plan_that_uses_fewer_copysets_loses_less_often() -> None:
    arrays = random_arrays(2, partitions=2_000, brokers=60, alike=True)
    arrays = {**arrays, "isr": np.full(2_000, 7, np.int64), "live": np.ones(60, np.bool_)}
    first = np.arange(2_000) % 20 * 3
    grouped = {**arrays, "replicas": np.stack([first, first + 1, first + 2], 1).astype(np.int32)}
    grouped["leader"] = grouped["replicas"][:, 0]
    now, then = loss_chances({**arrays, "leader": arrays["replicas"][:, 0]}), loss_chances(grouped)
    for before, after in zip(now, then, strict=True):
        assert after.probability <= before.probability
        assert isclose(after.expected_partitions, before.expected_partitions)


def test_wide_sets_are_told_apart_too() -> None:
    arrays = random_arrays(3, partitions=50, brokers=2_000)
    rows = np.argsort(np.random.default_rng(3).random((50, 2_000)), axis=1)[:, :9].astype(np.int32)
    isr = np.where(np.arange(50) % 5 == 0, 0b11, 0b111111111)
    rows[1, :2] = rows[0, :2]  # contains the first, which is smaller
    arrays = {**arrays, "replicas": rows, "isr": isr, "leader": rows[:, 0], "live": np.ones(2_000, np.bool_)}
    assert fatal_sets(arrays, *copysets(arrays), listed=0).counts == {2: 10, 9: 39}


@pytest.mark.parametrize(("live", "size", "count"), [(6, 3, 15), (6, 3, 99), (500, 4, 1_000), (30, 29, 25)])
def test_random_sets_are_different_and_as_many_as_there_are(live: int, size: int, count: int) -> None:
    found = random_subsets(live, size, count, 1)
    assert len({tuple(row) for row in found.tolist()}) == len(found) == min(count, comb(live, size))
    assert (np.diff(found, axis=1) > 0).all()
    assert found.min() >= 0
    assert found.max() < live
    assert found.tolist() == random_subsets(live, size, count, 1).tolist()


def test_random_sets_are_equally_likely() -> None:
    drawn = [tuple(random_subsets(5, 2, 1, seed)[0].tolist()) for seed in range(2_000)]
    counts = [drawn.count(pair) for pair in combinations(range(5), 2)]
    assert min(counts) > 140
    assert max(counts) < 260
