"""Who follows a controller is a race: a drill names all who may win it, and nothing else depends on who does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage, state_in
from model.cluster.ids import TopicPartition
from model.drills.document import document_of, notes_on
from model.drills.drill import LONGEST_MS, run
from model.drills.scenario import Act, Deed, of_acts, of_brokers
from model.drills.sentences import steps_of
from model.drills.setup import ClusterSetup
from model.drills.timeline import DrillTimeline, TimelineBuilder
from model.hosts.virtual.journal import ControllerElected
from model.hosts.virtual.scheduled_events import TimingAssumptions
from tests.model.drills.clusters import cluster, clusters, topic


def won_by(image: ClusterImage, dead: frozenset[int], winner: int) -> DrillTimeline:
    """What becomes of the cluster when these die and this one is the quickest: the others stand still meanwhile."""
    setup = ClusterSetup(image, TimingAssumptions(catch_up_ms=None))
    virtual = setup.reset()
    builder = TimelineBuilder(image, setup.assumptions.start_ms, setup.znodes)
    for broker in sorted(dead):
        virtual.crash(broker)
    others = [broker for broker in virtual.brokers if broker != winner]
    virtual.run_until(setup.assumptions.session_timeout_ms - 1)
    for broker in others:
        virtual.pause(broker)
    while winner not in virtual.controllers:
        assert virtual.step()
    for broker in others:
        virtual.resume(broker)
    assert virtual.run_until_quiet(LONGEST_MS)
    builder.take(virtual.journal)
    return builder.timeline(virtual.now_ms)


def outcome(timeline: DrillTimeline) -> dict[TopicPartition, object]:
    """Every state as it is in the end, but for when it was written."""
    names = [
        TopicPartition(name, number)
        for name, image in timeline.after.topics.items()
        for number in image.partitions.tolist()
    ]
    states = {name: state_in(timeline.after, name) for name in names}
    return {
        name: (state.leader, state.leader_epoch, state.isr, state.controller_epoch, state.version, state.recovering)
        for name, state in states.items()
        if state is not None
    }


@st.composite
def deaths(draw: st.DrawFn) -> tuple[ClusterImage, frozenset[int]]:
    """A cluster, and its controller, maybe with others, but not all."""
    image = draw(clusters())
    controller = image.controller.broker
    assert controller is not None
    others = sorted(set(image.brokers) - {controller})
    spared = draw(st.sampled_from(others))
    return image, frozenset({controller, *draw(st.sets(st.sampled_from(others)))} - {spared})


@given(deaths())
def test_states_are_the_same_whoever_wins(case: tuple[ClusterImage, frozenset[int]]) -> None:
    image, dead = case
    drill = run(image, of_brokers(dead))
    moved = [row for row in drill.timeline.rows if isinstance(row, ControllerElected)][-1]
    assert moved.candidates == drill.timeline.candidates == tuple(sorted(set(image.brokers) - dead))
    for winner in moved.candidates:
        timeline = won_by(image, dead, winner)
        assert timeline.after.controller.broker == winner
        assert outcome(timeline) == outcome(drill.timeline)


def test_all_who_may_win_are_named() -> None:
    drill = run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1)), of_brokers([1]))
    texts = [one.text for one in steps_of(drill.timeline.rows)]
    played = drill.after.controller.broker
    race = f"one of brokers 2, 3 is the controller after broker 1, epoch 8: a race, played as if b{played} had won it"
    assert race in texts
    summary = document_of(drill)["summary"]
    assert (summary["controller"], summary["controller_candidates"]) == ([1, None], (2, 3))
    assert any(
        note.endswith("leaders, ISRs and leader epochs are the same whoever won it.") for note in notes_on(drill)
    )


def test_where_only_one_is_left_it_is_no_race() -> None:
    drill = run(cluster([1, 2], *topic((1, 2), (1, 2), 1)), of_brokers([1]))
    assert document_of(drill)["summary"]["controller"] == [1, 2]
    assert "broker 2 is the controller after broker 1, epoch 8" in [one.text for one in steps_of(drill.timeline.rows)]
    assert not any("race" in note for note in notes_on(drill))


def test_a_controller_that_stays_is_the_only_candidate() -> None:
    summary = document_of(run(cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1)), of_brokers([3])))["summary"]
    assert (summary["controller"], summary["controller_candidates"]) == ([1, 1], (1,))


def test_it_is_told_that_who_dies_later_may_have_won() -> None:
    image = cluster([1, 2, 3, 4], *topic((2, 3, 4), (2, 3, 4), 2))
    drill = run(image, of_acts([Act(Deed.KILL, (1,)), Act(Deed.KILL, (2,))]))
    assert any("Whether broker 2, gone later," in note for note in notes_on(drill))
    assert not any("the same whoever won it" in note for note in notes_on(drill) if "(epoch 8)" in note)
