"""A drill as moments: signs, counts and states, as the timeline of the drill has them."""

from __future__ import annotations

import pytest

from model.cluster.findings.health import health
from model.cluster.findings.surroundings import surroundings
from model.cluster.image_records import state_in
from model.drills.drill import run
from model.drills.scenario import Act, Deed, Scenario, of_acts
from tests.tui.data.small_cluster import small_image
from tui.data.drills.film import Film, film_of


@pytest.fixture(scope="module", params=[(4,), (2, 3), (1,)], ids=str)
def film(request: pytest.FixtureRequest) -> Film:
    return film_of(run(small_image(), Scenario(kill=request.param, restart_after_ms=60_000)))


def test_the_scenes_are_the_whole_timeline_in_order(film: Film) -> None:
    assert [scene.first for scene in film.scenes] == [0, *(scene.end for scene in film.scenes[:-1])]
    assert film.scenes[-1].end == len(film.drill.timeline.rows)
    assert [scene.at_ms for scene in film.scenes] == sorted(scene.at_ms for scene in film.scenes)


def test_deaths_sessions_and_returns_are_marked(film: Film) -> None:
    signs = "".join(scene.sign for scene in film.scenes)
    assert signs[0] == "K" and "x" in signs and "U" in signs
    assert ("*" in signs) == (4 in film.drill.scenario.kill)


def test_every_state_at_every_moment_is_that_of_the_image_then(film: Film) -> None:
    for moment, scene in enumerate(film.scenes):
        image = film.drill.timeline.image_at(scene.until_ms)
        if moment + 1 < len(film.scenes) and film.scenes[moment + 1].at_ms == scene.until_ms:
            continue  # the image is one of a time, and these two scenes share it
        for one in film.partitions:
            assert film.state(one.partition, moment) == state_in(image, one.partition)


def test_the_counts_at_the_end_are_those_of_a_fresh_count(film: Film) -> None:
    after = film.drill.after
    well = health(after, after.topics, surroundings(after))
    counts = film.counts[-1]
    assert counts.under_replicated == int(well.under_replicated.sum())
    assert counts.unclean == film.drill.summary.unclean
    assert counts.longest_ms >= max(0, *(one.longest_ms for one in film.counts))
    led = {broker: then for broker, (_, then) in film.drill.summary.leaders_by_broker.items()}
    assert {broker: led[broker] for broker in film.registered(len(film.scenes) - 1)} == {
        broker: int(film.leaders[-1, film.brokers.index(broker)]) for broker in film.registered(len(film.scenes) - 1)
    }


def test_who_is_dead_and_who_is_known_to_be(film: Film) -> None:
    killed = frozenset(film.drill.scenario.kill)
    assert film.dead(0) == killed
    assert killed <= film.registered(0)
    known = next(number for number, scene in enumerate(film.scenes) if scene.sign == "x")
    assert not killed & film.registered(known)
    assert not film.dead(len(film.scenes) - 1)


def test_whoever_may_control_is_named_and_the_dead_who_start_are_there() -> None:
    scenario = of_acts([Act(Deed.STOP, (4,)), Act(Deed.KILL, (1, 2, 3)), Act(Deed.START, (5,))])
    film = film_of(run(small_image(), scenario))
    signs = "".join(scene.sign for scene in film.scenes)
    assert [sign for sign in signs if sign in "DKU"] == ["D", "K", "U"]
    assert film.controllers(0) == {4}
    raced = signs.index("*")
    assert film.controllers(raced) == {1, 2, 3, 6}
    assert not film.controllers(signs.index("x"))
    last = len(film.scenes) - 1
    assert film.dead(last) == {1, 2, 3, 4} and film.started(last) == {5} and film.registered(last) == {5, 6}
