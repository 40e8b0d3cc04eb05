"""All groups together: totals are sums of the groups' own figures, and the worst case comes first."""

from __future__ import annotations

import pytest

from model.analyses.analysis import run_here
from model.analyses.previews.group_arrays import stage
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.result import (
    GroupNames,
    GroupPreview,
    PreviewParameters,
    estate_cases,
    estate_now,
    estate_totals,
)
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, GroupImage, Member
from tests.spark.previews.groups import cluster
from tests.spark.previews.many_groups import many_groups

Groups = tuple[GroupPreview, ...]


@pytest.fixture(scope="module")
def many() -> Groups:
    """Thirty groups under all strategies, with each consumer dying in turn, and with one more."""
    arrays = stage(many_groups(30), None).arrays
    return run_here(PREVIEWS, arrays, PreviewParameters(each_leaves=True, join=1)).groups


def test_a_total_is_the_sum_of_the_groups(many: Groups) -> None:
    totals = {one.strategy: one for one in estate_totals(many)}
    of_sticky = [each for one in many for each in one.strategies if each.strategy == "sticky" and each.rebalanced]
    sticky = totals["sticky"].by_change
    figures = [each.rebalanced for each in of_sticky if each.rebalanced]
    assert sticky["rebalanced"].groups == len(figures)
    assert sticky["rebalanced"].moves == sum(each.moves for each in figures)
    assert sticky["rebalanced"].idle == sum(each.idle for each in figures)
    assert sticky["rebalanced"].lag_max == max(each.lag_max or 0 for each in figures)
    left = [each.worst_leave for each in of_sticky if each.worst_leave]
    assert sticky["leaves"].moves == sum(each.figures.moves + each.handed_on for each in left)
    assert totals["range"].by_change["rebalanced"].moves > sticky["rebalanced"].moves
    assert estate_now(many).groups == len(many) == 30
    assert estate_now(many).moves == 0


def test_a_strategy_that_refuses_groups_says_how_many(many: Groups) -> None:
    refused = sum(
        each.rebalanced is None for one in many for each in one.strategies if each.strategy == "zk-roundrobin"
    )
    assert {one.strategy: one.refused for one in estate_totals(many)}["zk-roundrobin"] == refused


def test_every_case_is_there_once_and_the_worst_comes_first(many: Groups) -> None:
    cases = estate_cases(many)
    told = [(case.group, strategy, case.change) for case in cases for strategy in case.strategies]
    assert len(told) == len(set(told))
    expected = sum(
        sum(each is not None for each in (one.rebalanced, one.worst_leave, one.joined))
        for group in many
        for one in group.strategies
    )
    assert len(told) == expected
    assert [case.badness for case in cases] == sorted((case.badness for case in cases), reverse=True)


@pytest.fixture
def pair() -> tuple[Groups, tuple[GroupNames, ...]]:
    """`alone` has one consumer, `uneven` two, of which one has everything."""
    owned = {TopicPartition("a", number): "only" for number in range(2)}
    most = {TopicPartition("b", number): "x" for number in range(4)}
    groups = [
        GroupImage("alone", {"only": Member({"a": 1})}, owned, {}, CLASSIC, "Stable", "consumer", "range", 1),
        GroupImage(
            "uneven", {name: Member({"b": 1}) for name in "xy"}, most, {}, CLASSIC, "Stable", "consumer", "range", 1
        ),
    ]
    staged = stage(cluster({"a": 2, "b": 4}, groups, {}), None)
    return run_here(PREVIEWS, staged.arrays, PreviewParameters(each_leaves=True, join=1)).groups, staged.groups


def test_a_group_of_one_loses_everything_whatever_its_strategy(
    pair: tuple[Groups, tuple[GroupNames, ...]],
) -> None:
    groups, names = pair
    worst = estate_cases(groups)[0]
    assert (names[worst.group].key, worst.change, worst.orphaned) == ("alone", "leaves", 2)
    assert len(worst.strategies) == len(groups[worst.group].strategies)
