"""Whatever the cluster, whoever dies: the rules of election hold, nothing is lost count of, it can be repeated."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage, state_in
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import unpadded
from model.drills.drill import DEFAULT, PlayedDrill, play_on, run
from model.drills.outcomes import affected, unaffected
from model.drills.rows import StateWritten
from model.drills.scenario import Scenario
from model.drills.setup import ClusterSetup
from tests.model.drills.clusters import clusters

Case = tuple[ClusterImage, Scenario]
TURNS = (5, 1, 2, 3, 4)
"""The brokers in the order of a map of Scala 2.13; none of them share a place, so it is that of any part of them."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A cluster, and some of its brokers but not all."""
    image = draw(clusters())
    live = sorted(image.brokers)
    kill = draw(st.sets(st.sampled_from(live), min_size=1, max_size=len(live) - 1))
    return image, Scenario(kill=tuple(sorted(kill)), unclean=draw(st.booleans()))


def partitions(image: ClusterImage) -> list[tuple[TopicPartition, tuple[int, ...], r.PartitionState]]:
    found: list[tuple[TopicPartition, tuple[int, ...], r.PartitionState]] = []
    for topic in image.topics.values():
        for row, number in enumerate(topic.partitions.tolist()):
            name = TopicPartition(topic.name, number)
            state = state_in(image, name)
            assert state is not None
            found.append((name, unpadded(topic.replicas[row]), state))
    return found


def expected(
    case: Case, name: TopicPartition, replicas: tuple[int, ...], before: r.PartitionState
) -> tuple[int, set[int]]:
    """Leader and ISR by the rules of election, without any of the controller's code."""
    image, scenario = case
    up = set(image.brokers) - set(scenario.kill)
    left = [member for member in before.isr if member in up]
    if before.leader in up:
        return before.leader, set(left)
    if left:
        return next(replica for replica in replicas if replica in left), set(left)
    allowed = image.topic_config(name.topic).get("unclean.leader.election.enable") == "true" or scenario.unclean
    online = [replica for replica in replicas if replica in up]
    if allowed and online:
        return online[0], {online[0]}
    return -1, {max(before.isr, key=TURNS.index)}  # broker by broker leaves the ISR, and the last one stays


@given(cases())
def test_leaders_and_isrs_are_those_of_the_rules(case: Case) -> None:
    drill = run(*case)
    assert drill.at_rest
    for name, replicas, before in partitions(case[0]):
        after = state_in(drill.after, name)
        assert after is not None
        assert (after.leader, set(after.isr)) == expected(case, name, replicas, before)
        changed = (after.leader, after.isr) != (before.leader, before.isr)
        assert after.leader_epoch > before.leader_epoch if changed else after.leader_epoch >= before.leader_epoch


@given(cases())
def test_every_version_of_every_state_is_in_the_timeline(case: Case) -> None:
    drill = run(*case)
    known = {name: state for name, _, state in partitions(case[0])}
    for row in drill.timeline.rows:
        if isinstance(row, StateWritten):
            assert row.before == known[row.partition]
            assert row.after.version == known[row.partition].version + 1
            assert row.after.leader_epoch == known[row.partition].leader_epoch + 1
            known[row.partition] = row.after
    assert known == {name: state for name, _, state in partitions(drill.after)}


@given(cases())
def test_nothing_is_lost_count_of(case: Case) -> None:
    drill = run(*case)
    everything = [*affected(drill.timeline), *unaffected(drill.timeline)]
    assert sorted(one.partition for one in everything) == sorted(name for name, _, _ in partitions(case[0]))
    assert set(drill.after.brokers) == set(case[0].brokers) - set(case[1].kill)
    led = [one for one in everything if one.leader[1] >= 0]
    assert sum(after for _, after in drill.summary.leaders_by_broker.values()) == len(led)
    assert drill.summary.after.offline == len(everything) - len(led)
    for broker in case[1].kill:
        assert drill.summary.leaders_by_broker[broker][1] == 0


@given(cases())
def test_a_partition_is_without_a_leader_from_a_death_on_until_it_is_led_again(case: Case) -> None:
    drill = run(*case)
    outages = {one.partition: one for one in drill.timeline.outages}
    for name, _, before in partitions(case[0]):
        after = state_in(drill.after, name)
        assert after is not None
        assert (name in outages) == (before.leader in case[1].kill)
        if name in outages:
            assert outages[name].leader == after.leader
            assert (outages[name].to_ms is None) == (after.leader < 0)
    assert sum(one.from_ms == 0 for one in outages.values()) == len(outages)


@given(cases())
def test_any_moment_can_be_looked_at(case: Case) -> None:
    drill = run(*case)
    start = drill.timeline.image_at(0)
    assert start.topics == case[0].topics
    assert start.brokers == case[0].brokers
    for at_ms in {row.at_ms for row in drill.timeline.rows}:
        image = drill.timeline.image_at(at_ms)
        known = {name: state for name, _, state in partitions(case[0])}
        known.update((row.partition, row.after) for row in drill.timeline.until(at_ms) if isinstance(row, StateWritten))
        assert {name: state for name, _, state in partitions(image)} == known


@given(cases(), st.data())
def test_the_same_drill_gives_the_same_answer_also_on_a_stage_that_was_used_before(
    case: Case, data: st.DataObject
) -> None:
    image, scenario = case
    other = data.draw(st.sampled_from(sorted(image.brokers)), label="another drill in between")
    stage = ClusterSetup(image, DEFAULT, unclean=scenario.unclean)
    first = played(stage, scenario)
    if len(image.brokers) > 1:
        played(stage, msgspec.structs.replace(scenario, kill=(other,)))
    for again in (played(stage, scenario), run(image, scenario)):
        assert list(again.timeline.rows) == list(first.timeline.rows)
        assert list(again.timeline.outages) == list(first.timeline.outages)
        assert again.summary == first.summary


def played(stage: ClusterSetup, scenario: Scenario) -> PlayedDrill:
    steps = play_on(stage, scenario)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
