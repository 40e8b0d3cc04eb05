"""Every scenario of every kind: its counts and leaders are those of the what-if, or of a plain count."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses import AnalysisError, analysis
from model.analyses.analysis import Arrays
from model.analyses.drills import grid
from model.analyses.drills.fates import summed
from model.analyses.drills.results import DrillParameters, DrillResult, Kind, ScenarioCounts
from model.analyses.drills.sweep import DRILLS
from model.analyses.image_arrays import arrays_of, racks_of
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER
from model.cluster.image_parts import Quorum, QuorumReplica
from model.cluster.topic_image import TopicImage, padded, rows_of
from model.drills.drill import run
from model.drills.outcomes import Summary
from model.drills.scenario import Scenario
from tests.model.drills.clusters import cluster, topic
from tests.spark.drills.arrays import random_arrays
from tests.spark.drills.images import images
from tests.spark.running_spark import RunningSpark
from tests.thorough import the_rest_when_asked

ALL = 10_000
KINDS: tuple[Kind, ...] = get_args(Kind)


def asked(kind: Kind, image: ClusterImage, *, unclean: bool = False) -> DrillParameters:
    racks = racks_of(image)
    return DrillParameters(kind=kind, racks=racks, size=2, count=5, listed=ALL, detailed=ALL, unclean=unclean)


def scenarios(kind: Kind, image: ClusterImage) -> Iterator[tuple[int, ...]]:
    """Those that leave somebody alive."""
    live = sorted(image.brokers)
    racks = [{broker.id for broker in image.brokers.values() if broker.rack == rack} for rack in racks_of(image)]
    match kind:
        case "brokers":
            found = [{broker} for broker in live]
        case "pairs":
            found = [set(pair) for pair in combinations(live, 2)]
        case "racks":
            found = racks
        case _:
            found = [{broker} | rack for broker in live for rack in racks if broker not in rack]
    return (tuple(sorted(one)) for one in found if len(one) < len(live))


def counts_of(summary: Summary) -> dict[str, int]:
    after = msgspec.to_builtins(summary.after)
    names = ("unclean", "newly_offline", "newly_under_min_isr", "leaders_moved")
    return {**after, **{name: getattr(summary, name) for name in names}}


@settings(max_examples=20)
@given(images(), st.sampled_from(KINDS), st.booleans())
def test_every_scenario_counts_what_the_what_if_counts(image: ClusterImage, kind: Kind, unclean: bool) -> None:
    compare(image, kind, unclean=unclean)


@settings(max_examples=30)
@given(images(), st.sampled_from(KINDS), st.booleans(), st.sets(st.integers(1, 9), min_size=1, max_size=5), st.data())
def test_the_same_with_the_voters_of_a_kraft_cluster(
    image: ClusterImage, kind: Kind, unclean: bool, voters: set[int], data: st.DataObject
) -> None:
    silent = tuple(sorted(data.draw(st.sets(st.sampled_from(sorted(voters)), max_size=2))))
    leader = data.draw(st.sampled_from([-1, *sorted(voters)]))
    quorum = Quorum(leader, 3, 9, tuple(QuorumReplica(number) for number in sorted(voters)), silent=silent)
    topics = {name: as_kraft_has_it(topic, set(image.brokers)) for name, topic in image.topics.items()}
    compare(msgspec.structs.replace(image, generation="kraft", quorum=quorum, topics=topics), kind, unclean=unclean)


def as_kraft_has_it(topic: TopicImage, live: set[int]) -> TopicImage:
    """Of each partition there is a state, and none but replicas is in the ISR. Who is dead is so only if nobody else
    is; somebody of a live ISR leads; else nobody who lives may."""
    leaders: list[int] = []
    isrs: list[tuple[int, ...]] = []
    elrs: list[tuple[int, ...]] = []
    columns = (topic.leader.tolist(), rows_of(topic.replicas), rows_of(topic.isr), rows_of(topic.elr))
    for leader, replicas, isr, elr in zip(*columns, strict=True):
        placed = tuple(each for each in isr if each in replicas)
        alive = tuple(each for each in placed if each in live)
        isrs.append(alive or placed)
        leaders.append(leader if leader in alive else next(iter(alive), NO_LEADER))
        elrs.append(tuple(each for each in elr if each >= 0 and (alive or each not in live)))
    led = np.array(leaders, np.int32)
    stated = np.maximum(topic.version, 0)
    return dataclasses.replace(topic, leader=led, isr=padded(isrs), elr=padded(elrs), version=stated)


def compare(image: ClusterImage, kind: Kind, *, unclean: bool) -> None:
    try:
        result = analysis.run_here(DRILLS, arrays_of(image), asked(kind, image, unclean=unclean))
    except AnalysisError:
        assert len(image.brokers) < 4  # or they are all in one rack
        return
    if kind != "random":
        killed = [outcome.kill for outcome in result.listed]
        assert sorted(killed) == sorted(scenarios(kind, image))
    assert result.scenarios == len(result.listed)
    for outcome in result.listed:
        drill = run(image, Scenario(kill=outcome.kill, unclean=unclean))
        summary = drill.summary
        assert outcome.quorum_lost == (drill.turnout is not None and drill.turnout.is_lost)
        counts = msgspec.to_builtins(outcome.counts)
        hurt = counts.pop("hurt")
        assert counts == counts_of(summary)
        assert (hurt > 0) == summary.hurts
        led = {broker: after for broker, (_, after) in summary.leaders_by_broker.items() if broker not in outcome.kill}
        assert {broker: led.get(broker, 0) for broker in outcome.leaders_by_broker} == outcome.leaders_by_broker
        assert outcome.most_leaders == outcome.leaders_by_broker[outcome.most_leaders_on] == max(led.values())
        before = msgspec.to_builtins(summary.before)
        assert {name: getattr(result.before, name) for name in before} == before


@pytest.mark.parametrize("seed", the_rest_when_asked(range(3)))
@pytest.mark.parametrize("controller", [True, False])
def test_sums_over_subsets_are_what_a_scenario_at_a_time_counts(seed: int, controller: bool) -> None:
    """Pairs come from a Möbius transform, random sets of two are decided one by one."""
    arrays = random_arrays(seed, partitions=3_000, brokers=12, controller=controller)
    live = int(np.count_nonzero(arrays["live"]))
    pairs = analysis.run_here(DRILLS, arrays, DrillParameters(kind="pairs", listed=ALL, detailed=ALL))
    random = analysis.run_here(
        DRILLS, arrays, DrillParameters(kind="random", size=2, count=2_000, listed=ALL, detailed=ALL)
    )
    assert pairs.scenarios == random.scenarios == comb(live, 2)
    assert pairs.listed == random.listed
    assert (pairs.worst, pairs.before, pairs.leaders_before) == (random.worst, random.before, random.leaders_before)
    assert pairs.hurting > 0


@pytest.mark.parametrize("kind", KINDS)
def test_how_the_work_is_split_does_not_matter(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = random_arrays(5, partitions=3_000, brokers=12, alike=True)
    parameters = DrillParameters(kind=kind, racks=("a", "b", "c"), size=3, count=200)
    whole = analysis.run_here(DRILLS, arrays, parameters)
    monkeypatch.setattr("model.analyses.drills.sweep.ROWS_PER_UNIT", 500)
    monkeypatch.setattr("model.analyses.drills.answer.CELLS_AT_ONCE", 20)
    batches = [DRILLS.kernel([unit.id], arrays, parameters) for unit in DRILLS.units(arrays, parameters)]
    assert len(batches) > 3
    assert DRILLS.combine(batches[::-1], arrays, parameters) == whole
    monkeypatch.setattr(grid, "MOST_APART", 1)
    assert DRILLS.combine(batches, arrays, parameters) == whole


@pytest.mark.parametrize("kind", ["pairs", "random"])
def test_spark_finds_the_same(kind: Kind, spark: RunningSpark) -> None:
    arrays = random_arrays(6, partitions=140_000, brokers=200, alike=True)  # batches go by file
    parameters = DrillParameters(kind=kind, racks=("a", "b", "c"), size=3, count=200)
    assert spark.run(DRILLS, arrays, parameters) == analysis.run_here(DRILLS, arrays, parameters)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 1 << 40)), max_size=30),
    st.sampled_from([0, 41, 1 << 20, 1 << 40, 1 << 60]),
)
def test_keys_are_summed_up_however_wide_they_are(told: list[tuple[int, int]], span: int) -> None:
    spread = max(span // 41, 1)
    keys, counts = (np.array(column, np.int64) for column in (zip(*told, strict=True) if told else ([], [])))
    expected = Counter[int]()
    for key, count in told:
        expected[key * spread] += count
    for some, found in ((counts, expected), (None, Counter(key * spread for key, _ in told))):
        assert [each.tolist() for each in summed(keys * spread, some, span)] == [
            sorted(found),
            [found[key] for key in sorted(found)],
        ]


def test_the_worst_comes_first() -> None:
    result = analysis.run_here(
        DRILLS, random_arrays(7, partitions=3_000, brokers=30), DrillParameters(kind="pairs", listed=50)
    )
    counts = [one.counts for one in result.listed]
    badness = [(one.unclean, one.newly_offline, one.newly_under_min_isr, one.leaders_moved) for one in counts]
    assert len(badness) == 50
    assert badness == sorted(badness, reverse=True)
    assert result.worst["hurt"].counts.hurt >= max(one.hurt for one in counts)
    assert [bool(one.leaders_by_broker) for one in result.listed] == [place < 20 for place in range(50)]


def test_heat_is_by_broker_while_they_are_few_and_by_rack_else() -> None:
    result = heated(racks=("a", "b", "c"), brokers=12)
    assert result.heat is not None
    assert result.heat.by == "broker"
    heat = dict(zip(result.heat.labels, result.heat.hurt, strict=True))
    for outcome in result.listed:
        one, other = map(str, outcome.kill)
        places = {label: place for place, label in enumerate(result.heat.labels)}
        assert heat[one][places[other]] == heat[other][places[one]] == outcome.counts.hurt
    result = heated(racks=("a", "b", "c"), brokers=90)
    assert result.heat is not None
    assert (result.heat.by, result.heat.labels) == ("rack", ("a", "b", "c"))
    assert max(map(max, result.heat.hurt)) == result.worst["hurt"].counts.hurt
    result = heated(racks=(), brokers=90)
    assert result.heat is not None
    assert (result.heat.by, len(result.heat.labels)) == ("broker", 64)
    assert set(map(str, result.listed[0].kill)) <= set(result.heat.labels)
    worst = list(map(str, result.worst["hurt"].kill))
    assert set(worst) <= set(result.heat.labels)
    one, other = (result.heat.labels.index(label) for label in worst)
    assert result.heat.hurt[one][other] == result.heat.hurt[other][one] == result.worst["hurt"].counts.hurt


def heated(racks: tuple[str, ...], brokers: int) -> DrillResult:
    arrays: Arrays = random_arrays(8, partitions=3_000, brokers=brokers)
    return analysis.run_here(DRILLS, arrays, DrillParameters(kind="pairs", racks=racks, listed=ALL))


@pytest.mark.parametrize(
    ("kind", "brokers", "reason"),
    [
        ("brokers", 1, "1 live broker: too few, for somebody has to outlive every scenario"),
        ("pairs", 2, "2 live brokers: too few"),
        ("random", 2, "2 live brokers: too few"),
        ("racks", 2, "fewer than two racks"),
    ],
)
def test_scenarios_that_nobody_outlives_are_refused(kind: Kind, brokers: int, reason: str) -> None:
    records = topic((1, 2), (1, 2), 1)
    image = cluster([1, 4][:brokers], *records)
    with pytest.raises(AnalysisError, match=reason):
        analysis.run_here(DRILLS, arrays_of(image), asked(kind, image))


def test_a_cluster_without_partitions_loses_nothing() -> None:
    result = analysis.run_here(DRILLS, arrays_of(cluster([1, 2, 3])), DrillParameters(kind="pairs"))
    assert (result.scenarios, result.hurting, result.before) == (3, 0, ScenarioCounts(0, 0, 0))
    assert result.fatal.sets == ()
    assert {chance.probability for chance in result.loss} == {0.0}


def test_racks_have_their_names() -> None:
    image = cluster([1, 2, 3, 4, 5], *topic((1, 4), (1, 4), 1))
    result = analysis.run_here(DRILLS, arrays_of(image), asked("racks", image))
    assert {(one.rack, one.kill) for one in result.listed} == {("r0", (3,)), ("r1", (1, 4)), ("r2", (2, 5))}
    assert result.listed[0].rack == "r1"
    assert np.isclose(result.loss[0].expected_partitions, 0)
