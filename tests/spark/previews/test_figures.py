"""The figures of a preview: what everybody gets, what moves, who is worst off; however the work is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.analyses import analysis
from model.analyses.previews.changed_group import NOTHING, GroupChange
from model.analyses.previews.group_arrays import Staged, stage
from model.analyses.previews.kernel import PREVIEWS
from model.analyses.previews.lab import Lab
from model.analyses.previews.result import (
    AssignmentFigures,
    GroupPreview,
    Leave,
    PreviewParameters,
    PreviewResult,
    StrategyPreview,
    strategies_for,
)
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC, ZOOKEEPER, GroupImage, Member
from model.consumers.assignors.assignment import AssignedCase
from model.consumers.assignors.group import NOBODY, AssignorError
from spark_tasks import arrow_arrays
from tests.spark.previews.groups import cluster, clusters

patient = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
EVERYTHING = PreviewParameters(each_leaves=True, join=2, detail=True)


def previewed(staged: Staged, parameters: PreviewParameters) -> Sequence[GroupPreview]:
    return analysis.run_here(PREVIEWS, staged.arrays, parameters).groups


def figures_of(outcome: AssignedCase, image: ClusterImage, group: GroupImage) -> AssignmentFigures:
    """Counted partition by partition."""
    assignment, members = outcome.assignment, outcome.named.members
    owned = outcome.named.lists(assignment.target)
    lag = [known for name in members if (known := lag_of(owned[name], image, group)) is not None]
    sizes = [len(owned[name]) for name in members]
    return AssignmentFigures(
        members=len(members),
        idle=sizes.count(0),
        partitions_min=min(sizes, default=0),
        partitions_max=max(sizes, default=0),
        lag_min=min(lag, default=None),
        lag_max=max(lag, default=None),
        moves=assignment.moves,
        moves_lower_bound=assignment.moves_lower_bound(outcome.named.group),
        waits=len(assignment.withheld),
        unowned=assignment.target.tolist().count(NOBODY),
    )


def lag_of(owned: Sequence[tuple[str, int]], image: ClusterImage, group: GroupImage) -> int | None:
    """None where the lag of no partition of the group is known."""
    read = {topic for member in group.members.values() for topic in member.subscription}
    known = {
        each: max(image.log_ends[each] - offset, 0)
        for each, offset in group.offsets.items()
        if each in image.log_ends and each.topic in read
    }
    return sum(known.get(TopicPartition(*each), 0) for each in owned) if known else None


def answers(lab: Lab, strategy: str, changes: Sequence[GroupChange]) -> Iterator[AssignedCase]:
    for change in changes:
        yield lab.outcome(strategy, change)


@patient
@given(clusters(most_groups=2))
def test_figures_are_those_of_the_assignments(image: ClusterImage) -> None:
    staged = stage(image)
    groups = [group for _, group in sorted(image.every_group())]
    for place, preview in enumerate(previewed(staged, EVERYTHING)):
        lab, group = Lab(staged, place), groups[place]
        consumers = len(group.members)
        assert preview.group == place
        assert [each.strategy for each in preview.strategies] == [
            *strategies_for(EVERYTHING, zookeeper=group.kind == ZOOKEEPER)
        ]
        for each in preview.strategies:
            try:
                now, joined, *left = answers(
                    lab, each.strategy, [NOTHING, GroupChange(joins=2), *(GroupChange(c) for c in range(consumers))]
                )
            except AssignorError:
                continue  # one of them is refused: see the test of refusals
            assert each.rebalanced == figures_of(now, image, group)
            assert each.joined is not None
            assert (each.joined.members, each.joined.moves) == (len(joined.named.members), joined.assignment.moves)
            told = [msgspec.structs.replace(leave.figures, lag_min=None, lag_max=None) for leave in each.leaves]
            counted = [figures_of(outcome, image, group) for outcome in left]
            assert told == [msgspec.structs.replace(one, lag_min=None, lag_max=None) for one in counted]
            assert each.worst_leave == max(each.leaves, key=badness, default=None)
            assert Counter(share.partitions for share in each.shares) == Counter(
                len(owned) for owned in now.named.lists(now.assignment.target).values()
            )


def badness(leave: Leave) -> tuple[int, int, int, int]:
    figures = leave.figures
    lag = -1 if figures.lag_max is None else figures.lag_max
    return figures.partitions_max, lag, leave.handed_on, -leave.consumer


@patient
@given(clusters(), st.randoms(use_true_random=False), st.booleans())
def test_how_units_are_grouped_makes_no_difference(image: ClusterImage, random: Random, detail: bool) -> None:
    staged, parameters = stage(image), msgspec.structs.replace(EVERYTHING, detail=detail)
    whole = analysis.run_here(PREVIEWS, staged.arrays, parameters)
    units = [unit.id for unit in PREVIEWS.units(staged.arrays, parameters)]
    assert units == list(range(len(units)))
    random.shuffle(units)
    cuts = sorted(random.choices(range(len(units) + 1), k=3))
    runs = [units[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    batches = [PREVIEWS.kernel(run, staged.arrays, parameters) for run in runs]
    batches = [arrow_arrays.decode(arrow_arrays.encode(batch)) for batch in batches]
    assert PREVIEWS.combine(batches, staged.arrays, parameters) == whole
    assert msgspec.json.decode(msgspec.json.encode(whole), type=PreviewResult) == whole


def simple(name: str, topics: Sequence[str], consumers: int, **more: object) -> GroupImage:
    members = {f"{name}-{number}": Member(dict.fromkeys(topics, 1)) for number in range(consumers)}
    return msgspec.structs.replace(GroupImage(name, members, kind=CLASSIC, state="Stable"), **more)


def test_a_large_group_among_small_ones_is_cut_and_comes_to_the_same() -> None:
    counts = {"big": 40_000, **{f"t{number}": 6 for number in range(200)}}
    small = [simple(f"g{number}", [f"t{number}"], 3) for number in range(200)]
    image = cluster(counts, [simple("big", ["big"], 20), *small])
    staged, parameters = stage(image), PreviewParameters(("range", "sticky"), each_leaves=True)
    units = PREVIEWS.units(staged.arrays, parameters)
    assert len(units) > 200 + 2  # by strategy at least
    total = sum(unit.cost for unit in units)
    assert max(unit.cost for unit in units) < total / 16
    place = [group.key for group in staged.groups].index("big")
    alone = previewed(stage(image, ["big"]), parameters)
    assert msgspec.structs.replace(previewed(staged, parameters)[place], group=0) == alone[0]


def of(preview: GroupPreview, strategy: str) -> StrategyPreview:
    (found,) = [each for each in preview.strategies if each.strategy == strategy]
    return found


def test_an_example_that_can_be_counted_by_hand() -> None:
    owners = {TopicPartition("t", number): f"g-{number // 4}" for number in range(8)}  # g-2 has nothing
    group = simple("g", ["t"], 3, owners=owners, offsets=dict.fromkeys(owners, 10))
    image = cluster({"t": 8}, [group], {each: 10 + each.partition for each in owners})
    (preview,) = previewed(stage(image), PreviewParameters(("range", "sticky"), each_leaves=True, detail=True))
    assert (preview.now.partitions_min, preview.now.partitions_max, preview.now.idle) == (0, 4, 1)
    assert (preview.now.lag_min, preview.now.lag_max) == (0, 4 + 5 + 6 + 7)
    assert [(share.partitions, share.lag) for share in preview.shares] == [(4, 6), (4, 22), (0, 0)]
    ranged, sticky = of(preview, "range").rebalanced, of(preview, "sticky").rebalanced
    assert ranged is not None and sticky is not None
    assert (ranged.moves, ranged.moves_lower_bound, ranged.spread) == (3, 2, 1)  # 3, 3, 2
    assert (sticky.moves, sticky.moves_lower_bound, sticky.spread) == (2, 2, 1)
    worst = of(preview, "range").worst_leave
    assert worst is not None
    assert (worst.consumer, worst.handed_on, worst.figures.partitions_max, worst.figures.lag_max) == (0, 4, 4, 22)
    assert [(leave.consumer, leave.handed_on) for leave in of(preview, "sticky").leaves] == [(0, 4), (1, 4), (2, 0)]


def test_a_strategy_that_refuses_a_group_says_nothing_else_of_it() -> None:
    members = {"a": Member({"t": 1}), "b": Member({"t": 1, "u": 1})}
    image = cluster({"t": 2, "u": 2}, [GroupImage("z", members)])
    (preview,) = previewed(
        stage(image), PreviewParameters(("roundrobin", "range"), each_leaves=True, join=1, detail=True)
    )
    assert of(preview, "zk-roundrobin") == StrategyPreview("zk-roundrobin", None)
    assert of(preview, "zk-range").rebalanced is not None


def test_nobody_in_a_group_or_no_group_at_all() -> None:
    empty = GroupImage("e", offsets={TopicPartition("t", 0): 3}, kind=CLASSIC, state="Empty")
    image = cluster({"t": 4}, [empty], {TopicPartition("t", 0): 5})
    (preview,) = previewed(stage(image), PreviewParameters(("range",), each_leaves=True, join=2))
    (strategy,) = preview.strategies
    assert strategy.rebalanced == AssignmentFigures(0, 0, 0, 0, None, None, 0, 0, 0, 4)
    assert strategy.joined == AssignmentFigures(2, 0, 2, 2, 0, 2, 0, 0, 0, 0)
    assert strategy.worst_leave is None
    assert previewed(stage(cluster({}, [])), PreviewParameters(each_leaves=True)) == ()
