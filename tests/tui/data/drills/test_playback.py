"""A drill as moments: signs, counts and states, as the timeline of the drill has them."""

from __future__ import annotations

import pytest

from model.cluster.cluster_image import state_in
from model.cluster.findings.health import health, surroundings
from model.drills.drill import run
from model.drills.scenario import Act, Deed, Scenario, of_acts
from tests.tui.data.small_cluster import small_image
from tui.engine.drill.playback import Playback, playback_of


@pytest.fixture(scope="module", params=[(4,), (2, 3), (1,)], ids=str)
def playback(request: pytest.FixtureRequest) -> Playback:
    return playback_of(run(small_image(), Scenario(kill=request.param, restart_after_ms=60_000)))


def test_the_scenes_are_the_whole_timeline_in_order(playback: Playback) -> None:
    assert [step.first for step in playback.steps] == [0, *(step.end for step in playback.steps[:-1])]
    assert playback.steps[-1].end == len(playback.drill.timeline.rows)
    assert [step.at_ms for step in playback.steps] == sorted(step.at_ms for step in playback.steps)


def test_deaths_sessions_and_returns_are_marked(playback: Playback) -> None:
    signs = "".join(step.sign for step in playback.steps)
    assert signs[0] == "K" and "x" in signs and "U" in signs
    assert ("*" in signs) == (4 in playback.drill.scenario.kill)


def test_every_state_at_every_moment_is_that_of_the_image_then(playback: Playback) -> None:
    for moment, step in enumerate(playback.steps):
        image = playback.drill.timeline.image_at(step.until_ms)
        if moment + 1 < len(playback.steps) and playback.steps[moment + 1].at_ms == step.until_ms:
            continue  # the image is one of a time, and these two steps share it
        for one in playback.partitions:
            assert playback.state(one.partition, moment) == state_in(image, one.partition)


def test_the_counts_at_the_end_are_those_of_a_fresh_count(playback: Playback) -> None:
    after = playback.drill.after
    well = health(after, after.topics, surroundings(after))
    counts = playback.counts[-1]
    assert counts.under_replicated == int(well.under_replicated.sum())
    assert counts.unclean == playback.drill.summary.unclean
    assert counts.longest_ms >= max(0, *(one.longest_ms for one in playback.counts))
    led = {broker: then for broker, (_, then) in playback.drill.summary.leaders_by_broker.items()}
    assert {broker: led[broker] for broker in playback.registered(len(playback.steps) - 1)} == {
        broker: int(playback.leaders[-1, playback.brokers.index(broker)])
        for broker in playback.registered(len(playback.steps) - 1)
    }


def test_who_is_dead_and_who_is_known_to_be(playback: Playback) -> None:
    killed = frozenset(playback.drill.scenario.kill)
    assert playback.dead(0) == killed
    assert killed <= playback.registered(0)
    known = next(number for number, step in enumerate(playback.steps) if step.sign == "x")
    assert not killed & playback.registered(known)
    assert not playback.dead(len(playback.steps) - 1)


def test_whoever_may_control_is_named_and_the_dead_who_start_are_there() -> None:
    scenario = of_acts([Act(Deed.STOP, (4,)), Act(Deed.KILL, (1, 2, 3)), Act(Deed.START, (5,))])
    playback = playback_of(run(small_image(), scenario))
    signs = "".join(step.sign for step in playback.steps)
    assert [sign for sign in signs if sign in "DKU"] == ["D", "K", "U"]
    assert playback.controllers(0) == {4}
    raced = signs.index("*")
    assert playback.controllers(raced) == {1, 2, 3, 6}
    assert not playback.controllers(signs.index("x"))
    last = len(playback.steps) - 1
    assert playback.dead(last) == {1, 2, 3, 4} and playback.started(last) == {5} and playback.registered(last) == {5, 6}
